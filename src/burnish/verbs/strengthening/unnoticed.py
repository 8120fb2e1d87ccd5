"""Small changes of a project's code, and which of them no test notices; function by function."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.checks.lab import Lab
from burnish.checks.mutation.maker import MAKER
from burnish.checks.mutation.mutant import Mutant
from burnish.checks.mutation.score import NOTICED, UNNOTICED
from burnish.checks.mutation.trial import try_mutants
from burnish.checks.project import Project
from burnish.errors import CheckError, SetupProblem
from burnish.events import Survivor
from burnish.verbs.strengthening.scope import Scope

SEED = 5


@dataclass(frozen=True)
class Spot:
    """One function and the changes of it that go unnoticed."""

    source: Path
    function: str
    text: str
    """Of the whole source."""
    survivors: tuple[Mutant, ...]

    def modules(self) -> dict[str, str]:
        """The whole source with each of the changes, by mutmut's names."""
        return {mutant.key: mutant.module(self.text) for mutant in self.survivors}


@dataclass(frozen=True)
class Tried:
    """What became of the changes."""

    mutants: tuple[Mutant, ...] = ()
    outcomes: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def noticed(self) -> int:
        """How many are noticed."""
        return sum(word in NOTICED for word in self.outcomes.values())

    @property
    def tried(self) -> int:
        """How many have a verdict."""
        return sum(word in (*NOTICED, *UNNOTICED) for word in self.outcomes.values())

    @property
    def survivors(self) -> tuple[Mutant, ...]:
        """Those that go unnoticed, by file and line."""
        missed = [mutant for mutant in self.mutants if self.outcomes[mutant.key] in UNNOTICED]
        return tuple(sorted(missed, key=lambda one: (one.file, one.changed, one.key)))

    @property
    def told(self) -> tuple[Survivor, ...]:
        """The same for the record."""
        return tuple(Survivor(key=one.key, line=one.changed, said=one.said()) for one in self.survivors)


def mutants_of(scope: Scope) -> list[Mutant]:
    """Every change that mutmut makes of the sources; raises SetupProblem where there is none."""
    made: dict[str, Mutant] = {}
    for source, text in scope.texts.items():
        try:
            found = MAKER.mutants(str(source), text)
        except CheckError as error:
            raise SetupProblem(f"{error}. Name sources that are Python, or leave this one out.") from error
        made |= {mutant.key: mutant for mutant in found if scope.function in ("", mutant.name, mutant.owner)}
    if not made:
        what = f"function {scope.function!r}" if scope.function else "code"
        raise SetupProblem(
            f"There is nothing to change in the {what}: small changes are made inside functions without decorators, at "
            f"the top of a module or in a class there. Name a file that has some: --for FILE.py"
        )
    mutants = sorted(made.values(), key=lambda mutant: mutant.key)
    random.Random(SEED).shuffle(mutants)  # what the time is too short for is then nobody's choice
    return mutants


def try_all(project: Project, lab: Lab, mutants: Sequence[Mutant], seconds: float) -> Tried:
    """Which of the mutants the project's tests notice. Raises CheckError where none could be tried."""
    trial = try_mutants(project, lab, mutants, seconds)
    if trial.problem:
        raise CheckError(trial.problem)
    return Tried(tuple(mutants), trial.outcomes, tuple(trial.notes))


def spots_of(scope: Scope, survivors: Sequence[Mutant]) -> Iterator[Spot]:
    """The survivors by function, in the order of the text."""
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in survivors:
        groups.setdefault((mutant.file, mutant.name), []).append(mutant)
    for (file, name), mutants in groups.items():
        yield Spot(Path(file), name, scope.texts[Path(file)], tuple(mutants))
