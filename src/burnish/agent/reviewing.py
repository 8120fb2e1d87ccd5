"""A person at a checkpoint: what they are shown, what they say, and what each answer does to the tests.

The rule: a person is the user, so their word decides. What they say is on record before anything is done about it, and
it is never asked twice about the same thing.
"""

import hashlib
import time
from collections.abc import Callable, Generator

from burnish.agent import prompts
from burnish.agent.ask import Shown, Tools
from burnish.agent.edited import REMOVED, Edited, agreeing, on_line, read_edited, with_value
from burnish.agent.own_tests import question, written
from burnish.agent.prompts import Messages
from burnish.agent.work import Work
from burnish.checks.suite import Suite
from burnish.errors import ModelError
from burnish.events import Event, Evidence, Frozen, Notice, Refused, Reviewed, SpecAgreed, Stopped, TestsProposed
from burnish.tasks.examples import called_names, find_examples
from burnish.tasks.offered import offered_names
from burnish.tasks.test_file import name_in_file
from burnish.text import counted, one_line

MOST_ASKED = 3
"""Times that the model is asked for what a person wants at one checkpoint."""
MOST_LOOKS = 20
"""Times that one checkpoint is shown; somebody who never goes on is taken to have seen enough."""
MOST_VERSIONS = 6
"""Versions that are made at one person's word, by the model or by the person."""
ENDED = "you wanted no more at the review"
Look = Callable[[Shown], Reviewed]
"""Shows a person what there is at a checkpoint and brings back what they say."""


class Tests(Frozen):
    """The tests as they stand: what decides is in the spec."""

    __test__ = False
    spec: SpecAgreed
    written: tuple[str, ...] = ()
    """The model's."""


def look(
    shown: Shown, tools: Tools, evidence: Callable[[], tuple[Evidence, ...]] | None = None
) -> Generator[Event, None, Reviewed | None]:
    """What a person says to this, from the record where it is there; None where nobody is to be asked.

    `evidence` is gathered only for somebody who is there to see it.
    """
    basis = _basis(shown)
    said = tools.replay.reviewed(basis)
    if said is None and tools.review:
        if evidence:
            yield Notice(text="checking what there is, for you to look at")
            shown = shown.model_copy(update={"evidence": evidence()})
        started = time.monotonic()
        with tools.meter.paused():
            said = tools.review(shown)
        heard = {"words": _writable(said.words), "text": _writable(said.text), "seconds": time.monotonic() - started}
        said = said.model_copy(update=heard)
    if said and not tools.cancel.is_set():
        yield (said := said.model_copy(update={"where": shown.where, "basis": basis, "at": time.time()}))
    return said


def _writable(text: str) -> str:
    """What a record can hold."""
    return text.encode("utf-8", "replace").decode()


def _basis(shown: Shown) -> str:
    """What is asked about, as a hash. Figures of checks differ a little each time, and are left out."""
    told = "\0".join((shown.where, shown.tests, shown.code))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def enough() -> Refused:
    """Said to somebody who never goes on."""
    return Refused(what="one more look", why=f"it was shown {MOST_LOOKS} times, so the work goes on")


def refused(what: str, why: str) -> Refused:
    """A person's answer that could not be followed; they are asked again."""
    return Refused(what=what, why=one_line(why, 300))


def review_tests(work: Work, tools: Tools, tests: Tests) -> Generator[Event, None, Tests]:
    """Show the tests before they are frozen, until the person goes on; what they changed is in what comes back."""
    note, asked = "", 0
    for _ in range(MOST_LOOKS):
        suite = _suite(work, tests)
        shown = Shown(where="tests", tests=suite.render(), note=note)
        said = yield from look(shown, tools)
        if said is None or said.said == "go_on" or tools.cancel.is_set():
            return tests
        if said.said == "stop":
            yield Stopped(reason="review", why=ENDED)
            return tests
        changed, asks = yield from _changed(_Turn(work, tools, suite, tests, shown.tests, asked), said)
        asked += asks
        note = changed.problem
        if changed.problem:
            yield refused("what you said about the tests", changed.problem)
            continue
        after = _with(work, tests, changed)
        note = _told(_suite(work, tests), _suite(work, after))
        if after.spec != tests.spec:
            yield after.spec.model_copy(update={"at": time.time()})
        if after.written != tests.written:
            yield TestsProposed(tests=after.written)
        tests = after
    yield enough()
    return tests


