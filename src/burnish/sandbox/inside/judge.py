"""Judges code by tests, in a helper process of the cell.

The code runs in another process, at the other end of a channel. The verdict goes straight to Burnish, on a descriptor
that only the judge has, and ends with a number used once. A suite that could leave anything behind in a process is
judged in a fork.
"""

import contextlib
import gc
import json
import os
import random
import resource
import socket
import sys
import time
import types
from collections.abc import Callable
from typing import Any, Protocol

from burnish.sandbox.inside import limits
from burnish.sandbox.inside.allowed_types import NAMES
from burnish.sandbox.inside.asserts import AssertSuite
from burnish.sandbox.inside.candidate import CODE_FILE, explain_import_error, load_code
from burnish.sandbox.inside.codec import Channel, Gone
from burnish.sandbox.inside.helpers import read_all, receive_packet, send_packet
from burnish.sandbox.inside.standins import ENDINGS, CannotCross, Link, RemoteClass, Solution
from burnish.sandbox.inside.suite_text import ExpectedNames

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
SLOW_SECONDS = 0.02
TIDY_EVERY = 50
"""Jobs between two collections of garbage."""
SPARE_BYTES = 64 * 1024 * 1024
"""What a job may leave in the memory of the process that judges. One that grew by more makes room for a new one."""


class RunnableSuite(Protocol):
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

    def write(self) -> None:
        """Send what was noted; nobody may be listening any more."""
        with contextlib.suppress(OSError):
            while self.lines:
                self.lines = self.lines[os.write(self.fd, self.lines) :]
        self.written = time.monotonic()


class MarkedReport:
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


def run_helper(link: socket.socket, kind: str) -> None:
    """The life of a helper: one suite after the other."""
    sys.stdout = sys.stderr = open(1, "w", closefd=False)  # noqa: SIM115, PTH123  # a fork renews what is behind it
    if kind == "pytest":
        from burnish.sandbox.inside.pytests import REHEARSAL, PytestSuite

        PytestSuite(REHEARSAL).judge(None, lambda **fact: None)  # pytest imports half of itself only when it runs
    gc.collect()
    gc.freeze()
    gc.disable()
    send_packet(link, {"ready": True})
    jobs = 0
    most_bytes = read_own_size() + SPARE_BYTES
    while (received := receive_packet(link)) is not None:
        job, fds = received
        is_judged = judge_job(job, fds, kind, link) if fds else True
        send_packet(link, {"needs_fork": not is_judged})
        jobs += len(fds) > 0
        if fds and jobs % TIDY_EVERY == 0:
            gc.collect()
        if fds and read_own_size() > most_bytes:
            return


def read_own_size() -> int:
    """The address space of this process, which is what its limit on memory counts.

    The file is not kept open: a fork would share its position, and so could tell the next one a number.
    """
    statm = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        return int(os.read(statm, 64).split()[0]) * resource.getpagesize()
    finally:
        os.close(statm)


def judge_job(job: dict[str, Any], fds: list[int], kind: str, link: socket.socket) -> bool:
    """Judge one suite, here if it cannot leave anything behind, else in a fork. False when it needs another's fork.

    Only "asserts" reads tests, and it never forks: a fork has in its memory whatever this process has held, the tests
    of earlier jobs too, and could find them there.
    """
    tests, verdict, other = fds
    try:
        if kind != "asserts":
            judge_in_fork(job, fds, kind, link)
            os.close(tests)
            return True
        suite_job = SuiteJob(tests, verdict, is_pytest=False)
        try:
            if suite_job.suite and not suite_job.suite.is_simple:
                return False
            if suite_job.suite:
                random.seed()
                suite_job.judge_apart(Channel(other), suite_job.suite)
        except UNREADABLE as error:
            suite_job.refuse(error)
        suite_job.report.write()
        return True
    finally:
        os.close(verdict)
        os.close(other)


def judge_in_fork(job: dict[str, Any], fds: list[int], kind: str, link: socket.socket) -> None:
    """Judge in a new process, in the job's folder, and wait for its end."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        tests, verdict, other = fds
        link.close()
        limits.renew_standard_files()
        os.setpgid(0, 0)
        os.chdir(job["folder"])
        suite_job = SuiteJob(tests, verdict, is_pytest=kind == "pytest")
        suite_job.report.patience_seconds = 0.0  # a timeout kills this process: what was said must be out by then
        random.seed()
        if suite_job.suite and job["shared"]:
            suite_job.judge_together(read_all(other), suite_job.suite)
        elif suite_job.suite:
            suite_job.judge_apart(Channel(other), suite_job.suite)
        suite_job.report.write()
    finally:
        os._exit(0)


class SuiteJob:
    """The tests of one job, read and ready, and the report on them; no suite when they cannot be read."""

    def __init__(self, tests: int, verdict: int, is_pytest: bool) -> None:
        given = json.loads(read_all(tests))
        self.report = Report(verdict, given["nonce"])
        self.expected = ExpectedNames(given["tests"], given["kinds"])
        self.suite: RunnableSuite | None = None
        try:
            if is_pytest:
                from burnish.sandbox.inside.pytests import PytestSuite

                self.suite = PytestSuite(given["tests"])
            else:
                self.suite = AssertSuite(given["tests"])
        except UNREADABLE as error:
            self.refuse(error)

    def refuse(self, error: BaseException) -> None:
        """Say that these tests are no tests."""
        self.report.say(problem=f"the tests cannot be read: {type(error).__name__}: {error}")

    def judge_apart(self, channel: Channel, suite: RunnableSuite) -> None:
        """Judge code that runs in another process."""
        link = Link(channel)
        link.expects_endings = any(kind.__name__ in suite.tests for kind in ENDINGS)
        try:
            kind, *rest = channel.receive()
            if kind == "broken":
                self.report.say(broken=str(rest[0]))
                return
            solution = Solution(link, rest[0], rest[1], self.expected)
        except (Gone, ValueError, LookupError, TypeError, AttributeError) as error:
            self.report.say(broken=str(error))
            return
        self.judge(solution, suite, MarkedReport(link, self.report))
        if link.stuck:
            self.report.say(again=link.stuck)
        self.report.say(end=self.report.nonce)

    def judge_together(self, code: bytes, suite: RunnableSuite) -> None:
        """Judge code that shares this process. It is a file there too, for tests that read it or start it."""
        self.report.say(shared=True)
        try:
            with open(CODE_FILE, "wb") as file:  # noqa: PTH123
                file.write(code)
            solution = load_code(code)
        except BaseException as error:
            self.report.say(broken=explain_import_error(error))
            return
        self.judge(solution, suite, self.report)
        self.report.say(end=self.report.nonce)

    def judge(self, solution: types.ModuleType, suite: RunnableSuite, report: "Report | MarkedReport") -> None:
        """Run the suite, unless a function is asked for and the code has a class in its place."""
        sys.modules["solution"] = solution
        try:
            functions = [name for name, kind in self.expected.kinds.items() if kind == "function"]
            wrong = next((name for name in functions if is_own_class(getattr(solution, name, None))), "")
            if wrong:
                report.say(problem=f"the task asks for a function {wrong}, and the code has a class of that name")
            else:
                suite.judge(solution, report.say)
        except (Gone, CannotCross) as error:
            report.say(problem=str(error))
        finally:
            sys.modules.pop("solution", None)
            sys.modules.pop("tests", None)


def is_own_class(value: object) -> bool:
    """Whether a name of the code is a class that no other module has. Any other callable will do as a function."""
    return isinstance(value, RemoteClass) or (isinstance(value, type) and value not in NAMES)
