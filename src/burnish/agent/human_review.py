"""A person at a checkpoint: what they are shown, what they say, and what each answer does to the tests.

The rule: a person is the user, so their word decides. What they say is on record before anything is done about it, and
it is never asked twice about the same thing.
"""

import hashlib
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass

from burnish.agent import prompts
from burnish.agent.ask import Shown, Tools
from burnish.agent.edited_tests import (
    REMOVED,
    EditedTests,
    agreeing,
    find_test_on_line,
    read_edited_tests,
    replace_value,
)
from burnish.agent.own_tests import question, written
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
    # Figures of checks differ a little each time, so they are no part of what is asked about.
    about = "\0".join((shown.where, shown.tests, shown.code))
    basis = hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()
    said = tools.replay.reviewed(basis)
    if said is None and tools.review:
        if evidence:
            yield Notice(text="checking what there is, for you to look at")
            shown = shown.model_copy(update={"evidence": evidence()})
        started = time.monotonic()
        with tools.meter.paused():
            said = tools.review(shown)
        # A record cannot hold lone surrogates, which a terminal may hand us.
        words, text = (told.encode("utf-8", "replace").decode() for told in (said.words, said.text))
        said = said.model_copy(update={"words": words, "text": text, "seconds": time.monotonic() - started})
    if said and not tools.cancel.is_set():
        yield (said := said.model_copy(update={"where": shown.where, "basis": basis, "at": time.time()}))
    return said


def enough_looks() -> Refused:
    """Said to somebody who never goes on."""
    return Refused(what="one more look", why=f"it was shown {MOST_LOOKS} times, so the work goes on")


def review_tests(work: Work, tools: Tools, tests: Tests) -> Generator[Event, None, Tests]:
    """Show the tests before they are frozen, until the person goes on; what they changed is in what comes back."""
    note, asked = "", 0
    in_file = tuple(test for test in tests.spec.given_tests if name_in_file(test))
    for _ in range(MOST_LOOKS):
        # Tests in a file of the user's own are changed there.
        suite = Suite.for_task(work.task, tests.spec, tests.written)
        suite = suite.model_copy(update={"file": "", "given": tuple(t for t in suite.given if t not in in_file)})
        said = yield from look(Shown(where="tests", tests=suite.render(), note=note), tools)
        if said is None or said.said == "go_on" or tools.cancel.is_set():
            return tests
        if said.said == "stop":
            yield Stopped(reason="review", why=ENDED)
            return tests
        changed = _change_tests(suite, said, {suite.entry_point.partition(".")[0], *offered_names(work.task)})
        if isinstance(changed, _Question):
            answer: tuple[str, ...] | str = (
                f"the model was asked {MOST_ASKED} times already; edit the tests yourself, or go on"
            )
            if asked < MOST_ASKED:
                asked += 1
                answer = yield from _ask_for_tests(work, tools, changed, f"tests-{asked}", suite.given)
            changed = changed.take(answer, work.task.earlier_tests)
        note = changed.problem
        if changed.problem:
            yield Refused(what="what you said about the tests", why=one_line(changed.problem, 300))
            continue
        note = f"{counted(len(changed.given), 'test')} of yours, {len(changed.model)} of the model's"
        if (given := (*changed.given, *in_file)) != tests.spec.given_tests:
            tests = tests.model_copy(update={"spec": tests.spec.model_copy(update={"given_tests": given})})
            yield tests.spec.model_copy(update={"at": time.time()})
        # Those of a run that this one goes on from stay in force, and are no new ones.
        written = tuple(test for test in changed.model if test not in work.task.earlier_tests)
        if written != tests.written:
            tests = tests.model_copy(update={"written": written})
            yield TestsProposed(tests=written)
    yield enough_looks()
    return tests


@dataclass(frozen=True)
class _Question:
    """What the model is to be asked for, and what stands beside its answer."""

    given: tuple[str, ...]
    model: tuple[str, ...]
    words: str
    instead_of: str = ""
    """The one test that is to be written again; empty where all of the model's are."""
    examples: bool = False
    """Whether the person's words hold examples: those decide, even where the model has nothing to say."""

    def take(self, answer: tuple[str, ...] | str, earlier: tuple[str, ...]) -> EditedTests:
        """The tests with what the model answered, or why there is none of it."""
        if isinstance(answer, str):
            return agreeing(self.given, self.model) if self.examples else EditedTests(problem=answer)
        if not self.instead_of:
            return agreeing(self.given, (*earlier, *answer))
        place = self.model.index(self.instead_of)
        return agreeing(self.given, (*self.model[:place], answer[0], *self.model[place + 1 :]))


def _change_tests(suite: Suite, said: Reviewed, names: set[str]) -> EditedTests | _Question:
    """The tests after an answer, or what to ask the model for; `names` are what tests may use of the module."""
    words = said.words.strip()
    if said.said == "edited":
        return read_edited_tests(said.text, suite, names)
    if said.said == "change":  # examples in the words decide
        examples = [test for test in find_examples(words) if names & {*called_names(test)}]
        given = (*suite.given, *examples)
        disagree = agreeing(given, ())
        return disagree if disagree.problem else _Question(given, suite.model, words, examples=bool(examples))
    test = find_test_on_line(said.line or 0, suite)
    if not test:
        return EditedTests(problem=f"line {said.line} holds no test")
    given, model = (tuple(one for one in tests if one != test) for tests in (suite.given, suite.model))
    if REMOVED.fullmatch(words.lower().rstrip(" .!")):
        return agreeing(given, model)
    if value := replace_value(test, words):
        place = suite.given.index(test) if test in suite.given else len(given)
        return agreeing([*given[:place], value, *given[place:]], model)
    if test in suite.given:
        why = f"line {said.line} is your own test: say what is right, e.g. `should be 5`, or edit it"
        return EditedTests(problem=why)
    return _Question(suite.given, suite.model, words, instead_of=test)


def _ask_for_tests(
    work: Work, tools: Tools, wish: _Question, ask_id: str, given: tuple[str, ...]
) -> Generator[Event, None, tuple[str, ...] | str]:
    """Tests for a person's words, or why there are none."""
    signature = work.spec.signature
    if wish.instead_of:
        messages = prompts.one_test(work.task, signature, wish.instead_of, wish.words)
    else:
        messages = prompts.tests(work.task, signature, wish.given, wish.words)
    limit = tools.meter.refusal(tools.sized(question(messages)), tools.model.name)
    if limit:
        return f"{limit.why}, so the model cannot be asked; edit the tests yourself, or go on"
    try:
        found = yield from written(work, tools, ask_id, messages, given)
    except ModelError as error:
        return f"the model did not answer: {error}"
    return found.tests if found and found.tests else "the model gave no test that can be used"
