"""Examples in words become tests: what the words say is read, and nothing that they do not say."""

import threading
from pathlib import Path
from typing import Any, cast

import pytest

import burnish
from burnish import Limits, Run, ScriptedModel, SetupProblem, Store
from burnish.agent.ask import Checkpoint, Tools
from burnish.agent.limits import Meter
from burnish.agent.nodes.specify import specify
from burnish.agent.state import AgentState
from burnish.agent.worded_examples import ask_for_examples, choose_examples, confirm_examples, find_readings
from burnish.events import (
    Asked,
    Case,
    Event,
    Graded,
    Outcome,
    Reviewed,
    RunFinished,
    SpecAgreed,
    Stopped,
    TestsRan,
    WordedExample,
)
from burnish.events.replay import Replay
from burnish.report.deliverables import list_open_questions, read_suite
from burnish.sandbox import Sandbox
from burnish.tasks import Task, from_sentence
from burnish.tasks.examples import find_values
from tests.agent.history import proposed
from tests.evidence.delivered import deliver, edit, evidence
from tests.support import GOOD, SQUARE, attempt, block, refused, script

WORDED = "a function double(n) that doubles a number; for instance 7 gives 14"
UNSURE = "a function double(n) that doubles a number: the double of 7 is 14"
TEST = "assert double(7) == 14"


def read(sentence: str, signature: str, *said: str) -> list[str]:
    """The tests that are read where a model names those claims."""
    task = from_sentence(sentence)
    return [one.test for one in choose_examples(task, find_readings(task, signature), said)]


@pytest.mark.parametrize(
    ("sentence", "signature", "claims"),
    [
        ("The list [3, 1, 2] becomes [1, 2, 3].", "f(xs)", ["f([3, 1, 2]) == [1, 2, 3]"]),
        ("Next prime; for instance 7 gives 11.", "f(n)", ["f(7) == 11"]),
        ("'good day' should turn into 'day good'", "f(t)", ["f('good day') == 'day good'"]),
        ("If you pass [1, 4] and [2], you get [1, 2, 4].", "f(a, b)", ["f([1, 4], [2]) == [1, 2, 4]"]),
        ("“abc” → “cba”, and -2.5 → 2.5", "f(x)", ["f('abc') == 'cba'", "f(-2.5) == 2.5"]),
        ("Sortieren: aus [3, 1, 2] wird [1, 2, 3].", "f(xs)", ["f([3, 1, 2]) == [1, 2, 3]"]),
        ("Zum Beispiel ergibt 7 die 11.", "f(n)", ["f(7) == 11"]),
        ("Aus „Hallo“ soll „ollaH“ werden.", "f(t)", ["f('Hallo') == 'ollaH'"]),
        ("4 ergibt wahr, 7 ergibt falsch.", "f(n)", ["f(4) == True", "f(7) == False"]),
        ("Für 2 und 10 liefert sie 1024.", "f(a, b=2)", ["f(2, 10) == 1024"]),
        ("3 gives 9 and 4 gives 16", "f", ["f(3) == 9", "f(4) == 16"]),
    ],
)
def test_plain_words_are_read_without_asking_anybody(sentence: str, signature: str, claims: list[str]) -> None:
    assert read(sentence, signature) == [f"assert {claim}" for claim in claims]
    assert (
        ask_for_examples(from_sentence(sentence), signature, find_readings(from_sentence(sentence), signature)) is None
    )


@pytest.mark.parametrize(
    ("sentence", "signature", "claim"),
    [
        ('Vowels; "banana" has 3.', "f(text)", "f('banana') == 3"),
        ("The greatest common divisor of 12 and 18 is 6.", "f(a, b)", "f(12, 18) == 6"),
        ("2024 is one, so it returns True.", "f(year)", "f(2024) == True"),
        ("Als Binärzahl, etwa '101' für 5.", "f(n)", "f(5) == '101'"),
    ],
)
def test_what_may_be_read_otherwise_is_put_to_the_model_and_taken_only_at_its_word(
    sentence: str, signature: str, claim: str
) -> None:
    task = from_sentence(sentence)
    question = ask_for_examples(task, signature, find_readings(task, signature))
    assert question is not None
    assert question.read_data(f'{{"examples": ["{claim}"]}}')["examples"] == [claim], "the schema has it"
    assert read(sentence, signature) == []
    assert read(sentence, signature, claim, "f(1) == 2") == [f"assert {claim}"], "and nothing that was not read"


