"""specify: what the words fix is taken from them; what they leave open is assumed aloud, or put to the user."""

import threading
from collections.abc import Callable
from typing import cast

import pytest

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.agent.nodes.specify import extract_assumptions, extract_questions, specify
from burnish.agent.nodes.write_tests import write_tests
from burnish.agent.state import AgentState
from burnish.checks import Suite
from burnish.events import Asked, Event, SpecAgreed, TestsFrozen, TestsProposed, UserAnswered
from burnish.events.replay import Replay
from burnish.models.scripted import ScriptedModel
from burnish.sandbox import Sandbox
from burnish.tasks import Task, from_sentence
from burnish.tasks.examples import ASSUMED, is_edge_case
from tests.support import DOUBLE, block

POINTS = "Here is what is open:\n- assume that empty input gives 0\n2. Ties keep their order.\n"
VAGUE = "a function total(numbers) that adds up a list, e.g. total([1, 2]) == 3"


def tools(
    answer: Callable[[str], str] | None = None, replay: Replay | None = None, calls: int = 9, **replies: str
) -> Tools:
    model = ScriptedModel({purpose: [reply] for purpose, reply in replies.items()})
    return Tools(
        model,
        cast(Sandbox, None),
        Meter(Limits(calls=calls)),
        threading.Event(),
        answer=answer,
        replay=replay or Replay(),
    )


def agreed(task: Task, given: Tools) -> tuple[SpecAgreed, list[str]]:
    events = list(specify(AgentState(task, []), given))
    spec = events[-1]
    assert isinstance(spec, SpecAgreed)
    return spec, [event.purpose for event in events if isinstance(event, Asked)]


def asking(sentence: str) -> Task:
    return from_sentence(sentence).model_copy(update={"assume": True})


def test_a_vague_sentence_gets_its_assumptions_from_one_ask() -> None:
    spec, asked = agreed(asking(VAGUE), tools(assume=POINTS))
    assert asked == ["assume"]
    assert (spec.assumptions, spec.open_questions) == ((), ("empty input gives 0", "Ties keep their order"))


def test_only_what_decides_something_is_assumed() -> None:
    reply = block(
        "assert total([]) == 0  # empty\nassert total([4]) == 4\nassert total([1, 2]) == 4\n"
        "assert total([5, 6]) == 11\n"
        "assert total(['a']) == TypeError\nassert total(x) == 0\nassert other([]) == 0\nassert total([]) == 1\n"
        "assert total([-1]) == -1"
    )
    spec, _ = agreed(asking(VAGUE), tools(assume=f"- It must decide the order.\n{reply}"))
    assert spec.assumptions == ("total([]) == 0", "total([4]) == 4", "total(['a']) must raise TypeError")
    assert spec.open_questions == ("It must decide the order",)
    assert spec.given_tests == ("assert total([1, 2]) == 3",)


@pytest.mark.parametrize(
    ("lines", "assumed"),
    [
        (("total([]) raises ValueError", "total([1, 5]) raises ValueError"), ("total([]) must raise ValueError",)),
        (("assert total([]) == ValueError", "assert total([2, 3]) == None"), ("total([]) must raise ValueError",)),
        (("total('abc') raises TypeError",), ("total('abc') must raise TypeError",)),
        (
            ("assert total([]) == 0", "total([7, 8]) raises TypeError", "total([8, 7]) raises TypeError"),
            ("total([]) == 0",),
        ),
        (
            ("assert total([]) == 0", "total('abc') raises TypeError"),
            ("total([]) == 0", "total('abc') must raise TypeError"),
        ),
    ],
)
def test_whoever_has_ordinary_calls_refused_is_believed_of_unusual_input_only(
    lines: tuple[str, ...], assumed: tuple[str, ...]
) -> None:
    spec, _ = agreed(asking(VAGUE), tools(assume=block("\n".join(lines))))
    assert spec.assumptions == assumed


def test_an_assumption_becomes_a_test_that_says_so_and_decides_nothing() -> None:
    given = tools(assume=block("assert total([]) == 0"), tests=block("assert total([]) == 0\nassert total([2]) == 2"))
    events = proposed(asking(VAGUE), given)
    [found] = [event for event in events if isinstance(event, TestsProposed)]
    assert found.tests == (f"assert total([]) == 0{ASSUMED}", "assert total([2]) == 2")


@pytest.mark.parametrize(
    ("test", "decides"),
    [
        ("assert f([]) == 0", True),
        ("assert f('') == ''", True),
        ("assert f(-1) is None", True),
        ("assert f([1, 2]) == None", True),
        ("with pytest.raises(ValueError):\n    f('abc')", True),
        ("assert f([1, 2], 0) == 1", True),
        ("assert f('a') == 1", True),
        ("assert f([1], 'a') == 1", True),
        ("assert f(100, 'F') == 212", False),
        ("assert f('Hello World!') == 'hello-world'", False),
        ("assert f([1, 2, 3]) == 2", False),
        ("assert f(x) == 0", False),
    ],
)
def test_what_unusual_input_gives_is_a_decision(test: str, decides: bool) -> None:
    assert is_edge_case(test) is decides


@pytest.mark.parametrize(
    "sentence",
    [
        DOUBLE,
        VAGUE + "; an empty list gives 0",
        "a function f(n) for 1..10, e.g. f(2) == 4; ValueError for anything else",
    ],
)
def test_a_sentence_that_says_it_all_asks_nothing(sentence: str) -> None:
    assert agreed(asking(sentence), tools())[1] == []


def test_without_an_example_something_is_always_open() -> None:
    assert agreed(asking("a function twice(n)"), tools(assume="none"))[1] == ["assume"]


