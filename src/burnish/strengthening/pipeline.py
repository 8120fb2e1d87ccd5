"""Strengthens the tests of a project: tries its mutants, looks for calls that tell, and proves what came of it."""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from burnish.checks.bench.bench import ProjectBench, UsualRun
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.mutation.mutate_project import EQUIVALENT, NOTICED, MutantPlan, MutationRun, score_mutants
from burnish.checks.verdict import Watcher
from burnish.errors import AttemptError, CheckError, SetupProblem
from burnish.events import BaseEvent, Decided, Evidence, Mutated, NewTest, Strengthened, Survivor
from burnish.events.checks import describe_equivalent
from burnish.strengthening.docstring_examples import find_contradictions
from burnish.strengthening.generate import (
    NO_TIME,
    AskSamples,
    FunctionTests,
    Obstacle,
    PassedOver,
    ProposedTest,
    generate_tests,
    only_new,
)
from burnish.strengthening.new_file import NewFile, make_file
from burnish.strengthening.oracle import Samples
from burnish.strengthening.project import Scope, WeakFunction, weak_functions
from burnish.strengthening.prove import ProjectTrial, Proof
from burnish.tasks.repair import repairable_names
from burnish.tasks.static_analysis import find_entry_points
from burnish.text import plural

TRYING, LOOKING = 0.4, 0.75
"""The share of the time after which no further mutant is tried, and after which no further call is looked for."""
LEAST_SECONDS = 10.0
"""For the proof, however late it is."""
MOST_DOORS = 3
"""Functions through which a private one is tried."""
NO_DOOR = PassedOver(Obstacle.UNCALLABLE, "it is private, and nothing public of its module leads to it")
PASS_OVER, REPAIR = "pass over", "repair"
"""What is decided on about a function: it is left as it is, or somebody should look at it."""


@dataclass(frozen=True)
class StrengthenSettings:
    """How a project is strengthened."""

    seconds: float
    pinned: bool
    """Whether tests may say what the code gives now."""
    sandbox: str
    suite_seconds: float
    """What the project's tests take as they are."""


@contextlib.contextmanager
def watch_step(watch: Watcher, name: str) -> Iterator[list[str]]:
    """One step, as somebody who waits sees it; what is put into the list is its figure."""
    started = time.monotonic()
    figures: list[str] = []
    watch.begin(name)
    yield figures
    evidence = Evidence(check=name, verdict="passed", why="", figure=", ".join(figures))
    watch.finish(evidence, time.monotonic() - started)