class _Turn:
    """What one answer is about."""

    def __init__(self, work: Work, tools: Tools, suite: Suite, tests: Tests, text: str, asked: int) -> None:
        self.work, self.tools, self.suite, self.tests, self.text, self.asked = work, tools, suite, tests, text, asked

    @property
    def names(self) -> set[str]:
        """What tests may use of the module."""
        return {self.suite.entry_point.partition(".")[0], *offered_names(self.work.task)}

    def ask(self, messages: Messages) -> Generator[Event, None, tuple[str, ...] | str]:
        """Tests for a person's words, or why there are none."""
        if self.asked >= MOST_ASKED:
            return f"the model was asked {MOST_ASKED} times already; edit the tests yourself, or go on"
        limit = self.tools.meter.refusal(self.tools.sized(question(messages)), self.tools.model.name)
        if limit:
            return f"{limit.why}, so the model cannot be asked; edit the tests yourself, or go on"
        try:
            found = yield from written(self.work, self.tools, f"tests-{self.asked + 1}", messages, self.suite.given)
        except ModelError as error:
            return f"the model did not answer: {error}"
        return found.tests if found and found.tests else "the model gave no test that can be used"


Changed = Generator[Event, None, tuple[Edited, int]]
"""The tests after an answer, and how often the model was asked for it."""


def _changed(turn: _Turn, said: Reviewed) -> Changed:
    if said.said == "edited":
        return read_edited(said.text, turn.suite, turn.names), 0
    if said.said == "comment":
        return (yield from _commented(turn, said))
    return (yield from _wished(turn, said.words))


def _wished(turn: _Turn, words: str) -> Changed:
    """The model's tests once more, for these words; examples in the words decide."""
    examples = [test for test in find_examples(words) if turn.names & {*called_names(test)}]
    given = (*turn.suite.given, *examples)
    if problem := agreeing(given, ()).problem:
        return Edited(problem=problem), 0
    spec = turn.tests.spec
    found = yield from turn.ask(prompts.tests(turn.work.task, spec.signature, given, words))
    if isinstance(found, str):
        return (agreeing(given, turn.suite.model) if examples else Edited(problem=found)), 1
    return agreeing(given, (*turn.work.task.earlier_tests, *found)), 1


def _commented(turn: _Turn, said: Reviewed) -> Changed:
    """One test gone, with another value, or written again by the model."""
    suite, words = turn.suite, said.words.strip()
    test = on_line(said.line or 0, turn.text, suite)
    if not test:
        return Edited(problem=f"line {said.line} holds no test"), 0
    given, model = ([one for one in tests if one != test] for tests in (suite.given, suite.model))
    if REMOVED.fullmatch(words.lower().rstrip(" .!")):
        return agreeing(given, model), 0
    if value := with_value(test, words):
        place = suite.given.index(test) if test in suite.given else len(given)
        return agreeing([*given[:place], value, *given[place:]], model), 0
    if test in suite.given:
        return Edited(
            problem=f"line {said.line} is your own test: say what is right, e.g. `should be 5`, or edit it"
        ), 0
    found = yield from turn.ask(prompts.one_test(turn.work.task, turn.tests.spec.signature, test, words))
    if isinstance(found, str):
        return Edited(problem=found), 1
    place = suite.model.index(test)
    return agreeing(given, [*model[:place], found[0], *model[place:]]), 1


def _suite(work: Work, tests: Tests) -> Suite:
    """The tests that may be changed here: those in a file of the user's own are changed there."""
    suite = Suite.for_task(work.task, tests.spec, tests.written)
    return suite.model_copy(update={"file": "", "given": tuple(t for t in suite.given if not name_in_file(t))})


def _with(work: Work, tests: Tests, changed: Edited) -> Tests:
    """The tests after an answer. Those of a run that this one goes on from stay in force."""
    in_file = tuple(test for test in tests.spec.given_tests if name_in_file(test))
    spec = tests.spec.model_copy(update={"given_tests": (*changed.given, *in_file)})
    return Tests(spec=spec, written=tuple(test for test in changed.model if test not in work.task.earlier_tests))


def _told(before: Suite, after: Suite) -> str:
    """What an answer did, in words."""
    new = [test for test in after.given if test not in before.given]
    gone = [test for test in before.given if test not in after.given]
    own = [test for test in before.model if test not in (*after.model, *after.given)]
    more = [test for test in after.model if test not in before.model]
    parts = {
        f"{counted(len(new), 'test')} of yours decide{'s' if len(new) == 1 else ''} now": new,
        f"{counted(len(gone), 'test')} that you had given {'is' if len(gone) == 1 else 'are'} gone": gone,
        f"{counted(len(own), 'test')} of the model's {'is' if len(own) == 1 else 'are'} gone": own,
        f"{counted(len(more), 'test')} of the model's {'is' if len(more) == 1 else 'are'} new": more,
    }
    return "; ".join(words for words, tests in parts.items() if tests) or "nothing changed"
