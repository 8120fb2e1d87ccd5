"""A process for one module of the project: imports it, and measures each function in a copy of itself.

It is told what to do on its standard input and answers on a descriptor of its own; what the code prints goes nowhere.
Of each function: lines run, seconds, bytes, at one size after the other. The rule: what is known is said at once, so
that a process that is ended half way has said all it knew.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import gc
import importlib
import json
import marshal
import os
import select
import signal
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


def main(descriptor: int) -> None:
    """Measure what was ordered."""
    order = json.loads(sys.stdin.read())
    about: dict[str, Any] = {"word": order["word"]}

    def say(**what: Any) -> None:
        """One line, written at once, with the word by which we are known."""
        _write(descriptor, (_dumps({**about, **what}) + "\n").encode())

    stand_alone(order["folder"])
    until = time.monotonic() + order["seconds"]
    try:
        module = importlib.import_module(order["module"])
    except BaseException as error:
        say(unimportable=order["module"], error=type(error).__name__)
        return
    for function in order["functions"]:
        left = until - time.monotonic()
        if left < 0.1:
            break
        found = getattr(module, function["name"], None)
        if callable(found):
            about["function"] = function["id"]
            measure_apart(found, function, min(left, order["each_seconds"]), about, say)


def stand_alone(folder: str) -> None:
    """Python finds the project's files and nothing of ours."""
    sys.path[:] = [folder, *(path for path in sys.path if Path(path).resolve() != Path.cwd())]
    sys.argv[:] = [""]
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)


def measure_apart(found: Any, function: dict[str, Any], seconds: float, about: dict[str, Any], say: Say) -> None:
    """Measure one function in a copy of this process, which is ended when its time is over."""
    alive, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        try:
            explore_ways(found, function, seconds, about, say)
        finally:
            _leave(0)
    os.close(theirs)
    until = time.monotonic() + seconds * 1.3 + 0.3
    gone = False
    while not gone and time.monotonic() < until:
        select.select([alive], [], [], 0.2)
        gone = os.waitpid(child, os.WNOHANG)[0] == child
    os.close(alive)
    for target in (-child, child)[: 1 if gone else 2]:
        with contextlib.suppress(OSError):
            os.kill(target, signal.SIGKILL)
    if not gone:
        os.waitpid(child, 0)
        say(killed=time.monotonic())


def explore_ways(found: Any, function: dict[str, Any], seconds: float, about: dict[str, Any], say: Say) -> None:
    """Grow each call of the function in each way that may work."""
    orders = [dict(call, given=ast.literal_eval(call["given"])) for call in function["calls"]]
    tasks = [(order, *way) for order in orders for way in choose_ways(order["given"])]
    until = time.monotonic() + seconds
    for done, (order, grow, kinds) in enumerate(tasks):
        share = (until - time.monotonic()) / (len(tasks) - done)
        if done and share < 0.02:
            break
        for kind in kinds:
            follow = inputs.followers(order["given"], grow) if kind != "repeat" else []
            about.update(way=f"{done} {kind}", grow=grow, follow=follow, line=order["line"])
            ended = measure(GrownCall(found, order, grow, kind), share, say)
            say(ended=ended)
            if not ended.startswith("raised"):
                break


