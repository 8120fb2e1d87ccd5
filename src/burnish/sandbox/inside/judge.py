"""Judges code by tests: the first process of a grading job.

Forks the process for the code first and reads the tests after, so that what is expected is only in this one.
The verdict goes straight to Burnish on a descriptor that only this process has, and ends with a number used once.
"""

import json
import os
import socket
import sys
import types
from typing import Any

from burnish.sandbox.inside import candidate
from burnish.sandbox.inside.asserts import AssertSuite
from burnish.sandbox.inside.channel import Channel, Gone
from burnish.sandbox.inside.remote import CannotCross, Link, Solution
from burnish.sandbox.inside.work import read_all


class Report:
    """Writes the verdict, one JSON line a fact, straight to Burnish."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def say(self, **fact: Any) -> None:
        """Write one fact."""
        data = json.dumps(fact).encode() + b"\n"
        while data:
            data = data[os.write(self.fd, data) :]


def main(job: dict[str, Any], fds: list[int]) -> None:
    """Judge, with the code in a process of its own unless the job says that they must share one."""
    code, tests, verdict = fds
    report = Report(verdict)
    if job["shared"]:
        judge_together(read_all(code), json.loads(read_all(tests)), report)
        return
    link = fork_candidate(code, keep_out=(tests, verdict))
    judge_apart(link, json.loads(read_all(tests)), report)


def fork_candidate(code: int, keep_out: tuple[int, ...]) -> Channel:
    """Start the process for the code. Of everything that is open here it keeps only its end of the channel."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        try:
            ours.close()
            for fd in keep_out:
                os.close(fd)
            os.setsid()
            candidate.main(read_all(code), Channel(theirs.detach()))
        finally:
            os._exit(0)
    theirs.close()
    os.close(code)
    return Channel(ours.detach())


def judge_apart(channel: Channel, given: dict[str, Any], report: Report) -> None:
    """Judge code that runs in another process."""
    link = Link(channel)
    try:
        kind, *rest = channel.receive()
        if kind == "broken":
            report.say(broken=str(rest[0]))
            return
        solution = Solution(link, rest[0], rest[1])
    except (Gone, ValueError, LookupError, TypeError) as error:
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
