"""Judges code by tests, in a helper process of the cell.

The code runs in another process, at the other end of a channel. The verdict goes straight to Burnish, on a descriptor
that only the judge has, and ends with a number used once. A suite that could leave anything behind in this process is
judged in a fork of it.
"""

import gc
import json
import os
import random
import socket
import sys
import types
from typing import Any

from burnish.sandbox.inside import candidate, packets, simple
from burnish.sandbox.inside.asserts import AssertSuite
from burnish.sandbox.inside.channel import Channel, Gone
from burnish.sandbox.inside.command import read_all
from burnish.sandbox.inside.remote import CannotCross, Link, Solution

TIDY_EVERY = 50
"""Jobs between two collections of garbage."""


class Report:
    """Writes the verdict, one JSON line a fact, straight to Burnish."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def say(self, **fact: Any) -> None:
        """Write one fact."""
        data = json.dumps(fact).encode() + b"\n"
        while data:
            data = data[os.write(self.fd, data) :]


def listen(link: socket.socket, kind: str) -> None:
    """The life of a helper: one suite after the other."""
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    if kind == "pytest":
        from burnish.sandbox.inside import pytests

        pytests.rehearse()
    gc.collect()
    gc.freeze()
    packets.send(link, {"ready": True})
    jobs = 0
    while (received := packets.receive(link)) is not None:
        hear(*received, is_pytest=kind == "pytest", link=link)
        packets.send(link, {"done": True})
        jobs += 1
        if jobs % TIDY_EVERY == 0:
            gc.collect()


def hear(job: dict[str, Any], fds: list[int], is_pytest: bool, link: socket.socket) -> None:
    """Judge one suite, here if it cannot leave anything behind, else in a fork."""
    tests, verdict, other = fds
    given = json.loads(read_all(tests))
    try:
        if is_pytest or job["shared"] or not simple.is_simple(given["tests"]):
            judge_in_fork(job, given, verdict, other, link)
        else:
            random.seed()
            judge_apart(Channel(other), given, Report(verdict))
    except OSError:
        pass
    finally:
        os.close(verdict)
        os.close(other)


def judge_in_fork(job: dict[str, Any], given: dict[str, Any], verdict: int, other: int, link: socket.socket) -> None:
    """Judge in a new process, in the job's folder, and wait for its end."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        link.close()
        os.setsid()
        os.chdir(job["folder"])
        random.seed()
        if job["shared"]:
            judge_together(read_all(other), given, Report(verdict))
        else:
            judge_apart(Channel(other), given, Report(verdict))
    finally:
        os._exit(0)


def judge_apart(channel: Channel, given: dict[str, Any], report: Report) -> None:
    """Judge code that runs in another process."""
    link = Link(channel)
    try:
        kind, *rest = channel.receive()
        if kind == "broken":
            report.say(broken=str(rest[0]))
            return
        solution = Solution(link, rest[0], rest[1])
    except (Gone, ValueError, LookupError, TypeError, AttributeError) as error:
        report.say(broken=str(error))
        return
    judge(solution, given, report)
    if link.stuck:
        report.say(again=link.stuck)
        return
    report.say(end=given["nonce"])


def judge_together(code: bytes, given: dict[str, Any], report: Report) -> None:
    """Judge code that shares this process."""
    report.say(shared=True)
    try:
        solution = candidate.load(code)
    except BaseException as error:
        report.say(broken=candidate.describe(error))
        return
    judge(solution, given, report)
    report.say(end=given["nonce"])


def judge(solution: types.ModuleType, given: dict[str, Any], report: Report) -> None:
    """Run the suite."""
    sys.modules["solution"] = solution
    try:
        if given["pytest"]:
            from burnish.sandbox.inside.pytests import PytestSuite

            PytestSuite(given["tests"]).judge(report.say)
        else:
            AssertSuite(given["tests"]).judge(solution, report.say)
    except (Gone, CannotCross) as error:
        report.say(problem=str(error))
    finally:
        sys.modules.pop("solution", None)
        sys.modules.pop("tests", None)
