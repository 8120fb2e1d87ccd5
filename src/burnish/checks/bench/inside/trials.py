"""The pytest plugin that tries many versions of functions: one import of everything, then a forked child for each.

A version is another code object for the same function, put in place in a child that runs its tests until one fails.
Mutants come with a `baseline`: the tests run once without any of them, which says what each test runs and how long it
takes. Small edits come without: all tests of the job are run, those first that fail without a repair.
"""

# ruff: noqa: B905, PTH118, S603

from __future__ import annotations

import gc
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

import pytest

from . import patch
from .children import Allowance, Nursery
from .facts import PACKAGE, FactReader
from .reporter import SKIPS, Plugin

ALONE_SECONDS, TIMES = 2.0, 5.0
"""What a fresh process may take to load everything, besides its tests: so long, and so often the time it took here."""
LEAST_CPU_SECONDS, MORE_CPU = 0.5, 6.0
LEAST_WALL_SECONDS, WALL = 2.0, 4.0
"""What tests may take with a version: so long, and so often what they took without, or what they may take of the CPU:
so much that a busy machine makes no verdicts.
"""
LONGEST = 600
SLOW = (signal.SIGXCPU, signal.SIGPROF, signal.SIGALRM)
FRESH = (
    "import os; report = os.dup(1); os.dup2(os.open(os.devnull, os.O_WRONLY), 1); "
    f"from {PACKAGE}.suite import main; main(report)"
)
"""A job whose output carries nothing but its facts."""


class Noticed(BaseException):
    """A test failed: enough to be done with a version, and pytest need not describe how."""


class Trials(Plugin):
    """Tries the versions of a job, in their order, until all are tried or the time is up."""

    def __init__(self, tell: Callable[..., None], job: dict[str, Any]) -> None:
        self.hook = patch.Hook(job["functions"], job["root"])
        super().__init__(tell, job, self.hook if job["baseline"] else None)
        self.hook.active = job["alone"]["version"] if "alone" in job else None
        self.judging = False
        self.imported: set[int] = set()
        self.tests: list[tuple[set[int], float, float]] = []
        """Of each test: the functions it runs, its wall seconds, its CPU seconds."""
        self.nursery = Nursery(os.path.join(job["home"], "children"), job["at_once"])
        self.waiting: deque[tuple[dict[str, Any], bool]] = deque()
        """Versions that are to be tried, and whether in a fresh process."""
        self.needs_port = False
        """True in a child whose tests want a port that they chose: another child may have it."""
        if self.finder:
            self.finder.be_first()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool | None:
        """In place of pytest's own loop. Tests that could not be collected are left to pytest to complain about."""
        if not session.items or (self.job["baseline"] and session.testsfailed):
            return None
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):  # loading is over; children have clocks of their own
            signal.setitimer(timer, 0)
        self.load_seconds = time.process_time()
        sys.addaudithook(self.notice_port)
        self.session, self.items = session, list(session.items)
        session.config.option.maxfail = 0  # the project's own limit would end a child before its verdict
        if "alone" in self.job:
            self.tell(alone=self.run_tests(self.job["alone"]["tests"]))
        elif not self.job["baseline"] or self.run_baseline():
            self.live = patch.live_functions(self.hook)
            gc.collect()
            gc.freeze()  # children share the memory of what is loaded as long as nobody's collector touches it
            began = time.monotonic()
            self.try_all()
            self.tell(trying=time.monotonic() - began)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """In a child the first failure is the last word, unless a mark or a skip may turn it into something else."""
        error = call.excinfo.value if self.judging and call.excinfo is not None else None
        if error is not None and not isinstance(error, SKIPS) and item.get_closest_marker("xfail") is None:
            raise Noticed

    def notice_port(self, event: str, details: tuple[Any, ...]) -> None:
        """Called by Python for many things, `bind` among them. A port that another child has left is made free."""
        if event == "socket.bind" and isinstance(details[1], tuple) and details[1][1:2] != (0,):
            self.needs_port = True
            if details[0].type == socket.SOCK_STREAM:
                details[0].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)

    def run_baseline(self) -> bool:
        """The run without a version, in a child, so that this process stays as it is: nothing has run in it yet."""
        self.imported = set(self.hook.hits)
        if threading.active_count() > 1:
            self.tell(note="threads")
        began = time.monotonic()
        baseline = Baseline(self.hook)
        self.session.config.pluginmanager.register(baseline)
        limit = self.job["test_seconds"]
        self.nursery.start("", lambda: [baseline.run(self.session, self.items)], Allowance(limit, 2 * limit))
        while not (ended := self.nursery.collect_ended()):
            pass
        self.session.config.pluginmanager.unregister(baseline)
        child, ending = ended[0]
        found: dict[str, Any] = child.facts[0] if child.facts else {"failed": f"the whole suite ended with a {ending}"}
        if "tests" not in found:
            self.tell(**found)
            return False
        self.tests = [(set(hits), wall, cpu) for hits, wall, cpu in found["tests"]]
        self.tell(baseline={"tests": len(self.items), "seconds": time.monotonic() - began})
        return True

    def try_all(self) -> None:
        """Each in a child; the last ones may finish when the time is up, but not for long."""
        deadline = time.monotonic() + self.job["trying_seconds"]
        alone = self.job["baseline"] and threading.active_count() > 1
        for version in self.job["versions"]:
            self.waiting.append(({**self.job["functions"][version["function"]], **version}, alone))
        while (self.waiting or self.nursery.living) and time.monotonic() < deadline:
            if self.waiting and not self.nursery.full:
                self.begin(*self.waiting.popleft())
            else:
                self.hear(deadline - time.monotonic())
        last = deadline + self.job["grace_seconds"]
        while self.nursery.living and time.monotonic() < last:
            self.hear(last - time.monotonic())
        self.nursery.close()

    def begin(self, version: dict[str, Any], alone: bool) -> None:
        """One version: its tests, its child."""
        number, tests = version["number"], list(range(len(self.items)))
        cpu_seconds = wall_seconds = self.job.get("tests_seconds", 0.0)
        if self.job["baseline"]:
            touching = [place for place, (hits, _, _) in enumerate(self.tests) if number in hits]
            if not touching and number not in self.imported:
                return self.tell(mutant=version["key"], was="no_tests")
            tests, alone = touching or tests, alone or not touching
            cpu_seconds = sum(self.tests[place][2] for place in tests)
            wall_seconds = sum(self.tests[place][1] for place in tests)
        load = ALONE_SECONDS + TIMES * self.load_seconds if alone else 0.0
        run = self.load_anew if alone else self.put_in_place
        cpu = LEAST_CPU_SECONDS + MORE_CPU * cpu_seconds + load
        wall = LEAST_WALL_SECONDS + WALL * cpu + MORE_CPU * wall_seconds
        return self.nursery.start(
            (version, alone, self.nursery.at_once), lambda: [{"was": run(version, tests)}], Allowance(cpu, wall)
        )

    def hear(self, patience_seconds: float) -> None:
        """Pass on what children said. A mutant that cannot be judged in a forked process gets one of its own.

        From the first that needs a port on, one is tried at a time; those that may have been in each other's way again.
        """
        for child, ending in self.nursery.collect_ended(patience_seconds):
            version, alone, at_once = child.name
            word = child.facts[0].get("was") if child.facts else ending
            if word == "port":
                self.nursery.at_once = self.job["at_once"] = 1
            # What ran on import may have left its result in a constant, which no fork can change.
            again = word == "anew" or (word == "survived" and version["number"] in self.imported)
            if word == "port" or (not child.facts and at_once > self.nursery.at_once):
                self.waiting.append((version, alone))
            elif again and not alone and self.job["baseline"]:
                self.begin(version, alone=True)
            else:
                self.tell(mutant=version["key"], was=word)

    def put_in_place(self, version: dict[str, Any], tests: list[int]) -> str:
        """In a child: swap the function's code and run the tests."""
        try:
            patch.activate(version, self.hook, self.live)
        except SyntaxError:
            return "invalid"
        except Exception:
            return "anew"
        return self.run_tests(tests)

    def run_tests(self, places: list[int]) -> str:
        """Until one fails. Where several are tried at once, "port" if a failure may be the fault of another's port."""
        items = [self.items[place] for place in places if place < len(self.items)]
        word, self.judging = "survived", True
        try:
            for item, following in zip(items, [*items[1:], None]):
                if "each_seconds" in self.job:
                    signal.setitimer(signal.ITIMER_PROF, self.job["each_seconds"])
                self.session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.session.testsfailed:
                    word = "killed"
                    break
        except BaseException:
            word = "killed"
        return "port" if word == "killed" and self.needs_port and self.job["at_once"] > 1 else word

    def load_anew(self, version: dict[str, Any], tests: list[int]) -> str:
        """In a child: a fresh interpreter that loads everything with the version in place.

        One that cannot even be loaded is noticed by every test.
        """
        nonce = secrets.token_hex(16)
        alone = {"version": version, "tests": tests}
        job = {**self.job, "nonce": nonce, "versions": [], "alone": alone, "cache": os.environ["TMPDIR"]}
        fresh = subprocess.run(
            [sys.executable, "-B", "-c", FRESH],
            input=json.dumps(job).encode(),
            stdout=subprocess.PIPE,
            cwd=self.job["home"],
            check=False,
        )
        reader = FactReader(nonce)
        reader(fresh.stdout)
        facts = {key: value for fact in reader.facts for key, value in fact.items()}
        if "alone" in facts or "end" in facts:
            return str(facts.get("alone", "killed"))
        return "timeout" if -fresh.returncode in SLOW else "crash"


