"""Where a version meets its tests: alone in a cell, or in the place of the file it repairs in a project."""

import time
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Protocol

from burnish.checks import behaviour
from burnish.checks.fingerprint import Fingerprint
from burnish.checks.suite import Suite
from burnish.checks.tests import grade
from burnish.events import Graded
from burnish.sandbox.sandbox import Sandbox

EDIT_SECONDS = 0.4
"""An edit that is slower than this has made an endless loop, or is not worth waiting for."""
IMPORT_SECONDS = 2.0
"""What packages may take to be imported, each time anew."""
MOST_PASSING = 100


class Ground(Protocol):
    """A place to try a whole module in. Code runs in the sandbox behind it and nowhere else."""

    level: str
    """One line for reports: which protections are active."""

    def grade(self, module: str, suite: Suite, disputed: tuple[str, ...] = ()) -> Graded:
        """What every undisputed test says about the module. Raises SandboxError."""
        ...

    def passes(self, module: str, suite: Suite) -> bool:
        """Whether every given test passes, as fast as this place can tell: for trying many small edits."""
        ...

    def passing(
        self, modules: Sequence[str], suite: Suite, seconds: float = 20.0, most: int = MOST_PASSING
    ) -> tuple[int, ...]:
        """The same for many: the places of the first that seem to pass, found in so many seconds at most.

        A filter and no verdict: what passes is to be graded. In a project this is the fast way. Raises SandboxError.
        """
        ...

    def fingerprint(self, suite: Suite) -> Fingerprint:
        """The files of the project's tests as they are now; others than the suite's prove nothing."""
        ...

    def test_texts(self, suite: Suite) -> tuple[str, ...]:
        """The files of tests that the suite names, as text: to learn from how they call the code."""
        ...

    def behave_all(self, modules: Mapping[int, str], calls: Sequence[str]) -> dict[int, tuple[str, ...]]:
        """What each call, an expression over a module's names, gives there: its value or its error, as text.

        Ranks versions, and never decides: the values share a process with the code. One answer for each call; each
        module has a process of its own.
        """
        ...


class Alone:
    """The module by itself, with the tests of the suite."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.level = sandbox.level
        self._sandbox = sandbox

    def grade(self, module: str, suite: Suite, disputed: tuple[str, ...] = ()) -> Graded:
        """Every undisputed test, each with its own name."""
        return grade(module, suite, self._sandbox, disputed)

    def passes(self, module: str, suite: Suite) -> bool:
        """Plain asserts as a script, without pytest; the first that fails ends it."""
        script = suite.script()
        if script:
            return self._sandbox.grade(module, script, self._edit_seconds, dict(suite.kinds)).all_passed
        return self.grade(module, suite.model_copy(update={"model": ()})).all_passed

    @property
    def _edit_seconds(self) -> float:
        return EDIT_SECONDS + (IMPORT_SECONDS if getattr(self._sandbox, "layer", None) else 0.0)

    def passing(
        self, modules: Sequence[str], suite: Suite, seconds: float = 20.0, most: int = MOST_PASSING
    ) -> tuple[int, ...]:
        """One after the other."""
        deadline = time.monotonic() + seconds
        good = (place for place, one in enumerate(modules) if time.monotonic() < deadline and self.passes(one, suite))
        return tuple(islice(good, most))

    def fingerprint(self, suite: Suite) -> Fingerprint:
        """Nothing: all tests are in the suite itself."""
        return ()

    def test_texts(self, suite: Suite) -> tuple[str, ...]:
        """The user's own file, where there is one."""
        return (suite.file,) if suite.file else ()

    def behave_all(self, modules: Mapping[int, str], calls: Sequence[str]) -> dict[int, tuple[str, ...]]:
        """All modules for the cost of one start."""
        return behaviour.behave_all(modules, calls, self._sandbox)
