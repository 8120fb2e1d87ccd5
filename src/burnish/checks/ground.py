"""Where a version meets its tests: alone in a cell, or in the place of the file it repairs in a project."""

from collections.abc import Sequence
from typing import Protocol

from burnish.checks.suite import Suite
from burnish.checks.tests import grade
from burnish.events import Graded
from burnish.sandbox.sandbox import Sandbox


class Ground(Protocol):
    """A place to try a whole module in. Code runs in the sandbox behind it and nowhere else."""

    level: str
    """One line for reports: which protections are active."""

    def grade(self, module: str, suite: Suite, disputed: tuple[str, ...] = ()) -> Graded:
        """What every undisputed test says about the module. Raises SandboxError."""
        ...

    def behave(self, module: str, calls: Sequence[str]) -> tuple[str, ...]:
        """What each call, an expression over the module's names, gives: its value or its error, as text.

        Ranks versions, and never decides: the values share a process with the code. One answer for each call.
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

    def behave(self, module: str, calls: Sequence[str]) -> tuple[str, ...]:
        """All calls in one process, a fresh one."""
        from burnish.checks.behaviour import behave

        return behave(module, calls, self._sandbox)
