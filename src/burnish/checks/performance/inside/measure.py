"""Runs in a cell: measures functions of a project at growing sizes, and prints everything that was learned, once.

The first process starts another for each module, listens to it and ends it in time. Code of the project never runs in
it, and what it is told (`order.json`) is gone before the second one starts: the number that makes its one line of
output believable cannot be found by the code that is measured.

A process for one module imports it, and measures each function in a copy of itself. It is told what to do on its
standard input and answers on what was its standard output; what the code prints goes nowhere. Of each function: lines
run, seconds, bytes, at one size after the other. The rule: what is known is said at once, so that a process that is
ended half way has said all it knew.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import functools
import gc
import importlib
import json
import marshal
import os
import secrets
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    Say = Callable[..., None]
    Step = Callable[[], None]

PACKAGE = "burnish_measuring_in_cell"
"""What this folder is called in a cell, beside a project that may be Burnish itself."""
SHORT_SECONDS = 0.001
MOST_LINES = 60_000
MOST_SECONDS = 0.02
"""A size whose call runs longer, or more lines, is the last one."""
LONGEST_SECONDS = 0.08
"""A call that runs longer is not repeated, and its lines are not counted: that takes many times as long."""
PATIENCE_SECONDS = 0.8
"""A call that takes longer is ended."""
BATCH_SECONDS = 0.0006
PASSES = 7
TELLING = 9
SORTS = ("sort", "heap")

# Bound before code of the project runs, which may put others in their place.
_clock, _cpu, _alarm, _pid = time.perf_counter, time.process_time, signal.setitimer, os.getpid
_write, _leave, _dumps = os.write, os._exit, json.dumps


def main() -> None:
    """Do what `order.json` asks for."""
    place = Path("order.json")
    order = json.loads(place.read_text())
    place.unlink()
    until = time.monotonic() + order["seconds"]
    said: list[dict[str, Any]] = []
    for module in order["modules"]:
        left = until - time.monotonic()
        if left >= 0.3:
            said += run_worker({**module, "seconds": left, "each_seconds": order["each_seconds"]})
    print("\n" + order["nonce"] + json.dumps({"said": said}), flush=True)


def run_worker(module: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything that one worker says, until it ends or its time is over."""
    word = secrets.token_hex(8)
    command = [sys.executable, "-m", f"{PACKAGE}.measure", "one module"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True
    ) as worker:
        try:
            heard, _ = worker.communicate(json.dumps({**module, "word": word}).encode(), module["seconds"] + 0.5)
        except subprocess.TimeoutExpired as late:
            heard = late.stdout or b""
        with contextlib.suppress(OSError):
            os.killpg(worker.pid, signal.SIGKILL)
    # The lines that carry the worker's word, and speak of what this worker was asked for.
    known = {-1, *(function["id"] for function in module["functions"])}
    lines = []
    for line in heard.split(b"\n"):
        with contextlib.suppress(ValueError):
            said = json.loads(line)
            if isinstance(said, dict) and said.pop("word", None) == word and said.get("function", -1) in known:
                lines.append(said)
    return lines


def measure_module() -> None:
    """Measure the functions of one module that were ordered."""
    order = json.loads(sys.stdin.read())
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    # Python finds the project's files and nothing of ours.
    sys.path[:] = [order["folder"], *(path for path in sys.path if Path(path).resolve() != Path.cwd())]
    sys.argv[:] = [""]

    def say(**what: Any) -> None:
        """One line, written at once, with the word by which we are known."""
        _write(answers, (_dumps({"word": order["word"], **what}) + "\n").encode())

    until = time.monotonic() + order["seconds"]
    try:
        module = importlib.import_module(order["module"])
    except BaseException as error:
        say(unimportable=order["module"], error=type(error).__name__)
        return
    for function in order["functions"]:
        left = until - time.monotonic()
        found = getattr(module, function["name"], None)
        if left >= 0.1 and callable(found):
            say_of_it = functools.partial(say, function=function["id"])
            measure_apart(found, function["calls"], min(left, order["each_seconds"]), say_of_it)


