"""How likely it is that a version is right: one number from what can be observed in a run, and what it rests on.

The rule: what counts is what was executed, never a model's opinion of its own work, and nothing here knows which suite
a task is from. Where the weights come from is said in their file, which `experiments/fit_confidence.py` writes (why:
docs/design/confidence.md). Everything is read from the record, so a resumed run says what it would have said.
"""

import json
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

from burnish.agent.state import BY_PERSON, DERIVED, TWEAK, AgentState
from burnish.events import PROVEN, Compared, Frozen, ModelReplied, TestsProbed
from burnish.events.history import Version
from burnish.models.names import read_billions
from burnish.search.behaviour_groups import LONGEST_VALUE
from burnish.tasks.source import split_lines
from burnish.text import join_words, one_line, plural

STRONG_TESTS, STRONG_SHARE = 3, 0.8
"""Given tests, and the share of small edits that they notice, which speak for code whoever wrote it."""
USUAL_BILLIONS = 1.5
"""The size of a model that does not say it. A larger one is treated as no larger than those that were measured."""
LARGEST_BILLIONS = 1.5
DOUBT = 3.0
"""What a shortcut, or a change that no test asks for, takes from the log-odds: 95 % becomes 49 %. Set by hand and no
part of the fit; what is known of both is in docs/design/confidence.md.
"""


class SignalWeights(Frozen):
    """What each signal adds to the log-odds of being right."""

    bias: float
    signals: dict[str, float]
    models: tuple[str, ...]
    """The models whose answers it was fitted on; of others the confidence is a guess."""
    fitted: dict[str, Any] = {}
    """Where it comes from: tasks, attempts, date, command."""

    def estimate(self, signals: dict[str, float], doubt: float = 0.0) -> float:
        """The chance of being right. Signals without a weight count for nothing; a doubt lowers the log-odds."""
        log_odds = self.bias - doubt + sum(self.signals.get(name, 0.0) * value for name, value in signals.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds))))


@lru_cache(maxsize=1)
def load_weights() -> SignalWeights:
    """Those that ship."""
    return SignalWeights.model_validate(json.loads((files("burnish.agent") / "confidence.json").read_text()))