def choose_ways(given: dict[str, Any]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Which arguments to grow, and how: all together, and each alone; numbers only where nothing has a size."""
    names = [name for name, value in given.items() if inputs.has_size(value)]
    names = names or [name for name, value in given.items() if inputs.has_value(value)]
    if len(names) > 1:
        yield names, inputs.KINDS
    for name in names[:3]:
        yield [name], inputs.KINDS
        if inputs.can_miss(given, [name]):
            yield [name], [inputs.NEVER]


class Late(BaseException):
    """The call took too long."""


class SizeTried(NamedTuple):
    """One size: its arguments, how long the first call took, and whether it changed them."""

    n: int
    arguments: dict[str, Any]
    seconds: float
    changes: bool


class GrownCall:
    """One call that a test makes, with some of its arguments grown in one way."""

    def __init__(self, function: Callable[..., Any], order: dict[str, Any], grow: Sequence[str], kind: str) -> None:
        self.function = function
        self.order = order
        self.grow = grow
        self.kind = kind
        self.home = _pid()
        self.forgets = hasattr(function, "cache_clear")

    def ready(self, arguments: dict[str, Any]) -> Callable[[], None]:
        """The call as one step without arguments. A generator it gives is run to its end."""
        places = [arguments[str(place)] for place in range(self.order["places"])]
        named = {name: value for name, value in arguments.items() if not name.isdigit()}
        function = self.function

        def step() -> None:
            answer = function(*places, **named)
            if hasattr(answer, "__next__"):
                collections.deque(answer, maxlen=0)

        if self.forgets:
            self.function.cache_clear()  # type: ignore[attr-defined]
        return step

    def stay(self) -> None:
        """A copy of this process that the function made must not go on measuring."""
        if _pid() != self.home:
            _leave(0)


def measure(call: GrownCall, seconds: float, say: Say) -> str:
    """All about one way of growing; the answer is why it ended early, or nothing."""
    start = _clock()
    found: list[SizeTried] = []
    ended = ""
    try:
        explore(call, found, start + seconds * 0.6, say)
    except (RecursionError, MemoryError) as error:
        ended = type(error).__name__
    except Late:
        ended = "late"
    except Exception as error:
        ended = "raised " + type(error).__name__
    call.stay()
    with contextlib.suppress(Exception):
        measure_time(call, choose_telling(found), start + seconds * 0.9, say)
        measure_memory(call, choose_telling(found), start + seconds, say)
    return ended


def explore(call: GrownCall, found: list[SizeTried], until: float, say: Say) -> None:
    """Grow until it gets slow, and say how many lines each size runs."""
    seen: set[int] = set()
    for n in inputs.SIZES:
        arguments = inputs.arguments(call.order["given"], call.grow, n, call.kind)
        real = max(inputs.size(arguments[name]) for name in call.grow)
        if real in seen:
            continue
        seen.add(real)
        say(trying=real, at=time.monotonic())  # said first: the call may never come back
        fresh = copy_plainly(arguments)
        seconds = time_step(PATIENCE_SECONDS, call.ready(fresh))
        call.stay()
        if found and SHORT_SECONDS < seconds > 3 * found[-1].seconds:  # a burst of load, or is it the code?
            seconds = min(seconds, time_step(PATIENCE_SECONDS, call.ready(copy_plainly(arguments))))
            call.stay()
        say(n=real, seconds=seconds)
        found.append(SizeTried(real, arguments, seconds, fresh != arguments))
        if seconds > LONGEST_SECONDS:
            break
        lines, sorts = count_lines(call.ready(copy_plainly(arguments)))
        call.stay()
        say(n=real, lines=lines, sorts=sorts)
        if seconds > MOST_SECONDS or lines > MOST_LINES or is_too_steep(found) or _clock() > until:
            break


def choose_telling(found: list[SizeTried]) -> list[SizeTried]:
    """The larger sizes, which say how the cost grows; none that is too slow to be repeated."""
    return [tried for tried in found if tried.seconds <= LONGEST_SECONDS][-TELLING:]


def is_too_steep(found: list[SizeTried]) -> bool:
    """Whether the next size, growing as the last two did and more, would take longer than a call may."""
    if len(found) < 5 or found[-1].seconds < SHORT_SECONDS:
        return False
    factor = max(1.0, found[-1].seconds / max(found[-2].seconds, 1e-9))
    return found[-1].seconds * factor * factor > PATIENCE_SECONDS


def copy_plainly(arguments: dict[str, Any]) -> dict[str, Any]:
    """A fresh copy of plain data."""
    copy: dict[str, Any] = marshal.loads(marshal.dumps(arguments))
    return copy


def time_step(seconds: float, step: Callable[[], None]) -> float:
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


def count_lines(step: Callable[[], None]) -> tuple[int, bool]:
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
        if event == "c_call" and not sorts:
            name = getattr(arg, "__name__", "")
            sorts = any(word in name for word in SORTS)

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
    best: dict[int, tuple[float, float]] = {}
    for done in range(PASSES):
        for tried in found:
            if done > 2 and _clock() > until:
                break
            cpu, wall = time_batch(call, tried)
            old = best.get(tried.n, (cpu, wall))
            best[tried.n] = (min(cpu, old[0]), min(wall, old[1]))
    for n, (cpu, wall) in best.items():
        say(n=n, best=cpu if cpu > wall / 5 else wall)  # a call that sleeps, or waits for another process, uses no CPU


def time_batch(call: GrownCall, tried: SizeTried) -> tuple[float, float]:
    """Processor and wall seconds of one call, taken over many; only calls are timed, copies are made before."""
    times = max(1, min(500, int(BATCH_SECONDS / max(tried.seconds, 1e-7))))
    if call.forgets:
        times = 1
    if tried.changes:
        times = max(1, min(times, 20_000 // max(1, tried.n)))
        steps = [call.ready(copy_plainly(tried.arguments)) for _ in range(times)]
    else:
        steps = [call.ready(tried.arguments)] * times
    cpu, wall = _cpu(), _clock()
    for step in steps:
        step()
    spent = (_cpu() - cpu) / times, (_clock() - wall) / times
    call.stay()
    return spent


def measure_memory(call: GrownCall, found: list[SizeTried], until: float, say: Say) -> None:
    """The most bytes that one call holds at a time, the largest size first."""
    tracemalloc.start()
    for done, tried in enumerate(reversed(found)):
        if done > 4 and _clock() > until:
            break
        step = call.ready(copy_plainly(tried.arguments) if tried.changes else tried.arguments)
        tracemalloc.clear_traces()
        before = tracemalloc.get_traced_memory()[0]
        step()
        call.stay()
        say(n=tried.n, bytes=max(0, tracemalloc.get_traced_memory()[1] - before))
    tracemalloc.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]))
