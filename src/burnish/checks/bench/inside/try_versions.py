"""Runs in a cell: which of many versions of a module seem to pass a script of asserts, the first of them first.

Versions are tried one after the other in a few processes, each in a module of its own: a version costs less than a
fork. That makes this a filter and no judge: a version could spoil those after it, and share what they expect. What
passes here is graded. One that kills or blocks its process loses only itself; a new process goes on with the next.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from types import CodeType, ModuleType
from typing import Any

from .answer_calls import SLOW, lower_limits, run_within
from .children import Allowance, Nursery
from .facts import Fact, read_job, say

A_CHILD = 50
"""Versions that one process tries."""
PASSED = "passed"
MOST_SLOW = 2
"""Slow versions of a process that get their whole time; the later ones get a third: mostly they loop as well."""
LOST = 3
"""After so many times its time a version is ended with its process."""


def main() -> None:
    """Read the job, try the versions, tell the places of those that pass."""
    job = read_job()
    say(1, job["nonce"], {"passing": find_passing(job)})
    os._exit(0)


def find_passing(job: Fact) -> list[int]:
    """The places of the first `most` versions that pass, as far as the time goes."""
    ends = time.monotonic() + job["seconds"]
    script, count = compile(job["script"], "tests", "exec"), len(job["versions"])
    waiting = [(first, min(first + A_CHILD, count)) for first in range(0, count, A_CHILD)]
    passing: list[int] = []
    nursery = Nursery("children", job["at_once"])
    while waiting or nursery.living:
        while waiting and not nursery.full:
            first, last = waiting.pop(0)
            left = ends - time.monotonic()
            if left <= 0 or len(passing) >= job["most"]:
                waiting.clear()
                break
            work = partial(try_all, job["versions"][first:last], script, job["each_seconds"])
            nursery.start((first, last), work, Allowance(left, left, job["silent_seconds"]))
        for child, _ in nursery.collect_ended():
            first, last = child.name
            said = [fact["was"] for fact in child.facts if "was" in fact]
            passing += [first + place for place, was in enumerate(said) if was == PASSED]
            if (after := first + len(said) + 1) < last:  # the one it died of is passed over
                waiting.insert(0, (after, last))
    return sorted(passing)[: job["most"]]


def try_all(versions: list[str], script: CodeType, seconds: float) -> Iterator[Fact]:
    """In a process of their own: each version against the script."""
    lower_limits()
    slow = 0
    for version in versions:
        limit = seconds if slow < MOST_SLOW else seconds / 3
        # The first clock is heard between two steps of Python, the second ends a process that is lost in C.
        signal.setitimer(signal.ITIMER_PROF, LOST * seconds)
        was = run_within(limit, partial(try_version, version, script), signal.ITIMER_VIRTUAL)
        slow += was == SLOW
        yield {"was": was}


def try_version(version: str, script: CodeType) -> str:
    """Whether nothing in the script complains about this version; an error is a complaint, and passed on."""
    random.seed(0)
    module = sys.modules["solution"] = ModuleType("solution")
    exec(compile(version, "solution.py", "exec"), vars(module))
    scope: dict[str, Any] = {"__name__": "tests"}
    exec(script, scope)
    return PASSED