@dataclass(frozen=True)
class Support:
    """What speaks for one version, and what against it."""

    state: AgentState
    version: Version

    @cached_property
    def line(self) -> list[Version]:
        """Itself, and what it was made from in rounds for a check and for a person, back to what was compared."""
        line = [self.version]
        while line[-1].by in DERIVED and line[-1].base:
            line.append(self.state.version(line[-1].base))
        return line

    @cached_property
    def alike(self) -> list[Version]:
        """The versions that behave as it does, itself included."""
        group, codes = {*self.state.group_of(self.version)}, {self.line[0].code, self.line[-1].code}
        return [one for one in self.state.rivals if one.number in group or one.code in codes] or [self.line[-1]]

    @cached_property
    def _answer_numbers(self) -> set[int]:
        return {one.number for one in self.state.answers}

    @cached_property
    def votes(self) -> int:
        """Answers of the model that behave as it does."""
        return len(self._answer_numbers & {one.number for one in self.alike})

    @cached_property
    def passing(self) -> int:
        """Answers of the model that pass all that decides."""
        return len(self._answer_numbers & {one.number for one in self.state.rivals})

    @property
    def answers(self) -> int:
        """Answers of the model, those that cannot be run too."""
        return sum(not one.no_answer for one in self.state.answers)

    @cached_property
    def rival_votes(self) -> list[int]:
        """Answers of the model in each group that passes the same tests and behaves differently; 0 for edits alone."""
        own = {one.number for one in self.alike}
        return [len(self._answer_numbers & {*group}) for group in self.state.differing_groups if not own & {*group}]

    @property
    def has_edit(self) -> bool:
        """Whether a small edit of the given code behaves as it does, which was found without asking the model.

        An edit of an answer is no second opinion: it is the model's code but for one place.
        """
        return any(one.by == TWEAK and one.base == 0 for one in self.alike)

    @property
    def probed(self) -> TestsProbed | None:
        """How many small edits of it the tests that decide notice; else of a version before it."""
        found = self.state.run.all(TestsProbed)
        numbers = {one.number for one in (*self.line, *self.alike)}
        return next((one for one in reversed(found) if one.version in numbers), found[-1] if found else None)

    @property
    def noticed(self) -> float | None:
        """The share of small edits that the tests that decide notice; None where nobody tried."""
        probed = self.probed
        return probed.noticed / probed.tried if probed and probed.tried else None

    @property
    def variety(self) -> float | None:
        """From 0 to 1: how much its answers to different inputs differ; None where nobody looked."""
        probed = self.probed
        given = probed.inputs - probed.raised if probed else 0
        return math.log2(1 + probed.values) / math.log2(1 + given) if probed and given else None

    @property
    def likeness(self) -> float | None:
        """On how many of the calls the model's other answers give what it gives; None where nobody compared."""
        compared, numbers = self.state.run.last(Compared), {one.number for one in self.alike}
        pairs = zip(compared.groups, compared.likeness, strict=False) if compared else ()
        return next((share for group, share in pairs if numbers & {*group}), None)

    @property
    def own_tests(self) -> tuple[int, int]:
        """Tests of the model's own: how many it passes, and how many there are, disputed ones too."""
        tests = self.state.suite.model
        return len({*tests} & self.state.passed_tests(self.version)), len(tests)

    @property
    def changed_share(self) -> float:
        """How much of broken code a repair changes, from 0 to 1."""
        lines = max(1, len(split_lines(self.state.task.base_code)))
        return min(1.0, self.state.changed_lines(self.version) / lines) if self.state.broken else 0.0

    @property
    def doubts(self) -> list[str]:
        """What makes a repair suspicious whatever the tests say, in words that follow "it"."""
        found = [shortcut.value for shortcut in self.state.shortcuts(self.version)]
        change = next((self.state.unasked[one.number] for one in self.line if one.number in self.state.unasked), "")
        return found + ([f"changes what no test asks for ({one_line(change, 2 * LONGEST_VALUE)})"] if change else [])

    @property
    def is_compared(self) -> bool:
        """Whether it is known how it behaves beside the others that pass the same tests."""
        others = {one.code for one in self.state.rivals} - {self.line[-1].code}
        return not others or any(self.line[-1].number in group for group in self.state.groups)

    @property
    def models(self) -> set[str]:
        """Who answered."""
        return {event.model for event in self.state.run.all(ModelReplied) if event.model}

    def signals(self) -> dict[str, float]:
        """As numbers that can be weighed, each near 0 where nothing is known."""
        answers, votes, noticed, likeness = self.answers, self.votes, self.noticed, self.likeness
        (passed, own), probed, variety = self.own_tests, self.probed, self.variety
        sizes = [read_billions(name) or USUAL_BILLIONS for name in self.models]
        size = min(LARGEST_BILLIONS, max(sizes, default=USUAL_BILLIONS))
        return {
            "passing": (self.passing + 0.5) / (answers + 1),
            "votes": math.log2(1 + votes),
            "agreement": votes / answers if answers else 0.0,
            "rivals": math.log2(1 + sum(map(bool, self.rival_votes))),
            "strongest rival": max(self.rival_votes, default=0) / max(1, answers),
            "edits differ": math.log2(1 + self.rival_votes.count(0)),
            "edit agrees": float(self.has_edit and votes > 0),
            "edits alone": float(not votes),
            "likeness": likeness - 0.75 if likeness is not None else 0.0,
            "given": math.log2(1 + len(self.state.deciding_tests)),
            "noticed": noticed - 0.75 if noticed is not None else 0.0,
            "own tests pass": passed / own - 0.75 if own else 0.0,
            "variety": variety - 0.75 if variety is not None else 0.0,
            "raises": probed.raised / probed.inputs if probed and probed.inputs else 0.0,
            "repair": float(self.state.broken),
            "changed": self.changed_share,
            "size": math.log2(size),
        }

    @property
    def tests_are_strong(self) -> bool:
        """Whether what was given says so much that it does not matter who wrote the code."""
        noticed = self.noticed
        return len(self.state.deciding_tests) >= STRONG_TESTS and noticed is not None and noticed >= STRONG_SHARE

    @property
    def is_thin(self) -> bool:
        """Whether it rests on small edits alone, or on one example and one version: then no number is enough."""
        alone = len(self.state.deciding_tests) < 2 and self.votes < 2
        return not self.votes or (alone and not self.tests_are_strong)

    def describe(self) -> str:
        """What the confidence rests on, in a few words."""
        given = len(self.state.deciding_tests)
        parts = [plural(given, "test" if self.state.suite.project else "example") if given else "no example"]
        if (noticed := self.noticed) is not None and given:
            parts[0] += f" that notice{'s' if given == 1 else ''} {100 * noticed:.0f} % of small changes"
        compared = self.state.run.last(Compared)
        inputs = f" on {plural(len(compared.inputs), 'input')}" if compared and compared.inputs else ""
        agree = f"agree{'s' if self.votes == 1 else ''}{inputs}" if self.answers > 1 else "was written"
        parts += [f"{self.votes} of {plural(self.answers, 'independent version')} {agree}"] if self.answers else []
        parts += ["a small edit agrees"] if self.has_edit and self.votes else []
        parts += ["a small edit that no answer of the model agrees with"] if not self.votes else []
        if compared and compared.kept and not self.doubts:
            parts += [f"nothing that no test asks for changes on {plural(len(compared.kept), 'input')}"]
        passed, own = self.own_tests
        parts += [f"{passed} of {own} tests of the model's own pass"] if own else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Confidence:
    """How likely a version is right, and what stands in the way of calling it proven."""

    share: float
    calibrated: bool
    basis: str
    is_thin: bool
    obstacle: str
    """Why it is not proven, whatever the number is; empty: nothing is in the way but the number."""

    @property
    def proves(self) -> bool:
        """Whether it is enough to call the version proven."""
        return self.share >= PROVEN and not self.obstacle


