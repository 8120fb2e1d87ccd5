"""Whether new tests are kept: they pass twice in their place, and notice the changes that they were made for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.checks.lab import Lab
from burnish.checks.mutation.mutant import Mutant
from burnish.checks.mutation.score import NOTICED
from burnish.checks.project import Project
from burnish.checks.project_run import run_suite
from burnish.checks.staged import staged
from burnish.errors import CheckError
from burnish.verbs.strengthening.new_file import NewFile
from burnish.verbs.strengthening.scope import Scope
from burnish.verbs.strengthening.unnoticed import try_all

LONG_SECONDS = 20.0
"""Beyond that the other tests are not run once more beside the new ones."""
SEEDS = (0, 1)
"""Two runs: other hashes and another order the second time."""


@dataclass
class Proof:
    """What is kept, and what it notices."""

    files: list[NewFile] = field(default_factory=list)
    noticed: set[str] = field(default_factory=set)
    """Changes that tests notice which somebody vouches for."""
    pinned: set[str] = field(default_factory=set)
    """Changes that only pinned tests notice."""


class Prover:
    """Puts new files into a copy of the project, and lets pytest and the mutants speak."""

    def __init__(
        self, scope: Scope, mutants: Sequence[Mutant], sandbox: str, suite_seconds: float, seconds: float
    ) -> None:
        self.scope, self.sandbox = scope, sandbox
        self.mutants = {mutant.key: mutant for mutant in mutants}
        self.suite_seconds, self.seconds = suite_seconds, seconds

    def proven(self, files: Sequence[NewFile]) -> Proof:
        """The files with what holds; a file of which nothing does is left out."""
        left = self.steady(files)
        proof = Proof()
        wanted = {key for file in left for idea in file.names.values() for key in idea.new.notices}
        vouched = [file for file in left if any(idea.new.origin != "pinned" for idea in file.names.values())]
        proof.noticed = self.noticing(vouched, wanted, pinned=False) if vouched else set()
        proof.pinned = self.noticing(left, wanted - proof.noticed, pinned=True) if left else set()
        proof.files = [file for file in (self.telling(file, proof) for file in left) if file.names]
        return proof

    def steady(self, files: Sequence[NewFile]) -> list[NewFile]:
        """Without the tests that do not pass each time."""
        left = list(files)
        for seed in SEEDS:
            if left:
                passed = self.passing(left, seed, whole=bool(seed) and self.suite_seconds < LONG_SECONDS)
                left = [file.without(file.names.keys() - passed[file.path]) for file in left]
                left = [file for file in left if file.names]
        return left

    def passing(self, files: Sequence[NewFile], seed: int, whole: bool) -> dict[Path, set[str]]:
        """The new tests that pass, by file; with the others around them, or alone."""
        texts = {file.path: file.text(self.mutants) for file in files}
        with staged(self.scope.project, texts, self.sandbox) as lab:
            ran = run_suite(_asked(self.scope.project, list(texts), whole), lab, seed)
        good = [test.id.partition("::") for test in ran.tests.values() if test.outcome == "passed"]
        return {path: {name for file, _, name in good if file == str(path)} for path in texts}

    def noticing(self, files: Sequence[NewFile], keys: Iterable[str], pinned: bool) -> set[str]:
        """Which of the changes the new tests notice by themselves."""
        chosen = [self.mutants[key] for key in sorted(keys)]
        if not chosen:
            return set()
        texts = {file.path: file.text(self.mutants, pinned) for file in files}
        with staged(self.scope.project, texts, self.sandbox) as lab:
            return self._noticed(_asked(self.scope.project, list(texts), False), lab, chosen)

    def _noticed(self, project: Project, lab: Lab, chosen: Sequence[Mutant]) -> set[str]:
        try:
            outcomes: Mapping[str, str] = try_all(project, lab, chosen, self.seconds).outcomes
        except CheckError:
            return set()
        return {key for key, outcome in outcomes.items() if outcome in NOTICED}

    def telling(self, file: NewFile, proof: Proof) -> NewFile:
        """Without the tests whose changes go unnoticed all the same."""
        told = proof.noticed | proof.pinned
        return file.without({name for name, idea in file.names.items() if not told.intersection(idea.new.notices)})


def _asked(project: Project, new: Sequence[Path], whole: bool) -> Project:
    """The project with the new tests: beside the others, or they alone."""
    inside = [path for path in new if whole and any(path.is_relative_to(test) for test in project.tests)]
    more = [path for path in new if path not in inside]
    return project.model_copy(update={"tests": (*(project.tests if whole else ()), *more)})
