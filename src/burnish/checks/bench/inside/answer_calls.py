"""Runs in a cell: what several modules do on the same calls, each in a process of its own so that none spoils another.

A module's own process is told nothing that it could not know, prints to nowhere, and answers through a pipe. One that
dies or goes silent loses the call it was at; a new process goes on with the next. Words that Python 3.9 understands.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import os
import random
import resource
import select
import signal
import sys
import time
import types
from functools import partial
from importlib.machinery import ModuleSpec
from typing import Any

from .canonical import canonical

SLOW, NONE = "too slow", "no answer"
MOST_SLOW = 2
"""Slow calls that get their whole time; the later ones get a fifth."""
RESTARTS = 4
MEMORY_BYTES = 400 * 1024 * 1024
PROCESSES = 40
STANDARD = ("math", "collections", "datetime", "re", "string", "itertools", "functools", "decimal", "fractions")
"""Modules that a test may name without importing them."""


class TooSlow(BaseException):
    """The time of one call is over."""


def main() -> None:
    """Read the order, ask every module, print one line."""
    with open("order.json", encoding="utf-8") as file:  # noqa: PTH123
        order = json.load(file)
    os.unlink("order.json")  # noqa: PTH108
    sys.path[:0] = order["paths"]
    answers = ask_all(order)
    sys.stdout.flush()
    os.write(1, f"\n{order['nonce']}{json.dumps(answers)}\n".encode())
    os._exit(0)


def ask_all(order: dict[str, Any]) -> list[list[str]]:
    """The answers of all modules, as many at work at a time as there are processors."""
    waiting = [Worker(module, order) for module in order["modules"]]
    everybody = list(waiting)
    most = len(os.sched_getaffinity(0))
    busy: list[Worker] = []
    while waiting or busy:
        while waiting and len(busy) < most:
            busy.append(waiting.pop(0))
            busy[-1].start(0)
        pipes = {worker.pipe: worker for worker in busy}
        ready = select.select(list(pipes), [], [], 0.05)[0]
        for pipe in ready:
            pipes[pipe].hear()
        busy = [worker for worker in busy if worker.goes_on()]
    return [worker.answers for worker in everybody]


class Worker:
    """One module's process, seen from outside."""

    def __init__(self, module: str, order: dict[str, Any]) -> None:
        self.module, self.order = module, order
        self.answers = [NONE] * len(order["calls"])
        self.at = 0
        self.restarts = 0
        self.until = 0.0

    def start(self, first: int) -> None:
        """A process that answers from this call on."""
        self.said, self.ended, self.heard_at = b"", False, time.monotonic()
        self.until = self.until or self.heard_at + self.order["module_seconds"]
        self.at = first
        self.pipe, into = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                answer_all(self.module, self.order, first, into)
            finally:
                os._exit(0)
        os.close(into)

    def hear(self) -> None:
        """Take the answers that are there."""
        data = os.read(self.pipe, 65536)
        self.ended = self.ended or not data
        *lines, self.said = (self.said + data).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError, TypeError, IndexError, KeyError):
                place, text = json.loads(line)
                if place == len(self.answers):
                    self.ended = True
                elif self.answers[place] == NONE:
                    self.answers[place], self.at, self.heard_at = str(text)[:2000], place + 1, time.monotonic()

    def goes_on(self) -> bool:
        """False when there is nothing more to hear; a process that is stuck or dead is replaced by one that goes on."""
        now = time.monotonic()
        late = now > self.until
        silent = now - self.heard_at > 2 * self.order["each_seconds"] + 0.3
        if not (self.ended or late or silent):
            return True
        self.end()
        if late or self.at + 1 >= len(self.answers) or self.restarts == RESTARTS:
            return False
        if silent:
            self.answers[self.at] = SLOW
        self.restarts += 1
        self.start(self.at + 1)
        return True

    def end(self) -> None:
        """No process of this module is left, unless it went out of its way."""
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self.pid, 0)
        os.close(self.pipe)