def measure_apart(found: Any, calls: list[dict[str, Any]], seconds: float, say: Say) -> None:
    """Measure one function in a copy of this process, which is ended when its time is over."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        try:
            explore_ways(found, calls, seconds, say)
        finally:
            _leave(0)

    def end(number: int, frame: Any) -> None:
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
            say(killed=time.monotonic())

    signal.signal(signal.SIGALRM, end)
    _alarm(signal.ITIMER_REAL, seconds * 1.3 + 0.3)
    os.waitpid(child, 0)
    _alarm(signal.ITIMER_REAL, 0)
    with contextlib.suppress(OSError):  # copies of itself that it left behind
        os.killpg(child, signal.SIGKILL)


def explore_ways(found: Any, calls: list[dict[str, Any]], seconds: float, say: Say) -> None:
    """Grow each call of the function in each way that may work."""
    orders = [dict(call, given=ast.literal_eval(call["given"])) for call in calls]
    tasks = [(order, *way) for order in orders for way in choose_ways(order["given"])]
    until = time.monotonic() + seconds
    for done, (order, grow, kinds) in enumerate(tasks):
        share = (until - time.monotonic()) / (len(tasks) - done)
        if done and share < 0.02:
            break
        for kind in kinds:
            follow = inputs.followers(order["given"], grow) if kind != "repeat" else []
            say_of_way = functools.partial(say, way=f"{done} {kind}", grow=grow, follow=follow, line=order["line"])
            ended, error = measure(GrownCall(found, order, grow, kind), share, say_of_way)
            say_of_way(ended=ended, error=error)
            if ended != "raised":
                break


def choose_ways(given: dict[str, Any]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Which arguments to grow, and how: all together, and each alone; numbers only where nothing has a size."""
    names = [name for name, value in given.items() if inputs.has_size(value)]
    names = names or [name for name, value in given.items() if inputs.has_value(value)]
    if len(names) > 1:
        yield names, inputs.KINDS
    for name in names[:3]:
        yield [name], inputs.KINDS
        if inputs.can_miss(given, name):
            yield [name], [inputs.NEVER]


class Late(BaseException):
    """The call took too long."""


class SizeTried(NamedTuple):
    """One size: its arguments, how long the first call took, and whether it changed them."""

    n: int
    arguments: dict[str, Any]
    seconds: float
    changes: bool


class GrownCall(NamedTuple):
    """One call that a test makes, with some of its arguments grown in one way."""

    function: Any
    order: dict[str, Any]
    grow: Sequence[str]
    kind: str

    def prepare(self, arguments: dict[str, Any]) -> Step:
        """The call as one step without arguments. A generator it gives is run to its end."""
        function, home = self.function, _pid()
        places = [arguments[str(place)] for place in range(self.order["places"])]
        named = {name: value for name, value in arguments.items() if not name.isdigit()}

        def step() -> None:
            try:
                answer = function(*places, **named)
                if hasattr(answer, "__next__"):
                    collections.deque(answer, maxlen=0)
            finally:
                if _pid() != home:  # a copy of this process that the function made must not go on measuring
                    _leave(0)

        if hasattr(function, "cache_clear"):
            function.cache_clear()
        return step

    def prepare_tried(self, tried: SizeTried) -> Step:
        """The call at a size that was tried before, with a copy of the arguments where it changes them."""
        return self.prepare(copy_plainly(tried.arguments) if tried.changes else tried.arguments)


def measure(call: GrownCall, seconds: float, say: Say) -> tuple[str, str]:
    """All about one way of growing; the answer is why it ended early, or nothing, and the error that was raised."""
    start = _clock()
    found: list[SizeTried] = []
    ended = raised = ""
    try:
        explore_sizes(call, found, start + seconds * 0.6, say)
    except (RecursionError, MemoryError) as error:
        ended = "RecursionError" if isinstance(error, RecursionError) else "MemoryError"
    except Late:
        ended = "late"
    except Exception as error:
        ended, raised = "raised", type(error).__name__
    # The larger sizes say how the cost grows; one that is too slow is not repeated.
    telling = [tried for tried in found if tried.seconds <= LONGEST_SECONDS][-TELLING:]
    with contextlib.suppress(Exception):
        measure_time(call, telling, start + seconds * 0.9, say)
        measure_memory(call, telling, start + seconds, say)
    return ended, raised


