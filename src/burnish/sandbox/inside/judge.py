"""Judges code by tests: the first process of a grading job."""

import json
import os
import sys
import types
from typing import Any

from burnish.sandbox.inside.asserts import AssertSuite
from burnish.sandbox.inside.work import read_all


class Report:
    """Writes the verdict, one JSON line a fact, straight to Burnish."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def say(self, **fact: Any) -> None:
        """Write one fact."""
        os.write(self.fd, json.dumps(fact).encode() + b"\n")


def main(job: dict[str, Any], fds: list[int]) -> None:
    """Judge in one shared process."""
    code_fd, tests_fd, verdict_fd = fds
    report = Report(verdict_fd)
    report.say(shared=True)
    code = read_all(code_fd).decode(errors="surrogatepass")
    given = json.loads(read_all(tests_fd))
    solution = types.ModuleType("solution")
    sys.modules["solution"] = solution
    try:
        exec(compile(code, "solution.py", "exec"), solution.__dict__)
    except BaseException as error:
        report.say(problem=f"the code cannot be imported: {type(error).__name__}: {error}")
        return
    if given["pytest"]:
        from burnish.sandbox.inside.pytests import PytestSuite

        PytestSuite(given["tests"]).judge(report.say)
    else:
        AssertSuite(given["tests"]).judge(vars(solution), report.say)
    report.say(end=given["nonce"])
