"""Proves new tests before they are kept: each does what it should in every run, and notices mutants.

In a run of the agent the grader says so, for each test by itself; in a project pytest does, in a copy of the project
that holds the new files.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.checks.bench.check_context import open_overlay
from burnish.checks.bench.project_run import run_suite
from burnish.checks.bench.run_calls import run_calls
from burnish.checks.mutation.mutant import Mutant
from burnish.checks.mutation.mutate_project import NOTICED, try_mutants
from burnish.checks.project import Project
from burnish.checks.suite import Suite
from burnish.errors import CheckError
from burnish.sandbox.sandbox import Sandbox
from burnish.strengthening.new_file import NewFile
from burnish.strengthening.project import Scope
from burnish.strengthening.render_assert import are_same
from burnish.strengthening.search import Subject
from burnish.strengthening.set_cover import Candidate

SEEDS = (0, 1)
"""Two runs. The second has other hashes, so that what depends on the order of a set shows; in a project also another
order of tests."""
LONG_SECONDS = 20.0
"""A project's tests that take longer are not run once more beside the new ones."""


def drop_unsteady(candidates: Sequence[Candidate], code: str, sandbox: Sandbox) -> list[Candidate]:
    """Without those whose call gives something else in another order of sets. An example of the task has no call."""
    calls = [one.call for one in candidates if one.call]
    runs = [run_calls({0: code}, calls, sandbox, hash_seed=seed)[0] for seed in SEEDS]
    unsteady = {call for call, *answers in zip(calls, *runs, strict=True) if not are_same(*answers)}
    return [one for one in candidates if one.call not in unsteady]


def prove_by_grading(
    candidates: Sequence[Candidate], subject: Subject, make_suite: Callable[[tuple[str, ...]], Suite], until: float
) -> list[Candidate]:
    """Those that do what they should whenever they are run, with the mutants that each really notices.

    `make_suite` makes a suite of some tests alone. One that exposes the code must fail on it each time; what the task's
    own words say may do either. Raises SandboxError.
    """

    def grade(module: str, tested: Sequence[Candidate]) -> Mapping[str, str]:
        suite = make_suite(tuple(one.test for one in tested))
        return suite.outcomes(subject.ground.grade(module, suite))

    runs = [grade(subject.code, candidates) for _ in SEEDS] if candidates else []
    kept = []
    for one in candidates:
        outcomes, expected = {run[one.test] for run in runs}, one.expectation
        exposes = expected.exposes or (expected.origin == "spec" and outcomes == {"failed"})
        if outcomes == {"failed" if exposes else "passed"}:
            kept.append(replace(one, expectation=replace(expected, exposes=exposes)))
    noticed: dict[str, set[str]] = {one.test: set() for one in kept}
    for mutant in subject.mutants:
        if subject.cancel.is_set() or time.monotonic() > until or not kept:
            break
        for test, outcome in grade(mutant.module, kept).items():
            if outcome != "passed":
                noticed[test].add(mutant.key)
    proven = [replace(one, notices=frozenset(noticed[one.test])) for one in kept]
    return [one for one in proven if one.notices or one.expectation.exposes]


@dataclass(frozen=True)
class Proof:
    """The files that are kept, and what they notice."""

    files: tuple[NewFile, ...] = ()
    noticed: frozenset[str] = frozenset()
    """Mutants that tests notice which somebody vouches for."""
    pinned: frozenset[str] = frozenset()
    """Mutants that only pinned tests notice."""


@dataclass(frozen=True)
class ProjectTrial:
    """Puts new files into a copy of the project, and lets pytest and the mutants speak."""

    scope: Scope
    mutants: Mapping[str, Mutant]
    sandbox: str
    suite_seconds: float
    """What the project's own tests take."""
    seconds: float

    def prove(self, files: Sequence[NewFile]) -> Proof:
        """The files with the tests that hold; a file of which nothing does is left out."""
        for seed in SEEDS:
            passing = self.find_passing(files, seed)
            files = [file.keep(passing[file.path]) for file in files if passing[file.path]]
        wanted = {key for file in files for one in file.tests.values() for key in one.new.notices}
        vouched = [file for file in files if any(one.new.origin != "pinned" for one in file.tests.values())]
        noticed = self.find_noticed(vouched, wanted, pinned=False)
        pinned = self.find_noticed(files, wanted - noticed, pinned=True)
        told = noticed | pinned
        kept = [
            file.keep([name for name, one in file.tests.items() if told.intersection(one.new.notices)])
            for file in files
        ]
        return Proof(tuple(file for file in kept if file.tests), noticed, pinned)

    def find_passing(self, files: Sequence[NewFile], seed: int) -> dict[Path, set[str]]:
        """The new tests that pass, by file: alone the first time, then with the others around them."""
        texts = {file.path: file.render(self.mutants) for file in files}
        if not texts:
            return {}
        project = self._project_with(texts, beside=bool(seed) and self.suite_seconds < LONG_SECONDS)
        with open_overlay(self.scope.project, texts, self.sandbox) as context:
            ran = run_suite(project, context, seed)
        passed = [test.id.partition("::") for test in ran.tests.values() if test.outcome == "passed"]
        return {path: {name for file, _, name in passed if file == str(path)} for path in texts}

    def find_noticed(self, files: Sequence[NewFile], keys: Collection[str], pinned: bool) -> frozenset[str]:
        """Which of the mutants the new tests notice by themselves; none where they could not be tried."""
        if not files or not keys:
            return frozenset()
        texts = {file.path: file.render(self.mutants, pinned) for file in files}
        chosen = [self.mutants[key] for key in sorted(keys)]
        with open_overlay(self.scope.project, texts, self.sandbox) as context:
            try:
                trial = try_mutants(self._project_with(texts, beside=False), context, chosen, self.seconds)
            except CheckError:
                return frozenset()
        return frozenset(key for key, outcome in trial.outcomes.items() if outcome in NOTICED and not trial.problem)

    def _project_with(self, new: Collection[Path], beside: bool) -> Project:
        """The project with the new tests: beside the others, or they alone."""
        tests = self.scope.project.tests if beside else ()
        more = [path for path in new if not any(path.is_relative_to(test) for test in tests)]
        examples = self.scope.project.examples and beside
        return self.scope.project.model_copy(update={"tests": (*tests, *more), "examples": examples})
