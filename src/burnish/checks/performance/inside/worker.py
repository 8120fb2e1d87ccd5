"""A process for one module of the project: imports it, and measures each function in a copy of itself.

It is told what to do on its standard input and answers on a descriptor of its own; what the code prints goes nowhere.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from burnish.checks.performance.inside import inputs
from burnish.checks.performance.inside.measure import Call, measure

_write, _leave, _dumps = os.write, os._exit, json.dumps


class Voice:
    """Says things to the conductor, each with the word that it gave us."""

    def __init__(self, descriptor: int, word: str) -> None:
        self.descriptor = descriptor
        self.word = word
        self.about: dict[str, Any] = {}

    def say(self, **what: Any) -> None:
        """One line, written at once."""
        said = _dumps({"word": self.word, **self.about, **what}) + "\n"
        _write(self.descriptor, said.encode())


def main(descriptor: int) -> None:
    """Measure what was ordered."""
    order = json.loads(sys.stdin.read())
    voice = Voice(descriptor, order["word"])
    stand_alone(order["folder"])
    until = time.monotonic() + order["seconds"]
    try:
        module = importlib.import_module(order["module"])
    except BaseException as error:
        voice.say(problem=f"{order['module']} cannot be imported: {type(error).__name__}")
        return
    for function in order["functions"]:
        left = until - time.monotonic()
        if left < 0.1:
            break
        found = getattr(module, function["name"], None)
        if callable(found):
            voice.about = {"function": function["id"]}
            apart(found, function, min(left, order["each_seconds"]), voice)


def stand_alone(folder: str) -> None:
    """Python finds the project's files and nothing of ours."""
    for name in [name for name in sys.modules if name.split(".")[0] == "burnish"]:
        del sys.modules[name]
    sys.path[:] = [folder, *(path for path in sys.path if Path(path).resolve() != Path.cwd())]
    sys.argv[:] = [""]
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)


def apart(found: Any, function: dict[str, Any], seconds: float, voice: Voice) -> None:
    """Measure one function in a copy of this process, which is ended when its time is over."""
    alive, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        try:
            explore_ways(found, function, seconds, voice)
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
        voice.say(killed=time.monotonic())


def explore_ways(found: Any, function: dict[str, Any], seconds: float, voice: Voice) -> None:
    """Grow each call of the function in each way that may work."""
    orders = [dict(call, given=ast.literal_eval(call["given"])) for call in function["calls"]]
    tasks = [(order, *way) for order in orders for way in ways(order["given"])]
    until = time.monotonic() + seconds
    for done, (order, grow, kinds) in enumerate(tasks):
        share = (until - time.monotonic()) / (len(tasks) - done)
        if done and share < 0.02:
            break
        for kind in kinds:
            follow = inputs.followers(order["given"], grow) if kind != "repeat" else []
            voice.about.update(way=f"{done} {kind}", grow=grow, follow=follow, line=order["line"])
            ended = measure(Call(found, order, grow, kind), share, voice.say)
            voice.say(ended=ended)
            if not ended.startswith("raised"):
                break


def ways(given: dict[str, Any]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Which arguments to grow, and how: all together, and each alone; numbers only where nothing has a size."""
    names = [name for name, value in given.items() if inputs.has_size(value)]
    names = names or [name for name, value in given.items() if inputs.has_value(value)]
    if len(names) > 1:
        yield names, inputs.KINDS
    for name in names[:3]:
        yield [name], inputs.KINDS
        if inputs.can_miss(given, [name]):
            yield [name], [inputs.NEVER]


if __name__ == "__main__":
    main(int(sys.argv[1]))
