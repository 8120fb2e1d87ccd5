"""One run of all tests without a mutant: do they pass, how long does each take, which functions does each run?"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import pytest

from .patch import Hook

LONGEST = 600


class Baseline:
    """A pytest plugin that goes with that run. What a shared fixture runs, it runs for each test that uses it."""

    def __init__(self, hook: Hook) -> None:
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
        """Remember the first failure."""
        if report.failed and not self.why:
            self.why = f"{report.nodeid}: {reason(report)}"[:LONGEST]

    def run(self, session: Any, items: list[Any]) -> dict[str, Any]:
        """What each test runs and how long it takes, by its place in the list; or the first that fails."""
        tests = []
        for item, following in zip(items, [*items[1:], None]):  # noqa: B905
            self.hook.hits.clear()
            wall, cpu = time.perf_counter(), time.process_time()
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.why or session.testsfailed:
                return {"failed": self.why or item.nodeid}
            hits = self.hook.hits.union(*(self.shared.get(name, ()) for name in getattr(item, "fixturenames", ())))
            tests.append((sorted(hits), time.perf_counter() - wall, time.process_time() - cpu))
        return {"tests": tests}


def reason(report: Any) -> str:
    """What was raised, from its first line on; of a doctest, whose report has no such part, the last line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = [line.strip() for line in str(crash.message if crash else report.longrepr).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith("Use -v to get")] if crash else lines[-1:]
    return " ".join(telling) or "failed"