class Baseline:
    """A plugin that goes with the run without a version. What a shared fixture runs, it runs for each of its tests."""

    def __init__(self, hook: patch.Hook) -> None:
        self.hook = hook
        self.shared: dict[str, set[int]] = {}
        self.why = ""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, None, None]:
        """Keep apart what a fixture of a class, a module or the session runs."""
        before = set(self.hook.hits)
        self.hook.hits.clear()
        yield
        if fixturedef.scope != "function":
            self.shared.setdefault(fixturedef.argname, set()).update(self.hook.hits)
        self.hook.hits.update(before)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember the first failure from its first line on; of a doctest, whose report has no such part, the last."""
        if not report.failed or self.why:
            return
        crash = getattr(report.longrepr, "reprcrash", None)
        lines = [line.strip() for line in str(crash.message if crash else report.longrepr).splitlines() if line.strip()]
        telling = [line for line in lines if not line.startswith("Use -v to get")] if crash else lines[-1:]
        self.why = f"{report.nodeid}: {' '.join(telling) or 'failed'}"[:LONGEST]

    def run(self, session: Any, items: list[Any]) -> dict[str, Any]:
        """What each test runs and how long it takes, by its place in the list; or the first that fails."""
        tests = []
        for item, following in zip(items, [*items[1:], None]):
            self.hook.hits.clear()
            wall, cpu = time.perf_counter(), time.process_time()
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.why or session.testsfailed:
                return {"failed": self.why or item.nodeid}
            hits = self.hook.hits.union(*(self.shared.get(name, ()) for name in getattr(item, "fixturenames", ())))
            tests.append((sorted(hits), time.perf_counter() - wall, time.process_time() - cpu))
        return {"tests": tests}
