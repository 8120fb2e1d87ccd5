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
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from burnish.sandbox.inside import limits
from burnish.sandbox.inside.allowed_types import NAMES
from burnish.sandbox.inside.asserts import AssertSuite
from burnish.sandbox.inside.candidate import CODE_FILE, explain_import_error, load_code
from burnish.sandbox.inside.codec import Channel, Gone, read_all, receive_packet, send_packet
from burnish.sandbox.inside.standins import CannotCross, Link, RemoteClass, Solution
from burnish.sandbox.inside.suite_text import SuiteText

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
SLOW_SECONDS = 0.02
TIDY_EVERY = 50
"""Jobs between two collections of garbage."""
SPARE_BYTES = 64 * 1024 * 1024
"""What a job may leave in the memory of the process that judges. One that grew by more makes room for a new one."""


class RunnableSuite(Protocol):
    """Tests of some style."""

    is_simple: bool
    """True when judging them cannot leave anything behind."""

    def judge(self, solution: types.ModuleType, say: Callable[..., None]) -> None:
        """Run them and say what each said."""


class Report:
    """Writes the verdict, one JSON line a fact, straight to Burnish."""

    def __init__(self, fd: int, nonce: str) -> None:
        self.fd = fd
        self.nonce = nonce
        self.link: Link | None = None
        """To the code, where that is in another process."""
        self.lines = b""
        self.written = time.monotonic()
        self.patience_seconds = SLOW_SECONDS

    def say(self, **fact: Any) -> None:
        """Note one fact; it is written at the end, or at once when the last writing was a while ago.

        Of a case that got stuck without the code in its own process it says so, and why.
        """
        if self.link and self.link.stuck and "case" in fact:
            fact["case"]["again"], self.link.stuck = self.link.stuck, ""
        self.lines += json.dumps(fact).encode() + b"\n"
        if time.monotonic() - self.written > self.patience_seconds:
            self.write()

    def write(self) -> None:
        """Send what was noted; nobody may be listening any more."""
        with contextlib.suppress(OSError):
            while self.lines:
                self.lines = self.lines[os.write(self.fd, self.lines) :]
        self.written = time.monotonic()


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
    with open("/proc/self/statm", "rb", buffering=0) as statm:  # noqa: PTH123
        return int(statm.read(64).split()[0]) * resource.getpagesize()


def judge_job(job: dict[str, Any], fds: list[int], kind: str, link: socket.socket) -> bool:
    """Judge one suite, here if it cannot leave anything behind, else in a fork. False when it needs another's fork.

    Only "asserts" reads tests, and it never forks: a fork has in its memory whatever this process has held, the tests
    of earlier jobs too, and could find them there.
    """
    try:
        if kind == "asserts":
            return judge_suite(job, fds, kind)
        child = os.fork()
        if child == 0:
            judge_in_fork(job, fds, kind, link)
        os.waitpid(child, 0)
        os.close(fds[0])
        return True
    finally:
        for fd in fds[1:]:
            os.close(fd)


def judge_in_fork(job: dict[str, Any], fds: list[int], kind: str, link: socket.socket) -> NoReturn:
    """The life of a fork: judges in the job's folder."""
    try:
        link.close()
        limits.renew_standard_files()
        os.setpgid(0, 0)
        os.chdir(job["folder"])
        judge_suite(job, fds, kind)
    finally:
        os._exit(0)


def judge_suite(job: dict[str, Any], fds: list[int], kind: str) -> bool:
    """Judge one suite in this process. False, and nothing is judged, where "asserts" got one that is not simple."""
    tests, verdict, other = fds
    given = json.loads(read_all(tests))
    suite_job = SuiteJob(Report(verdict, given["nonce"]), SuiteText(given["tests"], given["kinds"]))
    if kind != "asserts":
        suite_job.report.patience_seconds = 0.0  # a timeout kills a fork: what was said must be out by then
    random.seed()
    try:
        suite: RunnableSuite
        if kind == "pytest":
            from burnish.sandbox.inside.pytests import PytestSuite

            suite = PytestSuite(given["tests"])
        else:
            suite = AssertSuite(given["tests"])
        if kind == "asserts" and not suite.is_simple:
            return False
        if job["shared"]:
            suite_job.judge_together(read_all(other), suite)
        else:
            suite_job.judge_apart(Channel(other), suite)
    except UNREADABLE as error:
        suite_job.report.say(problem=f"the tests cannot be read: {type(error).__name__}: {error}")
    suite_job.report.write()
    return True


@dataclass
class SuiteJob:
    """The tests of one job, and the report on them."""

    report: Report
    text: SuiteText

    def judge_apart(self, channel: Channel, suite: RunnableSuite) -> None:
        """Judge code that runs in another process."""
        link = self.report.link = Link(channel, self.text)
        try:
            kind, *rest = channel.receive()
            if kind == "broken":
                self.report.say(broken=str(rest[0]))
                return
            solution = Solution(link, rest[0], rest[1])
        except (Gone, ValueError, LookupError, TypeError, AttributeError) as error:
            self.report.say(broken=str(error))
            return
        self.judge(solution, suite)

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
        self.judge(solution, suite)

    def judge(self, solution: types.ModuleType, suite: RunnableSuite) -> None:
        """Run the suite, unless a function is asked for and the code has a class in its place."""
        sys.modules["solution"] = solution
        try:
            functions = [name for name, kind in self.text.kinds.items() if kind == "function"]
            wrong = next((name for name in functions if is_own_class(getattr(solution, name, None))), "")
            if wrong:
                self.report.say(problem=f"the task asks for a function {wrong}, and the code has a class of that name")
            else:
                suite.judge(solution, self.report.say)
        except (Gone, CannotCross) as error:
            self.report.say(problem=str(error))
        finally:
            sys.modules.pop("solution", None)
            sys.modules.pop("tests", None)
        if self.report.link and self.report.link.stuck:
            self.report.say(again=self.report.link.stuck)
        self.report.say(end=self.report.nonce)


def is_own_class(value: object) -> bool:
    """Whether a name of the code is a class that no other module has. Any other callable will do as a function."""
    return isinstance(value, RemoteClass) or (isinstance(value, type) and value not in NAMES)
