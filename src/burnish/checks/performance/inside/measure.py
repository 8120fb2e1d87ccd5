"""Measures one function in this process: lines run, seconds, bytes, at one size after the other.

The rule: what is known is said at once, so that a process that is ended half way has said all it knew.
"""

from __future__ import annotations

import collections
import contextlib
import gc
import marshal
import os
import signal
import sys
import time
import tracemalloc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from burnish.checks.performance.inside import inputs

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

_clock, _cpu, _alarm, _pid, _leave = time.perf_counter, time.process_time, signal.setitimer, os.getpid, os._exit


class Late(BaseException):
    """The call took too long."""


class Tried(NamedTuple):
    """One size: its arguments, how long the first call took, and whether it changed them."""

    n: int
    arguments: dict[str, Any]
    seconds: float
    changes: bool


class Call:
    """One call that a test makes, with some of its arguments grown in one way."""

    def __init__(self, function: Callable[..., Any], order: dict[str, Any], grow: Sequence[str], kind: str) -> None:
        self.function = function
        self.order = order
        self.grow = grow
        self.kind = kind
        self.home = _pid()
        self.forgets = hasattr(function, "cache_clear")

    def arguments(self, n: int) -> dict[str, Any]:
        """Named by place ("0", "1") or by keyword."""
        return inputs.arguments(self.order["given"], self.grow, n, self.kind)

    def size(self, arguments: dict[str, Any]) -> int:
        """The size of what was grown, the largest of them."""
        return max(inputs.size(arguments[name]) for name in self.grow)

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


def measure(call: Call, seconds: float, say: Say) -> str:
    """All about one way of growing; the answer is why it ended early, or nothing."""
    start = _clock()
    found: list[Tried] = []
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
        repeat(call, telling(found), start + seconds * 0.9, say)
        memory(call, telling(found), start + seconds, say)
    return ended


def explore(call: Call, found: list[Tried], until: float, say: Say) -> None:
    """Grow until it gets slow, and say how many lines each size runs."""
    seen: set[int] = set()
    for n in inputs.SIZES:
        arguments = call.arguments(n)
        real = call.size(arguments)
        if real in seen:
            continue
        seen.add(real)
        say(trying=real, at=time.monotonic())
        fresh = copied(arguments)
        seconds = within(PATIENCE_SECONDS, call.ready(fresh))
        call.stay()
        if found and SHORT_SECONDS < seconds > 3 * found[-1].seconds:  # a burst of load, or is it the code?
            seconds = min(seconds, within(PATIENCE_SECONDS, call.ready(copied(arguments))))
            call.stay()
        say(n=real, seconds=seconds)
        found.append(Tried(real, arguments, seconds, fresh != arguments))
        if seconds > LONGEST_SECONDS:
            break
        lines, sorts = lines_run(call.ready(copied(arguments)))
        call.stay()
        say(n=real, lines=lines, sorts=sorts)
        if seconds > MOST_SECONDS or lines > MOST_LINES or too_steep(found) or _clock() > until:
            break


def telling(found: list[Tried]) -> list[Tried]:
    """The larger sizes, which say how the cost grows; none that is too slow to be repeated."""
    return [tried for tried in found if tried.seconds <= LONGEST_SECONDS][-TELLING:]


def too_steep(found: list[Tried]) -> bool:
    """Whether the next size, growing as the last two did and more, would take longer than a call may."""
    if len(found) < 5 or found[-1].seconds < SHORT_SECONDS:
        return False
    factor = max(1.0, found[-1].seconds / max(found[-2].seconds, 1e-9))
    return found[-1].seconds * factor * factor > PATIENCE_SECONDS


def copied(arguments: dict[str, Any]) -> dict[str, Any]:
    """A fresh copy of plain data."""
    copy: dict[str, Any] = marshal.loads(marshal.dumps(arguments))
    return copy


def within(seconds: float, step: Callable[[], None]) -> float:
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


def lines_run(step: Callable[[], None]) -> tuple[int, bool]:
    """How many lines of Python one step runs, and whether a sort or a heap of C's is at work in it."""
    count, sorts = 0, False

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        if frame.f_code.co_filename == __file__:
            return None
        count += event == "line"
        return trace

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal sorts
        if event == "c_call" and not sorts:
            name = getattr(arg, "__name__", "")
            sorts = any(word in name for word in SORTS)

    def watched() -> None:
        sys.setprofile(profile)
        sys.settrace(trace)
        try:
            step()
        finally:
            sys.settrace(None)
            sys.setprofile(None)

    within(PATIENCE_SECONDS * 2, watched)
    return count, sorts


def repeat(call: Call, found: list[Tried], until: float, say: Say) -> None:
    """The shortest time at each size, of several passes over all sizes: load comes and goes, the shortest stays."""
    gc.collect()
    gc.disable()
    best: dict[int, tuple[float, float]] = {}
    for done in range(PASSES):
        for tried in found:
            if done > 2 and _clock() > until:
                break
            cpu, wall = batch(call, tried)
            old = best.get(tried.n, (cpu, wall))
            best[tried.n] = (min(cpu, old[0]), min(wall, old[1]))
    for n, (cpu, wall) in best.items():
        say(n=n, best=cpu if cpu > wall / 5 else wall)


def batch(call: Call, tried: Tried) -> tuple[float, float]:
    """Processor and wall seconds of one call, taken over many; only calls are timed, copies are made before."""
    times = max(1, min(500, int(BATCH_SECONDS / max(tried.seconds, 1e-7))))
    if call.forgets:
        times = 1
    if tried.changes:
        times = max(1, min(times, 20_000 // max(1, tried.n)))
        steps = [call.ready(copied(tried.arguments)) for _ in range(times)]
    else:
        steps = [call.ready(tried.arguments)] * times
    cpu, wall = _cpu(), _clock()
    for step in steps:
        step()
    spent = (_cpu() - cpu) / times, (_clock() - wall) / times
    call.stay()
    return spent


def memory(call: Call, found: list[Tried], until: float, say: Say) -> None:
    """The most bytes that one call holds at a time, the largest size first."""
    tracemalloc.start()
    for done, tried in enumerate(reversed(found)):
        if done > 4 and _clock() > until:
            break
        step = call.ready(copied(tried.arguments) if tried.changes else tried.arguments)
        tracemalloc.clear_traces()
        before = tracemalloc.get_traced_memory()[0]
        step()
        call.stay()
        say(n=tried.n, bytes=max(0, tracemalloc.get_traced_memory()[1] - before))
    tracemalloc.stop()
