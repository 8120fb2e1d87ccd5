"""Mutants of one module and the tests beside it, as a run of the agent needs them: which of them nobody notices."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from burnish.checks.final import CODE, TESTS, project_of
from burnish.checks.lab import Lab
from burnish.checks.mutation.maker import MAKER, Maker
from burnish.checks.mutation.mutant import Mutant
from burnish.checks.mutation.score import NOTICED
from burnish.checks.mutation.survey import Survey, survey
from burnish.errors import BurnishError
from burnish.events import Frozen


class Unnoticed(Frozen):
    """A mutant as a whole module."""

    key: str
    line: int
    said: str
    """The change in a few words."""
    module: str


class Tried(Frozen):
    """What became of the mutants of one module."""

    mutants: int = 0
    """How many were tried."""
    noticed: int = 0
    unnoticed: tuple[Unnoticed, ...] = ()
    why: str = ""
    """Where nothing could be tried: why."""


class Mutations:
    """Breaks a module in small ways and says which of them its tests do not notice.

    `close` may come from another thread and ends it at once.
    """

    def __init__(self, sandbox: str = "auto", maker: Maker = MAKER, layer: Path | None = None) -> None:
        self.layer = layer
        """Packages that the code may import."""
        self._sandbox = sandbox
        self._maker = maker
        self._lab: Lab | None = None
        self._closed = False

    def of(self, code: str, tests: str) -> Tried:
        """Try the mutants of the code with the text of its test file; a place that cannot be opened is said."""
        with tempfile.TemporaryDirectory(prefix="burnish-mutants-") as folder:
            root = Path(folder).resolve()
            (root / CODE).write_text(code, "utf-8", "replace")
            (root / TESTS).write_text(tests, "utf-8", "replace")
            try:
                found = self._survey(root)
            except BurnishError as error:
                found = Survey(problem=str(error))
        if found.problem:
            return Tried(why=found.problem)
        missed = tuple(whole(mutant, code) for mutant in found.unnoticed)
        return Tried(mutants=found.score.tried, noticed=found.score.of(*NOTICED), unnoticed=missed)

    def again(self, code: str, keys: Iterable[str]) -> tuple[Unnoticed, ...]:
        """The mutants of these keys, made anew; nothing is run. Raises CheckError."""
        made = {mutant.key: mutant for mutant in self._maker.mutants(CODE, code, everything=True)}
        return tuple(whole(made[key], code) for key in keys if key in made)

    def _survey(self, root: Path) -> Survey:
        project = project_of(root, self.layer)
        with Lab(project, self._sandbox) as self._lab:
            if self._closed:
                return Survey(problem="it was broken off")
            return survey(project, self._lab, self._maker)

    def use_layer(self, layer: Path) -> None:
        """From now on the code may import what is in this layer."""
        self.layer = layer

    def close(self) -> None:
        """End every process that is at work."""
        self._closed = True
        if self._lab:
            self._lab.close()


def whole(mutant: Mutant, code: str) -> Unnoticed:
    """The mutant with all of its module around it."""
    return Unnoticed(key=mutant.key, line=mutant.changed, said=mutant.said(), module=mutant.module(code))