@dataclass
class Pipeline:
    """One run of it, and what came of it so far."""

    scope: Scope
    context: CheckContext
    """Where the project's code and tests run."""
    settings: StrengthenSettings
    emit: Callable[[BaseEvent], None]
    """Puts events on record."""
    watch: Watcher = field(default_factory=Watcher)
    ask_samples: AskSamples = lambda function, ground: Samples()
    """Nobody is asked unless this says whom."""
    began: float = field(default_factory=time.monotonic)
    before: MutationRun = field(default_factory=MutationRun)
    """What became of the mutants on the tests as they are."""
    found: list[FunctionTests] = field(default_factory=list)
    against: list[str] = field(default_factory=list)
    """Where somebody says something else than the code."""
    proof: Proof = field(default_factory=Proof)

    def run(self, plan: MutantPlan) -> None:
        """Take all steps; what each found goes on record as it is found."""
        self.try_mutants(plan)
        proposed = self.generate()
        if proposed:
            self.prove(proposed)
        self.emit(
            Strengthened(
                version=0,
                tests=self.tests,
                exposing=tuple(self.against),
                noticed=self.noticed,
                pinned=len(self.proof.pinned),
                alike=self.alike,
                seconds=round(time.monotonic() - self.began, 3),
            )
        )

    def try_mutants(self, plan: MutantPlan) -> None:
        """Which mutants the tests notice as they are, counted as `check` counts them."""
        with watch_step(self.watch, "mutants") as figures:
            self.context.tell = lambda done, total: self.watch.advance("mutants", done, total)
            try:
                self.before = before = score_mutants(self.scope.project, self.context, plan)
                if before.problem and not before.count(EQUIVALENT):
                    raise CheckError(before.problem)
            except CheckError as error:
                raise SetupProblem(f"No mutant could be tried: {error}. Look at the tests: python -m pytest") from error
            figures.append(before.figure() if before.tried else "none that counts")
        self.emit(
            Mutated(
                version=0,
                mutants=before.tried,
                noticed=before.count(*NOTICED),
                figure=before.figure() if before.tried else "",
                equivalent=before.count(EQUIVALENT),
                inputs=before.inputs,
                survivors=tuple(Survivor(key=one.key, line=one.changed, said=one.said()) for one in before.unnoticed),
                seconds=round(time.monotonic() - self.began, 3),
            )
        )

    def generate(self) -> list[ProposedTest]:
        """Tests to try, function by function; and what docstrings and samples say against the code."""
        functions = list(weak_functions(self.scope, self.before.unnoticed))
        with watch_step(self.watch, "inputs") as figures:
            for source, text in self.scope.texts.items():
                names = [name for name in repairable_names(text) if self.scope.function in ("", name)]
                with contextlib.suppress(AttemptError):
                    for name, sentence in find_contradictions(text, names, self._ground(source)):
                        self._report_against(source, name, [sentence])
            for place, function in enumerate(functions):
                self.watch.advance("inputs", place, len(functions))
                self.found.append(self.search_function(function))
            proposed = [test for one in self.found for test in one.proposed]
            figures.append(f"{plural(len(proposed), 'test')} to try")
        for one in self.found:
            self._report_against(one.function.source, one.function.name, one.against)
        return only_new(proposed)

    def _report_against(self, source: Path, function: str, sentences: Sequence[str]) -> None:
        """Keep what speaks against the code, and say what to type if it is right."""
        if sentences:
            self.against += sentences
            line = f"burnish fix {source} --function {function}"
            self.emit(Decided(choice=REPAIR, reason=f"if the code of {function} is wrong there, type: {line}"))

    def search_function(self, function: WeakFunction) -> FunctionTests:
        """Search from each place that a test may call the function from; where nothing could be tried, say why."""
        whole = FunctionTests(function, passed_over=NO_DOOR)
        left, ground = function.survivors, self._ground(function.source)
        until, pinned = self.began + LOOKING * self.settings.seconds, self.settings.pinned
        for door in find_entry_points(function.text, function.name, self.scope.test_texts)[:MOST_DOORS]:
            called = replace(function, name=door, survivors=left)
            found = generate_tests(called, ground, self.scope.test_texts, self.ask_samples, until, pinned)
            if found.passed_over:
                if whole.passed_over not in (None, NO_TIME):
                    whole.passed_over = found.passed_over
                continue
            whole.proposed += found.proposed
            whole.against += found.against
            whole.alike, whole.in_words, whole.passed_over = found.alike, found.in_words, None
            left = tuple(mutant for mutant in left if mutant.key in found.alike)
            if not left:
                break
        if whole.passed_over:
            many = plural(len(function.survivors), "unnoticed change")
            self.emit(Decided(choice=PASS_OVER, reason=f"{function.name}, with {many}: {whole.passed_over.why}"))
        return whole

    def prove(self, proposed: Sequence[ProposedTest]) -> None:
        """Keep what holds."""
        with watch_step(self.watch, "new tests") as figures:
            files: list[NewFile] = []
            for source in dict.fromkeys(one.function.source for one in proposed):
                own = [one for one in proposed if one.function.source == source]
                module, _ = self._ground(source).import_name()
                files.append(make_file(source, module, own, self.scope))
            left = max(LEAST_SECONDS, self.settings.seconds - (time.monotonic() - self.began))
            mutants = {mutant.key: mutant for mutant in self.before.unnoticed}
            trial = ProjectTrial(self.scope, mutants, self.settings.sandbox, self.settings.suite_seconds, left)
            self.proof = proof = trial.prove(files)
            figures.append(f"{len(self.tests)} kept, {len(proof.noticed | proof.pinned)} more noticed")

    def _ground(self, source: Path) -> ProjectBench:
        """Where versions of one source are tried; the context is lent to it, so there is nothing to close."""
        return ProjectBench(
            self.scope.project, source, usual=UsualRun(self.settings.suite_seconds), context=self.context
        )

    @property
    def noticed(self) -> int:
        """Mutants that are noticed now, without pinned tests."""
        return self.before.count(*NOTICED) + len(self.proof.noticed)

    @property
    def alike(self) -> tuple[str, ...]:
        """The mutants that no call told apart."""
        return tuple(key for one in self.found for key in one.alike)

    @property
    def tests(self) -> tuple[NewTest, ...]:
        """The new tests, each with the mutants that the new files really notice."""
        told = self.proof.noticed | self.proof.pinned
        news = [one.new for file in self.proof.files for one in file.tests.values()]
        return tuple(
            new.model_copy(update={"notices": tuple(key for key in new.notices if key in told)}) for new in news
        )

    def render_files(self) -> dict[Path, str]:
        """The new files, by their paths below the project's root."""
        mutants = {mutant.key: mutant for mutant in self.before.unnoticed}
        return {file.path: file.render(mutants) for file in self.proof.files}

    def summarise(self) -> str:
        """All figures in one line."""
        count, in_words = len(self.tests), sum(one.in_words for one in self.found)
        pinned = f" ({len(self.proof.pinned)} more only by pinned tests)" if self.proof.pinned else ""
        passed_over = Counter[Obstacle]()
        for one in self.found:
            if one.passed_over:
                passed_over[one.passed_over.obstacle] += len(one.function.survivors)
        parts = [
            f"{self.before.figure()}: {self.before.describe()}" if self.before.tried else "",
            describe_equivalent(self.before.count(EQUIVALENT), self.before.inputs),
            f"{plural(count, 'new test')}: {self.noticed} noticed{pinned}" if count else "no new test",
            f"{len(self.alike)} that no input told from the code" if self.alike else "",
            f"{in_words} only in the words of an error" if in_words else "",
            *(f"{many} in functions {kind}" for kind, many in passed_over.items()),
            plural(len(self.against), "contradiction") if self.against else "",
            f"{time.monotonic() - self.began:.0f} s",
        ]
        return "; ".join(part for part in parts if part)
