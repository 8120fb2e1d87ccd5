"""Runs in a cell: what several modules do on the same calls, each in a process of its own so that none spoils another.

A module's own process is told nothing that it could not know, prints to nowhere, and answers through a pipe. One that
dies or goes silent loses the call it was at; a new process goes on with the next. Words that Python 3.9 understands.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType
from typing import Any

from .canonical import canonical
from .children import Allowance, Nursery
from .facts import Fact, read_job, say
from .import_override import TextOverride, real_path

SLOW, NONE = "too slow", "no answer"
MOST_SLOW = 2
"""Slow calls that get their whole time; the later ones get a tenth: mostly they are slow as well."""
RESTARTS = 4
ENOUGH = 6
"""Answers other than expected, after which a module need not answer any more."""
LONGEST = 2000
LIMITS = ((resource.RLIMIT_AS, 400 * 1024 * 1024), (resource.RLIMIT_NPROC, 40))
FILE_WITH = "file_with"
STANDARD = ("math", "collections", "datetime", "re", "string", "itertools", "functools", "decimal", "fractions")
"""Modules that a test may name without importing them."""


class TooSlow(BaseException):
    """The time of one call is over."""


def main() -> None:
    """Read the job, ask every module, tell all answers at once."""
    job = read_job()
    sys.path[:0] = job["paths"]
    lines: set[int] = set()
    say(1, job["nonce"], {"answers": ask_all(job, lines), "lines": sorted(lines)})
    os._exit(0)  # nothing is left to be tidied up


def ask_all(job: Fact, lines: set[int]) -> list[list[str]]:
    """The answers of all modules, as many at work at a time as there are processors; lines that ran where asked for."""
    most = len(job["calls"])
    calls = [prepare(call) for call in job["calls"]]
    answers = [[NONE] * most for _ in job["modules"]]
    until: dict[int, float] = {}
    restarts = [0] * len(answers)
    waiting = [(number, 0) for number in range(len(answers))]
    nursery = Nursery("children", len(os.sched_getaffinity(0)))
    while waiting or nursery.living:
        while waiting and not nursery.full:
            number, first = waiting.pop(0)
            left = until.setdefault(number, time.monotonic() + job["module_seconds"]) - time.monotonic()
            allowance = Allowance(job["module_seconds"] + 1, left, job["silent_seconds"])
            nursery.start((number, first), partial(answer_all, job, number, calls[first:]), allowance)
        for child, ending in nursery.collect_ended():
            number, first = child.name
            texts = [str(fact["text"])[:LONGEST] for fact in child.facts if "text" in fact][: most - first]
            lines.update(*(fact["lines"] for fact in child.facts if "lines" in fact))
            at = first + len(texts)
            answers[number][first:at] = texts
            if job.get("expected") and ending == "ended":
                answers[number][at:] = [""] * (most - at)
            is_over = ending == "ended" or restarts[number] == RESTARTS or time.monotonic() >= until[number]
            if not is_over and at + 1 < most:  # a process that is stuck or dead is replaced by one that goes on
                if ending == "timeout":
                    answers[number][at] = SLOW
                restarts[number] += 1
                waiting.insert(0, (number, at + 1))
    return answers


def answer_all(job: Fact, number: int, calls: list[Call | Exception]) -> Iterator[Fact]:
    """In the module's own process: load it, and answer these calls."""
    lower_limits()
    limit, scope = job["each_seconds"], dict[str, Any]()

    def load() -> str:
        scope.update(vars(importlib.import_module(job["name"])))
        return ""

    TextOverride(job["file"], job["modules"][number]).be_first()
    broken = run_within(job["module_seconds"], load)
    slow, ran = 0, set[int]()
    expected, others = job.get("expected"), 0
    if job.get("traced") == number:
        sys.settrace(partial(note_line, real_path(job["file"]), ran))
    for place, call in enumerate(calls, len(job["calls"]) - len(calls)):
        patience = limit if slow < MOST_SLOW else limit / 10
        text = broken or run_within(patience, partial(answer, call, scope), signal.ITIMER_VIRTUAL)
        slow += text == SLOW
        yield {"text": text, "lines": list(ran)} if ran else {"text": text}
        ran.clear()
        others += expected is not None and text != expected[place]
        if expected and (text == SLOW or others >= ENOUGH):  # it is known by now that this module is another
            return


