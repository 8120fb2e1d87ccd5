"""The pytest plugin that tries many versions of one function: one import of everything, then a child for each.

A version is another code object for the same function, put in place in a child that then runs the tests until one
fails. It says which versions are worth a closer look; a verdict is made elsewhere, in a process of its own.
"""

from __future__ import annotations

import gc
import os
import signal
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# In a cell these two, which are the mutation check's, lie beside this file.
from . import patch  # type: ignore[attr-defined]
from .children import Nursery, allowance  # type: ignore[import-not-found]
from .reporter import is_chosen, summary

GRACE_SECONDS = 2.0
LONGEST = 300


class Noticed(BaseException):
    """A test failed: enough to be done with a version, and pytest need not describe how."""


class Versions:
    """Tries the versions of a job, in their order, until all are tried or the time is up."""

    def __init__(self, tell: Callable[..., None], job: dict[str, Any]) -> None:
        self.tell = tell
        self.job = job
        self.doctests = {Path(job["root"], name) for name in job["doctests"]}
        self.reports: list[Any] = []
        folder = os.path.join(os.path.dirname(os.environ["COVERAGE_FILE"]), "children")  # noqa: PTH118, PTH120
        Path(folder).mkdir()
        self.nursery = Nursery(folder, job["at_once"])

    def pytest_pycollect_makemodule(self, module_path: Path, parent: Any) -> Any:
        """A source that was named for its doctests is collected for those and nothing else."""
        if module_path not in self.doctests or parent.config.option.doctestmodules:
            return None
        from _pytest.doctest import DoctestModule

        return DoctestModule.from_parent(parent, path=module_path)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Only what decides; first what fails without a repair, so that most versions are done with soon."""
        first = set(self.job["first"])
        chosen = [item for item in items if is_chosen(item.nodeid, self.job)]
        items[:] = sorted(chosen, key=lambda item: item.nodeid not in first)
        self.tell(plan=[item.nodeid for item in items])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """In place of pytest's own loop."""
        self.session, self.items = session, list(session.items)
        session.config.option.maxfail = 0
        self.hook = patch.Hook(self.job["versions"][:1], self.job["root"])
        self.live = patch.live_functions(self.hook)
        gc.collect()
        gc.freeze()
        if self.items:
            self.try_all()
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """The first failure is the last word, unless a mark or a skip may turn it into something else."""
        error = call.excinfo.value if call.excinfo is not None else None
        skips = (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)
        if error is not None and not isinstance(error, skips) and item.get_closest_marker("xfail") is None:
            raise Noticed(f"{type(error).__name__}: {error}"[:LONGEST])

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep what a phase said."""
        self.reports.append(report)

    def try_all(self) -> None:
        """Each in a child; when the time is up, those that are under way may finish, but not for long."""
        deadline = time.monotonic() + self.job["trying_seconds"]
        limits = allowance(self.job["tests_seconds"], self.job["tests_seconds"])
        for place, version in enumerate(self.job["versions"]):
            while self.nursery.full:
                self.hear(60.0)
            if time.monotonic() >= deadline:
                break
            self.nursery.start(place, lambda version=version: self.tried(version), *limits)
        while self.nursery.living and time.monotonic() < deadline + GRACE_SECONDS:
            self.hear(deadline + GRACE_SECONDS - time.monotonic())
        self.nursery.close()

    def hear(self, patience_seconds: float) -> None:
        """Pass on what children said; one that ran out of time or crashed has failed whatever was under way."""
        for place, said in self.nursery.ended(patience_seconds):
            self.tell(version={"place": place, "said": said})

    def tried(self, version: dict[str, Any]) -> Any:
        """In a child: put the version in place and run the tests until one fails."""
        try:
            patch.activate(version, self.hook, self.live)
        except Exception:
            return "anew"
        said: list[dict[str, Any]] = []
        for item, following in zip(self.items, [*self.items[1:], None]):  # noqa: B905
            self.reports.clear()
            signal.setitimer(signal.ITIMER_PROF, self.job["each_seconds"])
            try:
                self.session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            except BaseException as error:
                return [*said, {"id": item.nodeid, "outcome": "failed", "message": str(error)[:LONGEST]}]
            said.append({"id": item.nodeid, **summary(self.reports)})
            if said[-1]["outcome"] == "failed":
                break
        return said