def answer_all(module: str, order: dict[str, Any], first: int, into: int) -> None:
    """In the module's own process: load it and answer, a line for each call."""
    os.setpgid(0, 0)
    own = os.getpid()
    nowhere = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    for kind, most in ((resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_NPROC, PROCESSES)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))
    calls, limit = order["calls"], order["each_seconds"]
    clock = Clock()
    scope, broken = load(module, order, clock)
    slow = 0
    for place in range(first, len(calls)):
        patience = limit if slow < MOST_SLOW else limit / 5
        text = broken or clock.run_within(patience, partial(answer, calls[place], scope))
        slow += text == SLOW
        if os.getpid() != own:  # a copy that the module made of itself must not answer as well
            os._exit(0)
        os.write(into, json.dumps([place, text]).encode() + b"\n")
    os.write(into, json.dumps([len(calls), ""]).encode() + b"\n")


class Clock:
    """Ends what takes too long, again and again, for code that catches everything."""

    def __init__(self) -> None:
        self.armed = False
        signal.signal(signal.SIGALRM, self.ring)

    def ring(self, *_: Any) -> None:
        """The time is over."""
        if self.armed:
            raise TooSlow

    def run_within(self, seconds: float, work: Any) -> str:
        """The text that the work gives, or that it was too slow, or what it raised."""
        try:
            signal.signal(signal.SIGALRM, self.ring)
            self.armed = True
            # It rings on: code that catches everything would swallow the first one.
            signal.setitimer(signal.ITIMER_REAL, seconds, 0.02)
            try:
                return str(work())
            finally:
                self.armed = False
                signal.setitimer(signal.ITIMER_REAL, 0)
        except TooSlow:
            return SLOW
        except BaseException as error:
            return f"raises {type.__getattribute__(type(error), '__name__')}"


def load(text: str, order: dict[str, Any], clock: Clock) -> tuple[dict[str, Any], str]:
    """The names of the module, and what went wrong if it cannot be loaded."""
    sys.meta_path.insert(0, Instead(text, order["name"], order["file"]))
    scope: dict[str, Any] = {}

    def work() -> str:
        scope.update(vars(importlib.import_module(order["name"])))
        return ""

    broken = clock.run_within(4 * order["each_seconds"], work)
    return scope, broken


class Instead:
    """Gives a text for one module, whoever imports it; the packages around it are those on the path."""

    def __init__(self, text: str, name: str, file: str) -> None:
        self.text, self.name, self.file = text, name, file

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """What Python's import asks every finder."""
        if name != self.name:
            return None
        is_package = os.path.basename(self.file) == "__init__.py"  # noqa: PTH119
        spec = ModuleSpec(name, self, origin=self.file, is_package=is_package)  # type: ignore[arg-type]
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(self.file)]  # noqa: PTH120
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """A module like any other."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Run our text in it."""
        exec(compile(self.text, self.file, "exec", dont_inherit=True), vars(module))


def answer(call: str, scope: dict[str, Any]) -> str:
    """What one call gives, and which of its arguments it changed."""
    random.seed(0)  # versions that throw dice are compared by the same throws
    tree = ast.parse(call.strip(), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in STANDARD and node.id not in scope:
            scope[node.id] = importlib.import_module(node.id)
    given = tree.body
    if not isinstance(given, ast.Call) or any(isinstance(part, ast.Starred) for part in given.args):
        return canonical(evaluate(given, scope))
    function = evaluate(given.func, scope)
    plain = [evaluate(part, scope) for part in given.args]
    named = {part.arg: evaluate(part.value, scope) for part in given.keywords if part.arg}
    everything = [*plain, *named.values()]
    before = read_changeable(everything)
    value = canonical(function(*plain, **named))
    pairs = enumerate(zip(before, read_changeable(everything)), 1)  # noqa: B905
    return value + "".join(f"\nargument {place} becomes {now}" for place, (old, now) in pairs if old != now)


def read_changeable(values: list[Any]) -> list[str]:
    """The text of those values that a call could change in place; "" for the others."""
    return [canonical(value) if type(value) in (list, dict, set, bytearray) else "" for value in values]


def evaluate(node: ast.expr, scope: dict[str, Any]) -> Any:
    """What an expression gives, made anew each time."""
    return eval(compile(ast.Expression(node), "call", "eval", dont_inherit=True), scope)
