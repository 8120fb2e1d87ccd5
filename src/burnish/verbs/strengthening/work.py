"""The work itself, in four steps: run the tests, try the mutants, look for calls that tell, prove what came of it."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from burnish.checks.in_project import InProject
from burnish.checks.lab import Lab
from burnish.checks.mutation.mutant import Mutant
from burnish.checks.project_run import Ran
from burnish.checks.watcher import Watcher
from burnish.errors import AttemptError, CheckError, SetupProblem
from burnish.events import BaseEvent, Decided, Evidence, Mutated, NewTest, Strengthened
from burnish.tasks.doors import doors_of
from burnish.tasks.repair import repairable
from burnish.text import counted
from burnish.verbs.strengthening.new_file import NewFile, new_file
from burnish.verbs.strengthening.proof import Proof, Prover
from burnish.verbs.strengthening.sayings import contradictions
from burnish.verbs.strengthening.scope import Scope
from burnish.verbs.strengthening.search import UNCALLED, UNCOMPARED, Found, Idea, only_new, search
from burnish.verbs.strengthening.unnoticed import Spot, Tried, spots_of, try_all
from burnish.verbs.strengthening.voices import Voices

TRYING, LOOKING = 0.4, 0.75
"""The share of the time after which no further mutant is tried, and after which no further call is looked for."""
UNNAMED = "its file or a folder above it has a name that no import can say"
LEAST_SECONDS = 10.0
"""For the proof, however late it is."""
MOST_DOORS = 3
"""Functions through which a private one is tried."""
PRIVATE, TIME = "it is private, and nothing public of its module leads to it", "the time was up"
KINDS = {
    PRIVATE: "that could not be called",
    UNCALLED: "that could not be called",
    UNCOMPARED: "whose answers no test could state",
    TIME: "that there was no time for",
}
OTHERWISE = "that were passed over"
"""Functions for which nothing could be tried, in a few words for the sum; each reason is told in full by itself."""
PASS_OVER, REPAIR = "pass over", "repair"
"""What is decided on about a function: it is left as it is, or somebody should look at it."""

Tell = Callable[[BaseEvent], None]


@dataclass
class Outcome:
    """What came of it all."""

    before: Tried = field(default_factory=Tried)
    proof: Proof = field(default_factory=Proof)
    found: list[Found] = field(default_factory=list)
    against: list[str] = field(default_factory=list)
    """Where somebody says something else than the code."""

    @property
    def told(self) -> set[str]:
        """The changes that new tests notice."""
        return self.proof.noticed | self.proof.pinned

    @property
    def alike(self) -> tuple[str, ...]:
        """The changes that no call told apart."""
        return tuple(key for one in self.found for key in one.alike)

    @property
    def in_words(self) -> int:
        """Changes that seem to touch no more than the words of an error."""
        return sum(one.in_words for one in self.found)

    @property
    def beyond(self) -> dict[str, int]:
        """Unnoticed changes in functions that were passed over, by what kind of reason there was."""
        found: dict[str, int] = {}
        for one in self.found:
            if one.beyond:
                kind = KINDS.get(one.beyond, OTHERWISE)
                found[kind] = found.get(kind, 0) + len(one.spot.survivors)
        return found

    @property
    def tests(self) -> tuple[NewTest, ...]:
        """The new tests, for the record."""
        news = [idea.new for file in self.proof.files for idea in file.names.values()]
        return tuple(
            new.model_copy(update={"notices": tuple(key for key in new.notices if key in self.told)}) for new in news
        )

    def sentence(self, seconds: float) -> str:
        """All figures in one line."""
        count, noticed = len(self.tests), self.before.noticed + len(self.proof.noticed)
        only = f" ({len(self.proof.pinned)} more only by pinned tests)" if self.proof.pinned else ""
        parts = [
            f"{self.before.noticed} of {counted(self.before.tried, 'mutant')} noticed",
            f"{counted(count, 'new test')}: {noticed} noticed{only}" if count else "no new test",
            f"{len(self.alike)} that no input told from the code" if self.alike else "",
            f"{self.in_words} only in the words of an error" if self.in_words else "",
            *(f"{many} in functions {kind}" for kind, many in self.beyond.items()),
            counted(len(self.against), "contradiction") if self.against else "",
            f"{seconds:.0f} s",
        ]
        return "; ".join(part for part in parts if part)


class Strengthening:
    """One run of it: `lab` sees the project, `tell` puts events on record, `watch` hears how far it is."""

    def __init__(self, scope: Scope, lab: Lab, ran: Ran, tell: Tell, watch: Watcher, seconds: float) -> None:
        self.scope, self.lab, self.ran = scope, lab, ran
        self.tell, self.watch, self.seconds = tell, watch, seconds
        self.began = time.monotonic()
        self.outcome = Outcome()

    def go(self, mutants: Sequence[Mutant], voices: Voices | None, pinned: bool, sandbox: str) -> Outcome:
        """All steps; what each found goes on record as it is found."""
        self.try_mutants(mutants)
        ideas = self.look(voices, pinned)
        if ideas:
            self.prove(ideas, sandbox)
        self.tell(
            Strengthened(
                version=0,
                tests=self.outcome.tests,
                exposing=tuple(self.outcome.against),
                noticed=self.outcome.before.noticed + len(self.outcome.proof.noticed),
                pinned=len(self.outcome.proof.pinned),
                alike=self.outcome.alike,
                seconds=round(self.spent, 3),
            )
        )
        return self.outcome

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.began

    def try_mutants(self, mutants: Sequence[Mutant]) -> None:
        """Which changes the tests notice as they are."""
        with self.step("mutants") as said:
            self.lab.tell = lambda done, total: self.watch.moved("mutants", done, total)
            try:
                tried = try_all(self.scope.project, self.lab, mutants, TRYING * self.seconds)
            except CheckError as error:
                raise SetupProblem(f"No mutant could be tried: {error}. Look at the tests: python -m pytest") from error
            said.append(f"{tried.noticed} of {tried.tried} noticed")
        self.outcome.before = tried
        took = round(self.spent, 3)
        self.tell(Mutated(version=0, mutants=tried.tried, noticed=tried.noticed, survivors=tried.told, seconds=took))

    def look(self, voices: Voices | None, pinned: bool) -> list[Idea]:
        """Calls that tell, function by function; and what docstrings say against the code."""
        spots = list(spots_of(self.scope, self.outcome.before.survivors))
        with self.step("inputs") as said:
            for source, text in self.scope.texts.items():
                self.contradicted(source, text)
            for place, spot in enumerate(spots):
                self.watch.moved("inputs", place, len(spots))
                self.outcome.found.append(self.searched(spot, voices, pinned))
            ideas = [idea for one in self.outcome.found for idea in one.ideas]
            said.append(f"{counted(len(ideas), 'test')} to try")
        for one in self.outcome.found:
            self.expose(one.spot.source, one.spot.function, one.against)
        return only_new(ideas)

    def contradicted(self, source: Path, text: str) -> None:
        """Where the docstrings of a source say something else than its code."""
        names = [name for name in repairable(text) if self.scope.function in ("", name)]
        with self.ground(source) as ground, contextlib.suppress(AttemptError):
            for name, sentence in contradictions(text, names, ground):
                self.expose(source, name, [sentence])

    def expose(self, source: Path, function: str, sentences: Sequence[str]) -> None:
        """Keep what speaks against the code, and say what to type if it is right."""
        if sentences:
            self.outcome.against += sentences
            line = f"burnish fix {source} --function {function}"
            self.tell(Decided(choice=REPAIR, reason=f"if the code of {function} is wrong there, type: {line}"))

    def searched(self, spot: Spot, voices: Voices | None, pinned: bool) -> Found:
        """What can be found for one function, from each place that a test may call it from; or why nothing was."""
        whole = Found(spot, beyond=PRIVATE)
        left = spot.survivors
        for door in doors_of(spot.text, spot.function, self.scope.test_texts)[:MOST_DOORS]:
            found = self.searched_from(replace(spot, function=door, survivors=left), voices, pinned)
            if found.beyond:
                whole.beyond = whole.beyond if whole.beyond in ("", TIME) else found.beyond
                continue
            whole.ideas += found.ideas
            whole.against += found.against
            whole.alike, whole.in_words, whole.beyond = found.alike, found.in_words, ""
            left = tuple(mutant for mutant in left if mutant.key in found.alike)
            if not left:
                break
        return self.passed_over(whole) if whole.beyond else whole

    def searched_from(self, spot: Spot, voices: Voices | None, pinned: bool) -> Found:
        """The same through one function."""
        until = self.began + LOOKING * self.seconds
        if time.monotonic() >= until:
            return Found(spot, beyond=TIME)
        with self.ground(spot.source) as ground:
            if not all(part.isidentifier() for part in ground.import_name()[0].split(".")):
                return Found(spot, beyond=UNNAMED)
            try:
                heard = voices.of(spot, ground) if voices else {}
                return search(spot, ground, self.scope.test_texts, heard, until, pinned)
            except AttemptError as error:
                return Found(spot, beyond=str(error))

    def passed_over(self, found: Found) -> Found:
        """Say why a function is left as it is."""
        many = counted(len(found.spot.survivors), "unnoticed change")
        self.tell(Decided(choice=PASS_OVER, reason=f"{found.spot.function}, with {many}: {found.beyond}"))
        return found

    def prove(self, ideas: Sequence[Idea], sandbox: str) -> None:
        """Keep what holds."""
        with self.step("new tests") as said:
            files = [self.file_of(source, ideas) for source in dict.fromkeys(idea.spot.source for idea in ideas)]
            left = max(LEAST_SECONDS, self.seconds - self.spent)
            survivors = self.outcome.before.survivors
            self.outcome.proof = Prover(self.scope, survivors, sandbox, self.ran.seconds, left).proven(files)
            said.append(f"{len(self.outcome.tests)} kept, {len(self.outcome.told)} more noticed")

    def file_of(self, source: Path, ideas: Sequence[Idea]) -> NewFile:
        """The new file of one source."""
        with self.ground(source) as ground:
            return new_file(source, [idea for idea in ideas if idea.spot.source == source], self.scope, ground)

    def ground(self, source: Path) -> InProject:
        """Where versions of one source are tried."""
        return InProject(self.scope.project, source, seconds=self.ran.seconds, lab=self.lab)

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[list[str]]:
        """One step, as somebody who waits sees it; what is put into the list is its figure."""
        started = time.monotonic()
        said: list[str] = []
        self.watch.begun(name)
        yield said
        evidence = Evidence(check=name, verdict="passed", why="", figure=", ".join(said))
        self.watch.finished(evidence, time.monotonic() - started)