def test_evaluations_never_ask_for_assumptions() -> None:
    assert agreed(from_sentence(VAGUE), tools())[1] == []


def test_a_test_file_says_enough() -> None:
    task = asking("twice a number").model_copy(update={"test_file": "from solution import f", "entry_point": "f"})
    assert agreed(task, tools())[1] == []


@pytest.mark.parametrize("reply", ["none", "", "Nothing is open.", block("- assume a list\n"), "- ok\n* no\n"])
def test_an_answer_without_points_assumes_nothing(reply: str) -> None:
    assert extract_assumptions(reply, "total", asking(VAGUE)) == extract_questions(reply) == ()


def test_at_most_three_short_lines_are_kept() -> None:
    found = extract_questions("\n".join(f"- point number {n} {'x' * 300}" for n in range(9)))
    assert len(found) == 3
    assert all(len(point) <= 120 and "\n" not in point for point in found)


def test_a_model_that_cannot_say_does_not_end_the_work() -> None:
    assert agreed(asking(VAGUE), tools())[0].assumptions == ()
    assert agreed(asking(VAGUE), tools(calls=0))[0].assumptions == ()


def test_the_user_may_agree_or_say_otherwise_and_examples_in_an_answer_decide() -> None:
    answers = iter(["", "they raise, e.g. total(['a']) raises TypeError; total([5]) == 5; other(1) == 2"])
    spec, _ = agreed(asking(VAGUE), tools(lambda point: next(answers), assume=POINTS))
    assert spec.assumptions[0] == "empty input gives 0"
    assert spec.assumptions[1].startswith("they raise")
    assert spec.given_tests[0] == "assert total([1, 2]) == 3"
    assert set(spec.given_tests[1:]) == {"with pytest.raises(TypeError):\n    total(['a'])", "assert total([5]) == 5"}


def test_who_wants_to_be_asked_is_asked_about_plain_sentences_too() -> None:
    assert agreed(asking(DOUBLE), tools(lambda point: "", assume=POINTS))[1] == ["assume"]


@pytest.mark.parametrize("sentence", [VAGUE, DOUBLE])
def test_a_run_that_is_taken_up_again_keeps_what_was_agreed_and_does_not_ask_twice(sentence: str) -> None:
    first = list(specify(AgentState(asking(sentence), []), tools(lambda point: "total([9]) == 9", assume=POINTS)))
    for answer in (None, lambda point: "asked again"):
        spec, _ = agreed(asking(sentence), tools(answer, replay=Replay(first)))
        assert spec.assumptions == ("total([9]) == 9",) * 2
        assert spec.given_tests == cast(SpecAgreed, first[-1]).given_tests


def test_an_answer_is_on_record_before_the_next_question_and_is_not_asked_for_again() -> None:
    seen: list[Event] = []

    def killed(point: str) -> str:
        if "Ties" in point:
            raise KeyboardInterrupt
        return "it raises"

    with pytest.raises(KeyboardInterrupt):
        seen.extend(specify(AgentState(asking(VAGUE), []), tools(killed, assume=POINTS)))
    assert [event.words for event in seen if isinstance(event, UserAnswered)] == ["it raises"]
    asked: list[str] = []

    def later(point: str) -> str:
        asked.append(point)
        return ""

    spec, _ = agreed(asking(VAGUE), tools(later, replay=Replay(seen)))
    assert asked == ["Ties keep their order"]
    assert spec.assumptions == ("it raises", "Ties keep their order")


def test_an_example_in_the_models_own_assumption_decides_nothing() -> None:
    for answer in (None, lambda point: ""):
        spec, _ = agreed(asking(VAGUE), tools(answer, assume="- assume that total([]) == 7"))
        assert spec.assumptions == ("total([]) == 7",)
        assert spec.given_tests == ("assert total([1, 2]) == 3",)


def proposed(task: Task, given: Tools) -> list[Event]:
    spec = list(specify(AgentState(task, []), given))
    return list(write_tests(AgentState(task, spec), given))


def test_all_tests_are_frozen_once_by_the_hash_of_what_is_run() -> None:
    events = proposed(from_sentence(DOUBLE), tools(tests=block("assert double(1) == 2")))
    frozen = [event for event in events if isinstance(event, TestsFrozen)]
    given = from_sentence(DOUBLE).visible_tests
    assert [(event.given, event.model) for event in frozen] == [(2, 1)]
    assert frozen[0].sha256 == Suite.of("double", given, ("assert double(1) == 2",)).sha256


@pytest.mark.parametrize("calls", [0, 9])
def test_they_are_frozen_even_where_the_model_writes_none(calls: int) -> None:
    frozen = proposed(from_sentence(DOUBLE), tools(tests="none", calls=calls))[-1]
    assert isinstance(frozen, TestsFrozen)
    assert (frozen.given, frozen.model) == (2, 0)


def test_tests_may_call_any_of_several_functions() -> None:
    task = from_sentence("functions up(n) and down(n), e.g. up(1) == 2")
    answer = block("assert up(down(3)) == 3\nassert down(1) == 0\nassert left(1) == 0")
    found = next(event for event in proposed(task, tools(tests=answer)) if isinstance(event, TestsProposed))
    assert found.tests == ("assert up(down(3)) == 3", "assert down(1) == 0")
    assert found.dropped == 1


def test_tests_of_a_class_are_short_stories() -> None:
    answer = block("s = Stack()\ns.push(1)\nassert s.pop() == 1\n\ns = Stack(); assert s.size() == 0\n")
    events = proposed(from_sentence("a class Stack with push and pop"), tools(tests=answer))
    found = next(event for event in events if isinstance(event, TestsProposed))
    assert found.tests == ("s = Stack()\ns.push(1)\nassert s.pop() == 1", "s = Stack()\nassert s.size() == 0")