@pytest.mark.parametrize(
    ("sentence", "signature"),
    [
        ("The sum of all multiples of 3 or 5 below a limit is returned.", "f(n)"),
        ("Rounds to 2 decimal places and never returns less than 0.99.", "f(n)"),
        ("Rolls dice with 6 sides and returns numbers between 1 and 6.", "f(n)"),
        ("Subtract 32, then multiply by 5 and divide by 9.", "f(n)"),
        ("Returns 5 for light parcels and 10 for heavy ones.", "f(w)"),
        ("Jedes 'ä' wird durch 'ae' ersetzt.", "f(a, b, c)"),
        ("It gives 3,5 for 7 and 1,000 for v1.2.3 in 2024-01-05.", "f(n)"),
        ("If it can be done then return True else return False.", "f(n)"),
        ("7 gives 11", "f()"),
        ("a class f(n): 7 gives 11", "f(n)"),
        ("", "f(n)"),
        ("[" * 5000, "f(n)"),
        ("7 " + "x" * 3000 + " gives 11", "f(n)"),
        ("7 gives 11\0" * 3, "f(a, b, c, d)"),
    ],
)
def test_numbers_of_rules_and_odd_texts_give_no_example_and_no_question(sentence: str, signature: str) -> None:
    task = Task(id="f", prompt=sentence)
    assert find_readings(task, signature) == ()


def test_values_are_found_as_they_are_written() -> None:
    text = "‘x’ 'it' \"a b\" don't [1, [2]] (3, 4) (so) {1: 'x'} {2, 1} f3 -7 0.5 5-3 10 % true None 'unfinished"
    literals = ["'it'", "'a b'", "[1, [2]]", "(3, 4)", "{1: 'x'}", "{2, 1}", "-7", "0.5", "True", "None"]
    assert [value.literal for value in find_values(text)] == literals


def test_what_was_read_as_code_is_no_example_in_words_as_well() -> None:
    task = from_sentence("a function f(n), e.g. f(2) == 4, f(3) returns 9 and 5 gives 25")
    assert [one.example.test for one in find_readings(task, "f(n)")] == ["assert f(5) == 25"]


def test_in_evaluations_and_repairs_words_are_only_read_where_no_test_is_visible() -> None:
    shown = from_sentence("a function f(n), e.g. f(2) == 4; 3 gives 9")
    assert find_readings(shown, "f(n)")
    for other in ({"split": "eval"}, {"broken": True}):
        task = shown.model_copy(update=other)
        assert find_readings(task, "f(n)") == ()
        assert find_readings(task.model_copy(update={"visible_tests": ()}), "f(n)")


def test_an_example_is_quoted_with_the_words_around_it() -> None:
    task = from_sentence("Prime numbers. For instance, 4 gives False, 7 gives True. The rest is up to you.")
    quotes = [one.example.quote for one in find_readings(task, "f(n)")]
    assert quotes == ["For instance, 4 gives False", "7 gives True"]
    task = from_sentence("a function f(n), e.g. f(2) == 4 and 5 gives 25")
    assert [one.example.quote in task.prompt for one in find_readings(task, "f(n)")] == [True]


@pytest.mark.parametrize(
    "sentence",
    [
        "a function f(n), for instance 7 gives 13, and 7 gives 14",
        "a function f(n), e.g. f(7) == 13; it is so that 7 becomes 14",
    ],
    ids=["in words", "in code and words"],
)
def test_examples_that_contradict_each_other_are_named_with_their_words(sentence: str) -> None:
    with refused():
        read(sentence, "f(n)")


def test_a_contradiction_that_may_be_a_misreading_only_loses_its_example() -> None:
    assert read("a function f(n): 7 gives 13. The f of 7 is 14", "f(n)", "f(7) == 14") == ["assert f(7) == 13"]