def note_line(file: Any, ran: set[int], frame: Any, event: str, _: Any) -> Any:
    """Called by Python at each line: keep those of one file."""
    if real_path(frame.f_code.co_filename) != file:
        return None
    ran.add(frame.f_lineno)
    return partial(note_line, file, ran)


def lower_limits() -> None:
    """Give this process less memory and fewer processes than the job has."""
    for kind, most in LIMITS:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))


def run_within(seconds: float, work: Callable[[], str], timer: int = signal.ITIMER_REAL) -> str:
    """The text that the work gives, or that it was too slow, or what it raised.

    The clock is on the wall unless `timer` says otherwise.
    """
    armed = True

    def ring(*_: Any) -> None:
        if armed:
            raise TooSlow

    try:
        signal.signal(signal.SIGALRM if timer == signal.ITIMER_REAL else signal.SIGVTALRM, ring)
        # It rings on: code that catches everything would swallow the first one.
        signal.setitimer(timer, seconds, 0.02)
        try:
            return str(work())
        finally:
            armed = False
            signal.setitimer(timer, 0)
    except TooSlow:
        return SLOW
    except BaseException as error:
        return f"raises {type.__getattribute__(type(error), '__name__')}"


class Call:
    """One call, read once for all modules; its values are made anew for each. Raises what Python says against it."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text.strip(), mode="eval")
        names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
        self.standard = [name for name in names if name in STANDARD]
        given, self.is_plain = tree.body, False
        self.plain: list[CodeType] = []
        self.named: dict[str, CodeType] = {}
        if isinstance(given, ast.Call) and not any(isinstance(part, ast.Starred) for part in given.args):
            self.is_plain = True
            self.plain = [compile_expression(part) for part in given.args]
            self.named = {part.arg: compile_expression(part.value) for part in given.keywords if part.arg}
            given = given.func
        self.function = compile_expression(given)
        """What is called; of anything but a plain call, all of it."""


def prepare(text: str) -> Call | Exception:
    """The call, or why it is none, which is then the answer of every module."""
    try:
        return Call(text)
    except Exception as error:
        return error


def answer(call: Call | Exception, scope: dict[str, Any]) -> str:
    """What one call gives, and which of its arguments it changed."""
    if isinstance(call, Exception):
        raise call
    random.seed(0)  # versions that throw dice are compared by the same throws
    for name in call.standard:
        if name not in scope:
            scope[name] = importlib.import_module(name)
    scope.setdefault(FILE_WITH, make_file)
    if not call.is_plain:
        return canonical(eval(call.function, scope))
    function = eval(call.function, scope)
    plain = [eval(part, scope) for part in call.plain]
    named = {name: eval(part, scope) for name, part in call.named.items()}
    everything = [*plain, *named.values()]
    before = read_changeable(everything)
    value = canonical(function(*plain, **named))
    pairs = enumerate(zip(before, read_changeable(everything)), 1)  # noqa: B905
    return value + "".join(f"\nargument {place} becomes {now}" for place, (old, now) in pairs if old != now)


def make_file(text: str) -> str:
    """A file that holds a text, in a folder of this process; each takes the place of the one before."""
    folder = f"files-{os.getpid()}"
    if os.path.basename(os.getcwd()) != folder:  # noqa: PTH119, PTH109
        os.mkdir(folder)  # noqa: PTH102
        os.chdir(folder)  # the path is then the same for every version
    with open("sample.txt", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)
    return "sample.txt"


def read_changeable(values: list[Any]) -> list[str]:
    """The text of those values that a call could change in place; "" for the others."""
    return [canonical(value) if type(value) in (list, dict, set, bytearray) else "" for value in values]


def compile_expression(node: ast.expr) -> CodeType:
    """What gives the value of an expression, made anew each time."""
    return compile(ast.Expression(node), "call", "eval", dont_inherit=True)
