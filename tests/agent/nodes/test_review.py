"""A person at the two checkpoints: each answer does what it says, is on record, and is never asked for twice."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal, cast

import pytest

from burnish import Limits, Run, ScriptedModel, Store
from burnish.agent.ask import Checkpoint, Tools
from burnish.agent.graph import after_decision, after_review
from burnish.agent.limits import Meter
from burnish.agent.nodes.review import MOST_LOOKS, look
from burnish.agent.nodes.write_tests import review_tests
from burnish.events import (
    Asked,
    BaseEvent,
    Case,
    Compared,
    Decided,
    Event,
    Graded,
    NewTest,
    Refined,
    Refused,
    Reviewed,
    SpecAgreed,
    Stopped,
    Strengthened,
    TestsFrozen,
    TestsProposed,
    TestsRan,
)
from burnish.events.replay import Replay
from burnish.report.deliverables import read_suite
from burnish.tasks import from_sentence
from tests.agent.history import WRITING, proposed, ran, work
from tests.snapshots import assert_snapshot
from tests.support import DOUBLE, GOOD, attempt, block, script

pytestmark = pytest.mark.usefixtures("open_box")
Said = Literal["go_on", "change", "comment", "edited", "stop"]
GIVEN = ("assert double(2) == 4", "assert double(5) == 10")
OWN = ("assert double(0) == 0", "assert double(-3) == -6", "assert double(10) == 20")
FRACTION = "assert double(0.5) == 1.0"


class Person:
    """Says these things, one after the other, and then goes on; keeps what was shown."""

    def __init__(self, tests: list[Reviewed] | None = None, checks: list[Reviewed] | None = None) -> None:
        self.answers = {"tests": iter(tests or []), "checks": iter(checks or [])}
        self.shown: list[Checkpoint] = []

    def __call__(self, shown: Checkpoint) -> Reviewed:
        self.shown.append(shown)
        return next(self.answers[shown.where], say("go_on"))

    def seen(self, where: str) -> list[Checkpoint]:
        return [shown for shown in self.shown if shown.where == where]


def say(said: Said, words: str = "", line: int | None = None, text: str = "") -> Reviewed:
    return Reviewed(where="tests", said=said, words=words, line=line, text=text)


AT_ONCE = 0.01
"""A confidence that the first version reaches if it passes: no other version stands between it and the person."""


def tried(
    person: Person | None,
    sentence: str = DOUBLE,
    limits: Limits | None = None,
    confidence: float | None = None,
    **replies: str | list[str],
) -> Run:
    model = ScriptedModel(script(**replies))
    return attempt(from_sentence(sentence), model, limits=limits, confidence=confidence, review=person)


@cache
def usual() -> tuple[Run, Person]:
    """A run in which a person only looks; several tests look at it."""
    person = Person()
    return tried(person), person


def reviewed(run: Run) -> list[tuple[str, str]]:
    return [(event.where, event.said) for event in run.all(Reviewed)]


def refusals(run: Run) -> list[str]:
    return [event.why for event in run.all(Refused)]


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


class Reader(Person):
    """A person who comments on the line that holds some text."""

    def __init__(self, where: str, *comments: tuple[str, str]) -> None:
        super().__init__()
        self.where, self.comments = where, iter(comments)

    def __call__(self, shown: Checkpoint) -> Reviewed:
        self.shown.append(shown)
        comment = next(self.comments, None) if shown.where == self.where else None
        if comment is None:
            return say("go_on")
        part, words = comment
        return say("comment", words, line_of(shown.tests if self.where == "tests" else shown.code, part))


@pytest.mark.slow
def test_going_on_twice_changes_nothing_and_is_on_record() -> None:
    run, person = usual()
    assert (run.verdict, reviewed(run)) == ("plausible", [("tests", "go_on"), ("checks", "go_on")])
    assert (run.spec and run.spec.given_tests, run.model_tests) == (GIVEN, OWN)
    tests, checks = person.shown
    assert all(test in tests.tests for test in (*GIVEN, *OWN))
    assert (tests.code, checks.code) == ("", run.code)
    assert [item.check for item in checks.evidence] == ["tests"]


@pytest.mark.slow
def test_nobody_is_asked_where_nobody_wants_to_look() -> None:
    assert reviewed(tried(None)) == []


@pytest.mark.slow
def test_tests_are_written_again_for_what_a_person_says_and_shown_again() -> None:
    person = Person([say("change", "test fractions too")])
    run = tried(person, tests=[block("assert double(0) == 0"), block(FRACTION)])
    assert run.model_tests == (FRACTION,)
    asked = [ask.messages[-1].content for ask in run.all(Asked) if ask.purpose == "tests"]
    assert [("test fractions too" in prompt) for prompt in asked] == [False, True]
    first, second = person.seen("tests")
    assert FRACTION not in first.tests
    assert FRACTION in second.tests
    assert second.note != first.note
    assert [frozen.model for frozen in run.all(TestsFrozen)] == [1]


@pytest.mark.slow
def test_an_example_in_a_persons_words_decides() -> None:
    run = tried(Person([say("change", f"halves too, e.g. {FRACTION.removeprefix('assert ')}; other(1) == 2")]))
    assert run.spec
    assert run.spec.given_tests == (*GIVEN, FRACTION)
    assert run.verdict == "proven"


@pytest.mark.slow
def test_the_model_is_asked_three_times_at_most() -> None:
    person = Person([say("change", f"other ones {turn}") for turn in range(5)])
    run = tried(person)
    assert len([ask for ask in run.all(Asked) if ask.purpose == "tests"]) == 4
    assert person.seen("tests")[-1].note == refusals(run)[0]
    assert_snapshot(refusals(run)[0], "agent/review: tests were asked for often enough")


@pytest.mark.slow
def test_who_never_goes_on_has_seen_enough_in_the_end() -> None:
    person = Person([say("comment", "why?", 1)] * 100, [say("comment", "why?", 99)] * 100)
    run = tried(person)
    assert run.verdict == "plausible"
    assert len(person.shown) == 2 * MOST_LOOKS
    ends = [why for why in refusals(run) if str(MOST_LOOKS) in why]
    assert len(ends) == 2
    assert_snapshot(ends[0], "agent/review: shown often enough")


@pytest.mark.slow
def test_a_test_is_removed_by_a_word() -> None:
    run = tried(Reader("tests", (OWN[1], "This is wrong."), (OWN[0], "remove")))
    assert run.model_tests == (OWN[2],)
    assert run.spec
    assert run.spec.given_tests == GIVEN


@pytest.mark.slow
def test_a_value_in_a_comment_makes_the_test_the_persons_without_asking() -> None:
    wrong = "assert double(3) == 7"
    run = tried(Reader("tests", (wrong, "should be 6")), tests=block(wrong))
    assert run.spec
    assert run.spec.given_tests == (*GIVEN, "assert double(3) == 6")
    assert (run.model_tests, run.verdict, run.disputed) == ((), "plausible", ())
    assert len([ask for ask in run.all(Asked) if ask.purpose == "tests"]) == 1


@pytest.mark.slow
def test_a_comment_in_words_has_the_model_write_that_one_test_again() -> None:
    person = Reader("tests", (OWN[1], "better a fraction"))
    run = tried(person, tests=[block("\n".join(OWN)), block(FRACTION)])
    assert run.model_tests == (OWN[0], FRACTION, OWN[2])
    prompt = [ask.messages[-1].content for ask in run.all(Asked) if ask.purpose == "tests"][-1]
    assert OWN[1] in prompt
    assert "better a fraction" in prompt


@pytest.mark.slow
def test_a_given_test_is_not_rewritten_by_the_model() -> None:
    person = Reader("tests", (GIVEN[0], "not so sure about it"), (GIVEN[0], "should be 5"))
    run = tried(person, limits=Limits(rounds=0))
    assert_snapshot(refusals(run)[0], "agent/review: a comment on a given test")
    assert run.spec
    assert run.spec.given_tests == ("assert double(2) == 5", GIVEN[1]), "a value is the person's word, and stands"


@pytest.mark.slow
def test_words_that_no_file_can_hold_are_on_record_all_the_same(store: Store) -> None:
    run = tried(Person([say("comment", "caf\udce9", 1), say("edited", text="\ud800")]))
    assert [event.words for event in store.open(run.id).all(Reviewed)][0] == "caf?"


@pytest.mark.slow
def test_a_comment_on_no_test_is_said_and_asked_again() -> None:
    person = Person([say("comment", "remove", 1)])
    run = tried(person)
    assert [person.seen("tests")[1].note] == refusals(run)
    assert "line 1" in refusals(run)[0]
    assert run.model_tests == OWN


@pytest.mark.slow
def test_an_edited_file_decides_with_what_was_changed_in_it() -> None:
    person = usual()[1]
    text = (
        person.shown[0].tests.replace("double(0) == 0", "double(0) == 0.0").replace("double(2) == 4", "double(2) == 2")
    )
    edited = Person([say("edited", text=text)])
    run = tried(edited, limits=Limits(rounds=0))
    assert run.spec
    assert run.spec.given_tests == ("assert double(2) == 2", GIVEN[1], "assert double(0) == 0.0")
    assert run.model_tests == OWN[1:]
    assert run.verdict == "failed", "the person is the user: double(2) == 2 decides, and nothing fulfils it"
    assert [frozen.sha256 for frozen in run.all(TestsFrozen)] == [read_suite(run).sha256]


@pytest.mark.slow
def test_examples_of_the_sentence_are_gone_where_a_person_takes_them_out() -> None:
    run = tried(Person([say("edited", text="from solution import double\n\nassert double(1) == 2\n")]))
    assert run.spec
    assert (run.spec.given_tests, run.model_tests) == (("assert double(1) == 2",), ())
    assert (run.verdict, len(run.all(SpecAgreed))) == ("plausible", 2)


@pytest.mark.slow
def test_a_file_that_cannot_be_taken_is_said_and_asked_again() -> None:
    texts = ["def (", "import numpy\n", "def test_x(tmp_path):\n    assert double(1)\n"]
    person = Person([say("edited", text=text) for text in texts])
    run = tried(person)
    assert [shown.note for shown in person.seen("tests")[1:]] == refusals(run)
    assert len(refusals(run)) == len(texts)
    assert (run.model_tests, run.spec and run.spec.given_tests) == (OWN, GIVEN)
    assert len(run.all(TestsProposed)) == 1


@pytest.mark.slow
def test_the_users_own_test_file_stands_apart() -> None:
    own = "# test_own, from your file\ndef test_own():\n    assert double(4) == 8"
    file = "from solution import double\n\ndef test_own():\n    assert double(4) == 8\n"
    task = from_sentence(DOUBLE)
    task = task.model_copy(update={"visible_tests": (*task.visible_tests, own), "test_file": file})
    person = Person([say("edited", text="assert double(1) == 2\n")])
    run = attempt(task, ScriptedModel(script()), review=person)
    assert "test_own" not in person.shown[0].tests
    assert run.spec
    assert run.spec.given_tests == ("assert double(1) == 2", own)
    assert run.verdict == "plausible"


def test_tests_of_the_run_that_this_one_goes_on_from_stay_in_force() -> None:
    before = "assert f(9) == 9"
    now = work(task=WRITING.model_copy(update={"earlier_tests": (before,)}))
    person = Person([say("edited", text="assert f(1) == 1\n")])
    tools = Tools(ScriptedModel([]), cast(Any, None), Meter(Limits()), threading.Event(), review=person)
    events = list(review_tests(now, tools, ("assert f(3) == 3",)))
    assert [event.tests for event in events if isinstance(event, TestsProposed)] == [()]
    assert [event.given_tests for event in events if isinstance(event, SpecAgreed)] == [("assert f(1) == 1",)]
    assert before in person.shown[0].tests
    assert before in person.shown[1].tests


@pytest.mark.slow
def test_who_stops_at_the_tests_gets_a_verdict_on_what_there_is() -> None:
    run = tried(Person([say("stop")]))
    last = run.last(Stopped)
    assert last
    assert (last.reason, run.verdict, reviewed(run)) == ("review", "plausible", [("tests", "stop")])


@pytest.mark.slow
def test_time_that_a_person_takes_counts_for_no_limit() -> None:
    meter = Meter(Limits(seconds=10.0))
    with meter.pause():
        before = meter.seconds_left
        threading.Event().wait(0.05)
        assert meter.seconds_left == before
    assert meter.seconds_left > 10.0 - 0.05
    slow = Reviewed(where="tests", said="go_on", seconds=40.0, at=50.0)
    run, _ = usual()
    events = [event.model_copy(update={"at": float(place)}) for place, event in enumerate(run.events)]
    waited = [event for event in events if isinstance(event, Reviewed)]
    assert Run([*events, slow]).seconds == 10.0 - sum(event.seconds for event in waited)


LINE = "    return n * 2"
CHANGED = block("def double(n):\n    # twice\n    return n + n")


@pytest.mark.slow
def test_code_is_changed_as_a_person_says_and_stands_if_no_test_is_lost() -> None:
    person = Person(checks=[say("change", "add instead of multiplying")])
    run = tried(person, confidence=AT_ONCE, review=CHANGED)
    assert (run.verdict, run.code) == ("plausible", "def double(n):\n    # twice\n    return n + n\n")
    assert run.final
    assert (run.final.by, run.final.base, reviewed(run)[1:]) == (
        "review",
        1,
        [("checks", "change"), ("checks", "go_on")],
    )
    prompt = next(ask.messages[-1].content for ask in run.all(Asked) if ask.purpose == "review")
    assert all(part in prompt for part in ("add instead of multiplying", LINE, *GIVEN, *OWN))
    assert_snapshot(person.seen("checks")[1].note, "agent/review: a version is taken")


@pytest.mark.slow
def test_a_comment_speaks_of_its_line() -> None:
    run = tried(Reader("checks", ("return", "add instead")), review=CHANGED)
    prompt = next(ask.messages[-1].content for ask in run.all(Asked) if ask.purpose == "review")
    assert re.search(r"`return n \* 2`.*add instead", prompt)
    assert run.final
    assert run.final.by == "review"


@pytest.mark.slow
def test_what_breaks_a_test_is_not_kept_and_that_is_said() -> None:
    person = Person(checks=[say("change", "make it simpler"), say("change", "never below zero")])
    run = tried(person, review=[block("def double(n):\n    return 4"), block("def double(n):\n    return abs(n * 2)")])
    assert (run.verdict, run.code) == ("plausible", "def double(n):\n    return n * 2\n")
    second, third = refusals(run)
    assert "assert double(5) == 10" in second
    assert "assert double(-3) == -6" in third
    assert [shown.note for shown in person.seen("checks")[1:]] == refusals(run)
    assert person.seen("checks")[1].code == run.code


@pytest.mark.slow
def test_the_model_changes_code_three_times_at_most() -> None:
    again = [block(f"def double(n):\n    return n * 2  # {turn}") for turn in range(5)]
    person = Person(checks=[say("change", f"comment {turn}") for turn in range(5)])
    run = tried(person, confidence=AT_ONCE, review=again)
    assert [version.by for version in run.versions] == ["draft", "review", "review", "review"]
    assert run.final
    assert run.final.number == 4
    assert_snapshot(refusals(run)[0], "agent/review: the code was asked for often enough")


@pytest.mark.slow
def test_a_persons_own_code_is_a_version_and_stands_if_no_test_is_lost() -> None:
    mine = "def double(n):\n    return n << 1 if isinstance(n, int) else n + n\n"
    run = tried(Person(checks=[say("edited", text=mine)]))
    assert run.final
    assert (run.verdict, run.code, run.final.by) == ("plausible", mine, "user")
    bad = tried(Person(checks=[say("edited", text="def double(n):\n    return n\n")]))
    assert (bad.verdict, bad.code) == ("plausible", "def double(n):\n    return n * 2\n")
    assert "assert double(2) == 4" in refusals(bad)[0]


@pytest.mark.slow
def test_a_person_who_writes_the_code_overrules_the_models_tests_and_not_their_own() -> None:
    mine = "def double(n):\n    return abs(n * 2)\n"
    person = Person(checks=[say("edited", text=mine), say("change", "say what it does")])
    run = tried(person, confidence=AT_ONCE, review=block(f"{mine}\n\n# It doubles."))
    assert run.final
    assert (run.verdict, run.final.by, run.final.base, run.disputed) == ("plausible", "review", 2, (OWN[1],))
    assert_snapshot(run.why, "agent/verdict: a person's code overrules a test of the model's")


def test_only_code_that_a_person_wrote_overrules_a_test() -> None:
    own = TestsProposed(tests=OWN)
    before = (own, proposed(1), ran(1, "pp", model="ppp"))
    for by, outcomes, best, aside in (
        ("user", "pp", 2, (OWN[1],)),
        ("review", "pp", 1, ()),
        ("user", "pf", 1, ()),
    ):
        now = work(*before, proposed(2, by=by, base=1), ran(2, outcomes, model="pfp"))
        assert now.best
        assert (now.best.number, now.disputed, now.best_passes) == (best, aside, True)
    crashed = TestsRan(version=2, graded=Graded(problem="over the time limit"))
    alone = WRITING.model_copy(update={"visible_tests": ()})
    now = work(own, proposed(1), ran(1, "", model="ppp"), proposed(2, by="user", base=1), crashed, task=alone)
    assert now.best
    assert (now.best.number, now.disputed) == (1, ()), "code that cannot be run overrules nothing"
    again = (proposed(2, by="user", base=1), ran(2, "pp", model="pfp"), proposed(3, by="user", base=2))
    now = work(*before, *again, ran(3, "pp", model="ppf"))
    assert now.best
    assert (now.best.number, now.disputed) == (3, (OWN[2],)), "what they wrote last counts"


def test_a_test_that_a_person_overrules_brings_no_other_version_forward() -> None:
    added = NewTest(test="assert f(9) == 9", origin="agreed", notices=())
    passed = Case(name="test_added_1", outcome="passed")
    first = ran(1, "pp").graded.cases
    compared = Compared(groups=((2,), (1,)), inputs=("f(9)",))
    events: list[Event] = [proposed(1), ran(1, "pp"), proposed(2), ran(2, "pp"), compared]
    events += [Strengthened(version=1, tests=(added,)), TestsRan(version=1, graded=Graded(cases=(*first, passed)))]
    events += [ran(2, "pp"), proposed(3, by="user", base=1), ran(3, "pp")]
    now = work(*events)
    assert now.best
    assert (now.best.number, now.disputed, now.best_passes) == (3, (added.test,), True)


@pytest.mark.slow
def test_a_person_can_mend_by_hand_what_the_model_cannot() -> None:
    mine = "def double(n):\n    return n + n\n"
    wrong = block("def double(n):\n    return 4")
    person = Person(checks=[say("edited", text=mine)])
    replies = dict.fromkeys(("draft", "rewrite", "repair"), wrong)
    run = tried(person, limits=Limits(rounds=1), **replies)
    assert (run.verdict, run.code) == ("plausible", mine)
    assert person.seen("checks")[0].evidence[0].verdict == "failed"


@pytest.mark.slow
def test_answers_that_cannot_be_followed_are_said_and_asked_again() -> None:
    answers_ = [
        say("edited", text="def other(n):\n    return 1\n"),
        say("edited", text="def double(n):\n    return n * 2\n"),
        say("comment", "faster", 99),
        say("change", "  "),
        say("edited", text="def (:"),
    ]
    person = Person(checks=answers_)
    run = tried(person)
    assert [shown.note for shown in person.seen("checks")[1:]] == refusals(run)
    assert len(refusals(run)) == len(answers_)
    assert_snapshot("\n".join(refusals(run)[:-1]), "agent/review: answers that cannot be followed")
    assert run.verdict == "plausible"
    assert not [version for version in run.versions if version.by in ("review", "user")]


@pytest.mark.slow
@pytest.mark.parametrize("where", ["tests", "checks"])
def test_a_limit_stands_in_the_way_of_the_model_and_not_of_the_verdict(where: str) -> None:
    model = ScriptedModel(script())

    class Patient(Person):
        """Answers once the draft was asked for too, which happens beside the review of the tests."""

        def __call__(self, shown: Checkpoint) -> Reviewed:
            until = time.monotonic() + 20
            while len(model.asked) < 2 and time.monotonic() < until:
                time.sleep(0.01)
            return super().__call__(shown)

    person = Patient(**{where: [say("change", "something")]})
    run = attempt(from_sentence(DOUBLE), model, limits=Limits(calls=2), confidence=AT_ONCE, review=person)
    assert_snapshot(refusals(run)[0], f"agent/review: a limit stands in the way at the {where}")
    assert (run.verdict, [event.reason for event in run.all(Stopped)]) == ("plausible", ["done"])


@pytest.mark.slow
def test_an_answer_without_code_is_said() -> None:
    run = tried(Person(checks=[say("change", "something")]), review="I would rather not.")
    [refused] = run.all(Refused)
    assert run.verdict == "plausible"
    assert run.versions[-1].problem in refused.why


@pytest.mark.slow
def test_who_stops_at_the_checks_gets_the_verdict() -> None:
    run = tried(Person(checks=[say("stop")]))
    last = run.last(Stopped)
    assert last
    assert (last.reason, run.verdict) == ("review", "plausible")


def left(run: Run, kind: Callable[[BaseEvent], bool]) -> list[BaseEvent]:
    """The events up to the first that is such, as a crash leaves them."""
    place = next(place for place, event in enumerate(run.events) if kind(event))
    return list(run.events[: place + 1])


def again(run: Run, store: Store, kind: Callable[[BaseEvent], bool], person: Person | None) -> Run:
    record = store.runs / run.id / "events.jsonl"
    lines = [event.model_dump_json() for event in left(run, kind)]
    record.write_text("\n".join(lines) + "\n")
    replies = script(tests=block(FRACTION), review=CHANGED)
    return attempt(from_sentence(DOUBLE), ScriptedModel(replies), review=person, replay=store.open(run.id).events)


def answers(where: str, said: str) -> Callable[[BaseEvent], bool]:
    return lambda event: isinstance(event, Reviewed) and (event.where, event.said) == (where, said)


@pytest.mark.slow
def test_what_was_answered_is_not_asked_again_after_a_crash(store: Store) -> None:
    talk = Person([say("change", "fractions")], [say("change", "add")])
    run = tried(talk, tests=[block("\n".join(OWN)), block(FRACTION)], review=CHANGED)
    assert (run.verdict, len(talk.shown)) == ("plausible", 4)
    moments: Iterator[tuple[Callable[[BaseEvent], bool], list[str]]] = iter(
        [
            (answers("checks", "go_on"), []),
            (answers("checks", "change"), ["checks"]),
            (answers("tests", "go_on"), ["checks", "checks"]),
            (answers("tests", "change"), ["tests", "checks", "checks"]),
        ]
    )
    for moment, left_to_ask in moments:
        person = Person([], [say("change", "add")] if len(left_to_ask) > 1 else [])
        resumed = again(run, store, moment, person if left_to_ask else None)
        assert [shown.where for shown in person.shown] == left_to_ask
        assert (resumed.verdict, resumed.code, resumed.model_tests) == ("plausible", run.code, (FRACTION,))
        assert reviewed(resumed) == reviewed(run)


def test_who_had_stopped_is_asked_anew_when_the_run_goes_on() -> None:
    stopped = Reviewed(where="tests", said="stop", basis="b")
    assert Replay([stopped]).reviewed("b") is None
    assert Replay([stopped.model_copy(update={"said": "go_on"})]).reviewed("b") is not None
    assert Replay([stopped]).reviewed("c") is None


def test_what_was_made_for_a_person_goes_back_to_them_whether_it_was_kept_or_not() -> None:
    done = Decided(choice="judge", reason="It passes.")
    tools = Tools(
        ScriptedModel([]), cast(Any, None), Meter(Limits()), threading.Event(), afterwards=frozenset({"strengthen"})
    )
    before = (proposed(1), ran(1, "pp"), done)
    assert after_decision(work(*before), tools) == ["survivors"]
    kept = Refined(check="quality", base=1, version=2, kept=True, before="2 findings")
    round_ = (proposed(2, by="refine", base=1), ran(2, "pp"), kept)
    wish = Reviewed(where="checks", said="change", words="simpler")
    for outcomes, best in (("pp", 3), ("pf", 2)):
        after = work(*before, *round_, wish, proposed(3, by="review", base=2), ran(3, outcomes), done)
        assert after.best
        assert after.best.number == best
        assert after_decision(after, tools) == ["review"]
    waits = work(*before, proposed(2, by="user", base=1))
    assert (after_review(waits), after_review(work(*before))) == ("run", "judge")
    assert after_review(work(*before, proposed(2, by="user", base=1, problem="no"))) == "judge"
    assert after_review(work(*before, proposed(2, by="user", base=1), done)) == "judge", "time was over"


def test_a_version_for_a_person_has_no_vote() -> None:
    versions = (proposed(1), ran(1, "pp"), proposed(2, by="review", base=1), ran(2, "pp"))
    now = work(*versions, proposed(3, by="user", base=2), ran(3, "pp"))
    assert now.best
    assert (now.best.number, [one.number for one in now.answers], [one.number for one in now.rivals]) == (3, [1], [1])
    assert now.group_of(now.best) == (3,)


def test_nothing_is_recorded_of_an_answer_that_came_after_ctrl_c() -> None:
    cancel = threading.Event()

    def person(shown: Checkpoint) -> Reviewed:
        cancel.set()
        return say("change", "too late")

    tools = Tools(ScriptedModel([GOOD]), cast(Any, None), Meter(Limits()), cancel, review=person)
    assert list(look(Checkpoint(where="tests", tests=""), tools)) == []
