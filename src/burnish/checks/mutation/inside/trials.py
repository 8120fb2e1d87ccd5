"""The pytest plugin that takes over once the tests are collected: a run without mutants, then a child for each."""

# ruff: noqa: B905, PTH100, PTH102, PTH103, PTH108, PTH110, PTH109, PTH118, PTH123, SIM115, UP007, UP035, UP045

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import patch
from .baseline import Baseline
from .children import Nursery, allowance
from .clocks import stop_clocks

ALONE_SECONDS, TIMES = 2.0, 5.0
"""What a fresh process may take to load everything, besides its tests: so long, and so often the time it took here."""
GRACE_SECONDS = 5.0
"""How long children that are under way at the end of the budget may go on."""

Say = Callable[[dict[str, Any]], None]


class Noticed(BaseException):
    """A test failed because of the mutant."""


class Trials:
    """Tries the mutants of a job, in their order, until all are tried or the time is up."""

    def __init__(self, job: dict[str, Any], hook: patch.Hook, say: Say) -> None:
        self.job = job
        self.hook = hook
        self.say = say
        self.spoke = False
        self.judging = False
        self.doctests = {os.path.join(job["root"], name) for name in job["doctests"]}
        self.baseline = Baseline(hook)
        self.nursery = Nursery(job["folder"], job["at_once"])
        self.tests: list[tuple[set[int], float, float]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        """Before anything of the project is imported."""
        self.hook.be_first()

    def pytest_pycollect_makemodule(self, module_path: Path, parent: Any) -> Any:
        """A source that was named for its doctests is collected for those and nothing else."""
        if str(module_path) not in self.doctests or parent.config.option.doctestmodules:
            return None
        from _pytest.doctest import DoctestModule

        return DoctestModule.from_parent(parent, path=module_path)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool | None:
        """In place of pytest's own loop. Tests that could not be collected are left to pytest to complain about."""
        if session.testsfailed or not session.items:
            return None
        stop_clocks()
        self.load_seconds = time.process_time()
        self.spoke = True
        self.session, self.items = session, list(session.items)
        session.config.option.maxfail = 0
        if "alone" in self.job:
            self.say({"alone": self.run_tests(self.job["alone"]["tests"])})
        else:
            self.try_all()
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """In a child the first failure is the last word; pytest need not describe it."""
        if self.judging and call.excinfo is not None and is_failure(item, call.excinfo.value):
            raise Noticed

    def try_all(self) -> None:
        """The run without a mutant, and if it is well, the mutants."""
        self.imported = set(self.hook.hits)
        if threading.active_count() > 1:
            self.say({"note": "threads"})
        began = time.monotonic()
        found = self.without_mutants()
        if "tests" not in found:
            return self.say(found)
        self.tests = [(set(hits), wall, cpu) for hits, wall, cpu in found["tests"]]
        self.say({"baseline": {"tests": len(self.items), "seconds": time.monotonic() - began}})
        self.live = patch.live_functions(self.hook)
        gc.collect()
        gc.freeze()
        began = time.monotonic()
        self.try_mutants()
        self.say({"trying": time.monotonic() - began})
        return None

    def without_mutants(self) -> dict[str, Any]:
        """What the baseline says, from a child, so that this process stays as it is: nothing has run in it yet."""
        self.session.config.pluginmanager.register(self.baseline)
        nursery = Nursery(os.path.join(self.job["folder"], "first"), 1)
        os.mkdir(nursery.folder)
        limit = self.job["test_seconds"]
        nursery.start("", lambda: self.baseline.run(self.session, self.items), limit, 2 * limit)
        said: list[Any] = []
        while not said:
            said = [word for _, word in nursery.ended()]
        self.session.config.pluginmanager.unregister(self.baseline)
        return said[0] if isinstance(said[0], dict) else {"failed": f"the whole suite ended with a {said[0]}"}

    def try_mutants(self) -> None:
        """Each in a child; the last ones may finish when the time is up, but not for long."""
        deadline = time.monotonic() + self.job["seconds"]
        waiting = iter(self.job["mutants"])
        for mutant in waiting:
            while self.nursery.full:
                self.hear(60.0)
            if time.monotonic() >= deadline:
                break
            self.begin(mutant, alone=threading.active_count() > 1)
        while self.nursery.living and time.monotonic() < deadline + GRACE_SECONDS:
            self.hear(deadline + GRACE_SECONDS - time.monotonic())
        self.nursery.close()

    def begin(self, mutant: dict[str, Any], alone: bool) -> None:
        """One mutant: its tests, its child."""
        number = mutant["number"]
        tests = [place for place, (hits, _, _) in enumerate(self.tests) if number in hits]
        if not tests and number not in self.imported:
            return self.say({"mutant": mutant["key"], "was": "no_tests"})
        if not tests:
            tests, alone = list(range(len(self.items))), True
        limits = allowance(sum(self.tests[place][2] for place in tests), sum(self.tests[place][1] for place in tests))
        if not alone:
            self.nursery.start((mutant, False), lambda: self.changed(mutant, tests), *limits)
        else:
            load = ALONE_SECONDS + TIMES * self.load_seconds
            more = limits[0] + load, limits[1] + 4 * load
            self.nursery.start((mutant, True), lambda: self.load_anew(mutant, tests), *more)
        return None

    def hear(self, patience_seconds: float) -> None:
        """Pass on what children said. What cannot be judged in a forked process gets one of its own."""
        for (mutant, alone), word in self.nursery.ended(patience_seconds):
            again = word == "anew" or (word == "survived" and mutant["number"] in self.imported)
            if again and not alone:
                self.begin(mutant, alone=True)
            else:
                self.say({"mutant": mutant["key"], "was": word if isinstance(word, str) else "crash"})

    def changed(self, mutant: dict[str, Any], tests: list[int]) -> str:
        """In a child: put the mutant in place and run its tests."""
        try:
            patch.activate(mutant, self.hook, self.live)
        except SyntaxError:
            return "invalid"
        except Exception:
            return "anew"
        return self.run_tests(tests)

    def run_tests(self, places: list[int]) -> str:
        """Until one fails."""
        items = [self.items[place] for place in places if place < len(self.items)]
        self.judging = True
        try:
            for item, following in zip(items, [*items[1:], None]):
                self.session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.session.testsfailed:
                    return "killed"
        except BaseException:
            return "killed"
        return "survived"

    def load_anew(self, mutant: dict[str, Any], tests: list[int]) -> str:
        """In a child: a fresh interpreter that loads everything with the mutant in place."""
        from .run import MODULE, last_word

        job = {**self.job, "mutants": [], "alone": {"mutant": mutant, "tests": tests}, "folder": os.environ["TMPDIR"]}
        fresh = subprocess.run(
            [sys.executable, "-m", MODULE],
            input=json.dumps(job).encode(),
            stdout=subprocess.PIPE,
            cwd=self.job["home"],
            check=False,
        )
        return last_word(fresh.stdout, fresh.returncode, self.job["nonce"])


def is_failure(item: Any, error: BaseException) -> bool:
    """True when nothing can turn this into a skipped test or a failure that was expected."""
    if isinstance(error, (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)):
        return False
    return item.get_closest_marker("xfail") is None