@pytest.mark.parametrize(
    ("versions", "decides"),
    [
        ([], False),
        ([("p", True)], True),
        ([("p", False)], True),
        ([("p", True), ("f", True)], False),
        ([("p", True), ("f", False)], True),
        ([("p", True), ("p", True), ("f", True), ("f", True)], True),
        ([("f", True)], False),
    ],
)
def test_two_versions_confirm_an_example_or_one_that_no_other_contradicts(
    versions: list[tuple[str, bool]], decides: bool
) -> None:
    fresh = [({TEST} if passed == "p" else set[str](), is_good) for passed, is_good in versions]
    assert confirm_examples([TEST], fresh) == ((TEST,) if decides else ())


# In a run


def agree(
    sentence: str, replay: Replay | None = None, calls: int = 9, **replies: str
) -> tuple[SpecAgreed, list[Event]]:
    model = ScriptedModel({purpose: [reply] for purpose, reply in replies.items()})
    tools = Tools(model, cast(Sandbox, None), Meter(Limits(calls=calls)), threading.Event(), replay=replay or Replay())
    events = list(specify(AgentState(from_sentence(sentence), []), tools))
    spec = next(event for event in reversed(events) if isinstance(event, SpecAgreed))
    return spec, events


@pytest.mark.parametrize(
    ("reply", "tests"),
    [
        ('{"examples": ["double(7) == 14"]}', [TEST]),
        ('{"examples": []}', []),
        ('{"examples": ["double(7) == 15"]}', []),
        ('{"examples": ["double(7', []),
        ("no idea", []),
    ],
)
def test_the_model_is_asked_once_and_an_answer_off_the_schema_gives_nothing(reply: str, tests: list[str]) -> None:
    spec, events = agree(UNSURE, examples=reply)
    assert [event.purpose for event in events if isinstance(event, Asked)] == ["examples"]
    assert [one.test for one in spec.worded] == tests
    assert spec.given_tests == ()


def test_a_model_that_fails_or_a_limit_costs_only_the_example() -> None:
    assert agree(UNSURE)[0].worded == ()
    spec, events = agree(UNSURE, calls=0, examples='{"examples": []}')
    assert spec.worded == ()
    assert any(isinstance(event, Stopped) for event in events)


def test_a_run_that_goes_on_reads_the_same_and_an_older_record_is_asked_nothing_new() -> None:
    spec, events = agree(UNSURE, examples='{"examples": ["double(7) == 14"]}')
    again, told = agree(UNSURE, Replay(events))
    assert again.worded == spec.worded != ()
    assert [event.kind for event in told] == [event.kind for event in events if event.lasting]
    older = SpecAgreed(entry_point="double", signature="double(n)")
    assert agree(UNSURE, Replay([older]))[0].worded == ()


def state_with(*passing: str) -> AgentState:
    """Where a run stands whose versions, drafts and rewrites, pass ("p") or fail the one example in words."""
    spec = SpecAgreed(entry_point="f", signature="f(n)", worded=(WordedExample(test="assert f(7) == 14", quote="…"),))
    events: list[Event] = [spec]
    for number, said in enumerate(passing, 1):
        outcome: Outcome = "passed" if said == "p" else "failed"
        graded = Graded(cases=(Case(name="test_worded_1", outcome=outcome),))
        events += [proposed(number, round=int(number > 1)), TestsRan(version=number, graded=graded)]
    return AgentState(Task(id="f", prompt="7 gives 14", entry_point="f"), events)


def test_an_example_decides_ranks_or_is_set_aside_as_versions_say() -> None:
    test = "assert f(7) == 14"
    assert state_with("p").deciding_tests == (test,)
    open_ = state_with("f")
    assert (open_.deciding_tests, open_.disputed, open_.best_passes) == ((), (), False)
    split = state_with("f", "p")
    assert (split.deciding_tests, split.disputed) == ((), ())
    assert split.best is not None
    assert split.best.number == 2
    assert state_with("f", "f", "f").disputed == (test,)
    assert state_with("f", "p", "f", "p").deciding_tests == (test,)