def weigh(state: AgentState, version: Version) -> Confidence:
    """The confidence in one version as things stand."""
    support, weights = Support(state, version), load_weights()
    calibrated = bool(support.models) and support.models <= {*weights.models}
    return Confidence(
        share=weights.estimate(support.signals(), DOUBT if support.doubts else 0.0),
        calibrated=calibrated,
        basis=support.describe(),
        is_thin=support.is_thin,
        obstacle=find_obstacle(support, calibrated),
    )


def find_obstacle(support: Support, calibrated: bool) -> str:
    """What forbids to call a version proven."""
    state = support.state
    if state.broken and not state.shown_wrong:
        return "no test showed that the code was wrong"
    if not state.deciding_tests:
        return "nothing was given that decides"
    if any(one.by in BY_PERSON for one in support.line) and not support.tests_are_strong:
        return "nothing else was compared with what you had changed"
    compared, doubts = state.run.last(Compared), f"it {join_words(support.doubts)}" if support.doubts else ""
    where = f" on {one_line(compared.apart, 2 * LONGEST_VALUE)}" if compared and compared.apart else ""
    if not support.votes:
        edits = support.rival_votes.count(0)
        groups = f"{1 + edits} groups of edits disagree{where}, and " if edits else ""
        return f"{groups}no answer of the model behaves as this small edit does{doubts and f'; {doubts}'}"
    if doubts:
        return doubts
    if any(support.rival_votes):
        return f"{1 + sum(map(bool, support.rival_votes))} groups of versions disagree{where}"
    if not support.is_compared and not support.tests_are_strong:
        return "it could not be compared with the other versions that pass"
    if support.is_thin:
        return "one example and one version are too little"
    if state.is_one_sided:
        return "code that gives one answer to every call would pass all tests that were not set aside"
    if not calibrated and not support.tests_are_strong:
        return "how far this model's agreement can be trusted was not measured"
    return ""
