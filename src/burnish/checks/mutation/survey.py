"""What became of the mutants of a project: the check judges it, and whoever makes tests begins with it."""

import random
import time
from dataclasses import dataclass, field

from burnish.checks.lab import Lab
from burnish.checks.mutation.maker import MAKER, Maker
from burnish.checks.mutation.mutant import Mutant
from burnish.checks.mutation.score import UNNOTICED, Score
from burnish.checks.mutation.trial import Trial, try_mutants
from burnish.checks.project import Project
from burnish.checks.project_run import has_tests
from burnish.errors import CheckError

SEED = 5
MAKING = 0.5
"""The share of the budget in which mutants are made; files that are not reached then are not tried."""


@dataclass(frozen=True)
class Survey:
    """The mutants, in the order they were tried, and what became of each."""

    mutants: list[Mutant] = field(default_factory=list)
    trial: Trial = field(default_factory=Trial)
    skipped: int = 0
    """Files that were not reached."""
    seconds: float = 0.0
    problem: str = ""
    """Why nothing could be tried; empty when all is well."""

    @property
    def score(self) -> Score:
        """The outcomes as numbers."""
        return Score(self.trial.outcomes)

    @property
    def unnoticed(self) -> list[Mutant]:
        """Those that no test noticed, by file and line."""
        missed = [mutant for mutant in self.mutants if self.trial.outcomes[mutant.key] in UNNOTICED]
        return sorted(missed, key=lambda one: (one.file, one.changed, one.key))


def survey(project: Project, lab: Lab, maker: Maker = MAKER) -> Survey:
    """Make mutants of all sources and try them, within the project's own budget. Raises CheckError."""
    if project.test_command:
        return Survey(problem="mutants are tried with pytest, and this project's tests are run by a command of its own")
    if not has_tests(project):
        return Survey(problem="there are no tests")
    began = time.monotonic()
    mutants, skipped = _make(project, maker, began + MAKING * project.settings.mutation_seconds)
    if not mutants:
        return Survey(problem="there is nothing to mutate")
    trial = try_mutants(project, lab, mutants, project.settings.mutation_seconds)
    early = "" if Score(trial.outcomes).tried else "the time was up before a mutant could be tried"
    return Survey(mutants, trial, skipped, time.monotonic() - began, trial.problem or early)


def _make(project: Project, maker: Maker, deadline: float) -> tuple[list[Mutant], int]:
    """Mutants of all sources in a random order that is always the same, and how many files were not reached."""
    sources = sorted(project.sources)
    random.Random(SEED).shuffle(sources)
    made: dict[str, Mutant] = {}
    while sources and (time.monotonic() < deadline or not made):
        source = sources.pop()
        try:
            text = project.text(source)
        except (OSError, SyntaxError, UnicodeDecodeError) as error:
            raise CheckError(f"{source} cannot be read as Python ({error})") from error
        made.update((mutant.key, mutant) for mutant in maker.mutants(str(source), text, project.generated))
    mutants = sorted(made.values(), key=lambda mutant: mutant.key)
    random.Random(SEED).shuffle(mutants)
    return mutants, len(sources)
