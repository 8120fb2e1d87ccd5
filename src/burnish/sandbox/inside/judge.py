"""Judges code by tests, in a helper process of the cell.

The code runs in another process, at the other end of a channel. The verdict goes straight to Burnish, on a descriptor
that only the judge has, and ends with a number used once. A suite that could leave anything behind in this process is
judged in a fork of it.
"""

import contextlib
import gc
import json
import os
import random
import socket
import sys
import time
import types
from collections.abc import Callable
from typing import Any, Protocol

from burnish.sandbox.inside import candidate, faults, packets
from burnish.sandbox.inside.asserts import AssertSuite
from burnish.sandbox.inside.channel import Channel, Gone
from burnish.sandbox.inside.command import read_all
from burnish.sandbox.inside.remote import ENDINGS, CannotCross, Link, Solution

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
SLOW_SECONDS = 0.02
TIDY_EVERY = 50
"""Jobs between two collections of garbage."""


class Suite(Protocol):
    """Tests of some style."""

    tests: str
    """As they were written."""
    is_simple: bool
    """True when judging them cannot leave anything behind."""

    def judge(self, solution: types.ModuleType, say: Callable[..., None]) -> None:
        """Run them and say what each said."""


class Report:
    """Writes the verdict, one JSON line a fact, straight to Burnish."""

    def __init__(self, fd: int, nonce: str) -> None:
        self.fd = fd
        self.nonce = nonce
        self.lines = b""
        self.written = time.monotonic()
        self.patience_seconds = SLOW_SECONDS

    def say(self, **fact: Any) -> None:
        """Note one fact; it is written at the end, or at once when the last writing was a while ago."""
        self.lines += json.dumps(fact).encode() + b"\n"
        if time.monotonic() - self.written > self.patience_seconds:
            self.write()

    def finish(self) -> None:
        """All was said: a verdict without this line is not whole."""
        self.say(end=self.nonce)

    def write(self) -> None:
        """Send what was noted; nobody may be listening any more."""
        with contextlib.suppress(OSError):
            while self.lines:
                self.lines = self.lines[os.write(self.fd, self.lines) :]
        self.written = time.monotonic()


def listen(link: socket.socket, kind: str) -> None:
    """The life of a helper: one suite after the other."""
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    if kind == "pytest":
        from burnish.sandbox.inside import pytests

        pytests.rehearse()
    gc.collect()
    gc.freeze()
    gc.disable()
    packets.send(link, {"ready": True})
    jobs = 0
    while (received := packets.receive(link)) is not None:
        job, fds = received
        if fds:
            hear(job, fds, is_pytest=kind == "pytest", link=link)
        packets.send(link, {"done": True})
        jobs += len(fds) > 0
        if fds and jobs % TIDY_EVERY == 0:
            gc.collect()


def hear(job: dict[str, Any], fds: list[int], is_pytest: bool, link: socket.socket) -> None:
    """Judge one suite, here if it cannot leave anything behind, else in a fork."""
    tests, verdict, other = fds
    given = json.loads(read_all(tests))
    report = Report(verdict, given["nonce"])
    try:
        suite = read_suite(given["tests"], is_pytest)
        if suite.is_simple and not job["shared"]:
            random.seed()
            judge_apart(Channel(other), suite, report)
        else:
            judge_in_fork(job, suite, report, other, link)
    except UNREADABLE as error:
        report.say(problem=f"the tests cannot be read: {type(error).__name__}: {error}")
    finally:
        report.write()
        os.close(verdict)
        os.close(other)


def read_suite(tests: str, is_pytest: bool) -> Suite:
    """The tests, ready to judge."""
    if is_pytest:
        from burnish.sandbox.inside.pytests import PytestSuite

        return PytestSuite(tests)
    return AssertSuite(tests)


def judge_in_fork(job: dict[str, Any], suite: Suite, report: Report, other: int, link: socket.socket) -> None:
    """Judge in a new process, in the job's folder, and wait for its end."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        link.close()
        os.setpgid(0, 0)
        os.chdir(job["folder"])
        report.patience_seconds = 0.0  # a timeout kills this process: what was said before it must be out by then
        random.seed()
        if job["shared"]:
            judge_together(read_all(other), suite, report)
        else:
            judge_apart(Channel(other), suite, report)
        report.write()
    finally:
        os._exit(0)


def judge_apart(channel: Channel, suite: Suite, report: Report) -> None:
    """Judge code that runs in another process."""
    link = Link(channel)
    link.expects_endings = any(kind.__name__ in suite.tests for kind in ENDINGS)
    try:
        kind, *rest = channel.receive()
        if kind == "broken":
            report.say(broken=str(rest[0]))
            return
        solution = Solution(link, rest[0], rest[1])
    except (Gone, ValueError, LookupError, TypeError, AttributeError) as error:
        report.say(broken=str(error))
        return
    judge(solution, suite, Marking(link, report))
    if link.stuck:
        report.say(again=link.stuck)
    report.finish()


class Marking:
    """Says of each case besides whether it needs the code in its own process, and why."""

    def __init__(self, link: Link, report: Report) -> None:
        self.link = link
        self.report = report
        self.reasons: set[str] = set()

    def say(self, **fact: Any) -> None:
        """A case that got stuck, or that failed by what an earlier one had got stuck on, says so."""
        if "case" in fact:
            why = self.link.stuck or next((one for one in self.reasons if one in fact["case"]["message"]), "")
            self.link.stuck = ""
            if why:
                self.reasons.add(why)
                fact["case"]["again"] = why
        self.report.say(**fact)


def judge_together(code: bytes, suite: Suite, report: Report) -> None:
    """Judge code that shares this process."""
    report.say(shared=True)
    try:
        candidate.write_file(code)
        solution = candidate.load(code)
    except BaseException as error:
        report.say(broken=faults.describe(error))
        return
    judge(solution, suite, report)
    report.finish()


def judge(solution: types.ModuleType, suite: Suite, report: Report | Marking) -> None:
    """Run the suite."""
    sys.modules["solution"] = solution
    try:
        suite.judge(solution, report.say)
    except (Gone, CannotCross) as error:
        report.say(problem=str(error))
    finally:
        sys.modules.pop("solution", None)
        sys.modules.pop("tests", None)