@pytest.fixture(scope="module")
def delivered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A run whose only example is in words."""
    folder = tmp_path_factory.mktemp("delivered") / "double"
    return folder, deliver(folder, WORDED, tests=block("assert double(1) == 2"))


def test_an_example_in_words_decides_and_is_shown_with_its_words(delivered: tuple[Path, Run]) -> None:
    folder, run = delivered
    assert run.verdict == "plausible"
    assert read_suite(run).worded == (TEST,)
    (listed,) = [test for test in evidence(folder)["tests"] if test["origin"] == "worded"]
    assert (listed["test"], listed["why"], listed["result"]) == (TEST, "for instance 7 gives 14", "passed")
    for text in ((folder / "report.md").read_text(), burnish.explain(run)):
        assert "for instance 7 gives 14" in " ".join(text.split())
    assert "def test_worded_1():" in (folder / "test_solution.py").read_text()
    assert "examples" not in [event.purpose for event in run.all(Asked)], "it was plain"


@pytest.mark.slow
def test_verify_takes_it_and_refuses_one_that_the_words_do_not_hold(
    delivered: tuple[Path, Run], tmp_path: Path
) -> None:
    folder, _ = delivered
    assert burnish.verify(folder, store=Store(folder.parent / "home")).ending == "holds"

    def forge(data: dict[str, Any]) -> None:
        (listed,) = [test for test in data["tests"] if test["origin"] == "worded"]
        listed["why"] = "for instance 8 gives 16"

    edit(folder, forge)
    assert burnish.verify(folder, sandbox="nowhere").ending == "refused"


@pytest.mark.usefixtures("open_box")
def test_an_example_that_most_versions_contradict_is_set_aside_and_asked_about() -> None:
    model = ScriptedModel(script(tests=block("assert double(1) == 2\nassert double(0) == 0")))
    run = attempt(from_sentence("a function double(n), e.g. double(2) == 4; 7 gives 15"), model)
    assert run.verdict == "plausible"
    assert run.disputed == ("assert double(7) == 15",)
    (question,) = list_open_questions(run)
    assert "double(7) == 15" in question
    assert "7 gives 15" in question


@pytest.mark.usefixtures("open_box")
def test_an_example_in_words_chooses_between_versions_that_the_given_one_cannot_tell_apart() -> None:
    own = block("assert double(0) == 0")
    model = ScriptedModel(script(draft=SQUARE, rewrite=GOOD, tests=own))
    run = attempt(from_sentence("a function double(n), e.g. double(2) == 4; 7 gives 14"), model)
    assert "n * 2" in run.code
    assert run.verdict == "plausible"


@pytest.mark.usefixtures("open_box")
@pytest.mark.parametrize(
    ("words", "given", "worded"),
    [("remove", (), ()), ("should be 15", ("assert double(7) == 15",), ()), ("", (), (TEST,))],
)
def test_a_person_strikes_or_changes_it_at_the_review(
    words: str, given: tuple[str, ...], worded: tuple[str, ...]
) -> None:
    shown: list[str] = []

    def look(checkpoint: Checkpoint) -> Reviewed:
        shown.append(checkpoint.tests)
        line = next((n for n, text in enumerate(checkpoint.tests.splitlines(), 1) if TEST in text), None)
        first = checkpoint.where == "tests" and len(shown) == 1 and words
        return Reviewed(where=checkpoint.where, said="comment" if first else "go_on", words=words, line=line)

    run = attempt(from_sentence(WORDED), ScriptedModel(script()), review=look)
    suite = read_suite(run)
    assert TEST in shown[0]
    assert (suite.given, suite.worded) == (given, worded)
    assert run.last(RunFinished) is not None


def test_contradictory_examples_end_the_command_before_any_model_is_asked(tmp_path: Path) -> None:
    model = ScriptedModel(script())
    for sentence in ("f(n), e.g. f(1) == 2 and f(1) == 3", "a function f(n): 7 gives 13, and 7 gives 14"):
        with pytest.raises(SetupProblem):
            burnish.write(sentence, model, out=tmp_path / "out", store=Store(tmp_path / "home"))
    assert model.asked == []
    assert Store(tmp_path / "home").list() == [], "nothing was begun"
