"""Makes tests for one version: search, choice and proof, within a budget of seconds."""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from burnish.agent.ask import Tools
from burnish.agent.inputs import Clues, calls_of_all
from burnish.agent.prompts import Wanted
from burnish.agent.seeds import seeds_of
from burnish.agent.stronger.asking import inputs_from_model
from burnish.agent.stronger.cover import Candidate, chosen
from burnish.agent.stronger.opinion import Opinion
from burnish.agent.stronger.proof import proven, steady
from burnish.agent.stronger.search import Search
from burnish.agent.stronger.usual import Usual
from burnish.agent.stronger.voices import needed, others
from burnish.agent.work import Work
from burnish.checks.mutation.alone import Unnoticed
from burnish.checks.suite import Suite
from burnish.events import Event, Mutated
from burnish.runs.run import Version
from burnish.tasks.examples import called_names, find_examples
from burnish.tasks.offered import offered_names

SEARCH_SECONDS = 9.0
PROOF_SECONDS = 5.0
MORE_SECONDS = 3.0
"""For inputs that the model thought of."""
WORTH_ASKING = 0.25
"""The share of mutants that no generated input tells apart, above which the model is asked for others: a few are most
often no mistakes at all, and on a laptop the question takes longer than all the rest."""
MOST_MUTANTS = 40
MOST_CALLS = 60


@dataclass(frozen=True)
class Made:
    """Tests that hold, with what they notice; and the mutants that nothing told apart."""

    tests: tuple[Candidate, ...] = ()
    alike: tuple[str, ...] = ()


@dataclass(frozen=True)
class Making:
    """All that is needed to make tests for a version."""

    work: Work
    tools: Tools
    version: Version
    mutants: tuple[Unnoticed, ...]

    @classmethod
    def of(cls, work: Work, tools: Tools, version: Version, mutated: Mutated) -> "Making":
        """The survivors as modules. Raises CheckError."""
        keys = [one.key for one in mutated.survivors][:MOST_MUTANTS]
        mutants = tools.mutations.again(version.code, keys) if tools.mutations else ()
        return cls(work, tools, version, mutants)

    def made(self) -> Generator[Event, None, Made]:
        """Generated inputs first, the model's second; then the few tests that notice most. Raises SandboxError."""
        search = self._search()
        search.draw(self._calls)
        left = [one for one in self.mutants if one.key in search.alike]
        many = len(left) > WORTH_ASKING * len(self.mutants)
        if many and not self.work.strengthened and not self.tools.cancel.is_set():
            wanted = Wanted(task=self.work.task, spec=self.work.spec, added=self.work.packages)
            number = self.version.number
            calls = yield from inputs_from_model(self.tools, wanted, number, self.version.code, left)
            search.until = time.monotonic() + MORE_SECONDS
            search.hear([call for call in calls if call not in self._settled])
        kept = self._proven([*chosen(search.candidates), *self._in_words()])
        noticed = frozenset[str]().union(*(one.notices for one in kept))
        return Made(tuple(kept), tuple(key for key in search.alike if key not in noticed))

    def _search(self) -> Search:
        work, tools = self.work, self.tools
        return Search(
            tools.ground,
            self.version.code,
            [voice.code for voice in others(work, self.version)],
            self.mutants,
            time.monotonic() + min(SEARCH_SECONDS, tools.meter.seconds_left),
            tools.cancel,
            Usual(self._names, work.suite.given or self._known),
            needed(work, tools),
        )

    @property
    def _names(self) -> tuple[str, ...]:
        return (self.work.spec.entry_point, *self.work.task.also)

    @property
    def _known(self) -> tuple[str, ...]:
        """Tests whose calls are of the right kind."""
        suite, disputed = self.work.suite, self.work.disputed
        return tuple(test for test in (*suite.given, *suite.model, *suite.added) if test not in disputed)

    def _calls(self, draw: int, modules: Sequence[str]) -> Sequence[str]:
        files = self.tools.ground.test_texts(self.work.suite)
        clues = Clues(self._known, self.work.task.prompt, modules, files)
        found = calls_of_all(self._names, self.work.spec.signature, clues, MOST_CALLS, draw)
        return [call for call in found if call not in self._settled]

    @property
    def _settled(self) -> set[str]:
        """Calls of which a test says already what is right."""
        return {seed.call() for name in self._names for seed in seeds_of(name, self._known)}

    def _in_words(self) -> list[Candidate]:
        """Examples in the task's words that are no test yet."""
        known = {*self.work.suite.names.values()}
        found = [test for test in find_examples(self.work.task.prompt) if test not in known]
        said = Opinion("", "spec", "the task's own words say so")
        return [Candidate("", test, said) for test in found if {*self._names} & {*called_names(test)}]

    def _proven(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        if not candidates:
            return []
        alone = self.tools.sandbox if self.tools.place is None else None
        until = time.monotonic() + PROOF_SECONDS
        sure = steady(candidates, self.version.code, alone)
        held = proven(
            sure,
            self.version.code,
            self.mutants,
            self._suite,
            self.tools.ground,
            lambda: self.tools.cancel.is_set() or time.monotonic() > until,
        )
        return chosen(held)

    def _suite(self, tests: tuple[str, ...]) -> Suite:
        """These tests alone."""
        return Suite.of(self.work.spec.entry_point, (), tests, offered_names(self.work.task))