def explore_sizes(call: GrownCall, found: list[SizeTried], until: float, say: Say) -> None:
    """Grow until it gets slow, and say how many lines each size runs."""
    for size in inputs.SIZES:
        arguments = inputs.arguments(call.order["given"], call.grow, size, call.kind)
        n = max(inputs.size(arguments[name]) for name in call.grow)
        if any(n == tried.n for tried in found):
            continue
        say(trying=n, at=time.monotonic())  # said first: the call may never come back
        fresh = copy_plainly(arguments)
        seconds = time_step(PATIENCE_SECONDS, call.prepare(fresh))
        before = found[-1].seconds if found else seconds
        if SHORT_SECONDS < seconds > 3 * before:  # a burst of load, or is it the code?
            seconds = min(seconds, time_step(PATIENCE_SECONDS, call.prepare(copy_plainly(arguments))))
        say(n=n, seconds=seconds)
        found.append(SizeTried(n, arguments, seconds, fresh != arguments))
        if seconds > LONGEST_SECONDS:
            break
        lines, sorts = count_lines(call.prepare(copy_plainly(arguments)))
        say(n=n, lines=lines, sorts=sorts)
        # Growing on as it did from the last size to this, and more, would the next call take longer than it may?
        factor = max(1.0, seconds / max(before, 1e-9))
        is_too_steep = len(found) > 4 and seconds >= SHORT_SECONDS and seconds * factor**2 > PATIENCE_SECONDS
        if seconds > MOST_SECONDS or lines > MOST_LINES or is_too_steep or _clock() > until:
            break


def copy_plainly(arguments: dict[str, Any]) -> dict[str, Any]:
    """A fresh copy of plain data."""
    copy: dict[str, Any] = marshal.loads(marshal.dumps(arguments))
    return copy


def time_step(seconds: float, step: Step) -> float:
    """How long one step took. Raises Late when it took too long."""

    def ring(number: int, frame: Any) -> None:
        raise Late

    signal.signal(signal.SIGALRM, ring)
    _alarm(signal.ITIMER_REAL, seconds)
    start = _clock()
    try:
        step()
        return _clock() - start
    finally:
        _alarm(signal.ITIMER_REAL, 0)


def count_lines(step: Step) -> tuple[int, bool]:
    """How many lines of Python one step runs, and whether a sort or a heap of C's is at work in it."""
    count, sorts = 0, False

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        if frame.f_code.co_filename == __file__:  # our own lines do not count
            return None
        count += event == "line"
        return trace

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal sorts
        sorts = sorts or (event == "c_call" and any(word in getattr(arg, "__name__", "") for word in SORTS))

    def run_watched() -> None:
        sys.setprofile(profile)
        sys.settrace(trace)
        try:
            step()
        finally:
            sys.settrace(None)
            sys.setprofile(None)

    time_step(PATIENCE_SECONDS * 2, run_watched)
    return count, sorts


def measure_time(call: GrownCall, found: list[SizeTried], until: float, say: Say) -> None:
    """The shortest time at each size, of several passes over all sizes: load comes and goes, the shortest stays."""
    gc.collect()
    gc.disable()  # a collection in the middle of a batch would be counted as the call's
    times: dict[int, list[tuple[float, float]]] = {tried.n: [] for tried in found}
    for done in range(PASSES):
        for tried in found:
            if done < 3 or _clock() < until:
                times[tried.n].append(time_batch(call, tried))
    for n, pairs in times.items():
        cpu, wall = map(min, zip(*pairs))  # noqa: B905 (the project's Python may be too old for `strict`)
        say(n=n, best=cpu if cpu > wall / 5 else wall)  # a call that sleeps, or waits for another process, uses no CPU


def time_batch(call: GrownCall, tried: SizeTried) -> tuple[float, float]:
    """Processor and wall seconds of one call, taken over many; only calls are timed, copies are made before."""
    times = max(1, min(500, int(BATCH_SECONDS / max(tried.seconds, 1e-7))))
    if hasattr(call.function, "cache_clear"):
        times = 1
    if tried.changes:
        times = max(1, min(times, 20_000 // max(1, tried.n)))
        steps = [call.prepare_tried(tried) for _ in range(times)]
    else:
        steps = [call.prepare_tried(tried)] * times
    cpu, wall = _cpu(), _clock()
    for step in steps:
        step()
    return (_cpu() - cpu) / times, (_clock() - wall) / times


def measure_memory(call: GrownCall, found: list[SizeTried], until: float, say: Say) -> None:
    """The most bytes that one call holds at a time, the largest size first."""
    tracemalloc.start()
    for done, tried in enumerate(reversed(found)):
        if done > 4 and _clock() > until:
            break
        step = call.prepare_tried(tried)
        tracemalloc.clear_traces()
        before = tracemalloc.get_traced_memory()[0]
        step()
        say(n=tried.n, bytes=max(0, tracemalloc.get_traced_memory()[1] - before))
    tracemalloc.stop()


if __name__ == "__main__":
    measure_module() if sys.argv[1:] else main()
