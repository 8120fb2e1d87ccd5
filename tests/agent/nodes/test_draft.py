"""From an answer to a version: what was begun is gone on with, the wrong form is asked for once more and then named."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from burnish import Limits, ScriptedModel
from burnish.agent import prompts
from burnish.agent.answer.code import AnswerFault, find_fault
from burnish.agent.nodes import repair
from burnish.agent.nodes import rewrite as node
from burnish.agent.nodes.draft import describe_failure
from burnish.agent.packages import RunPackages
from burnish.agent.policy import only_repeats
from burnish.errors import ModelError
from burnish.events import Asked, CodeProposed, Event, Move, Stopped
from burnish.models.model import Chunk
from burnish.packages import InstalledPackage, Layer
from burnish.tasks import Task
from tests.agent.history import REPAIR, WRITING, given, proposed, ran, work
from tests.agent.nodes.at_work import tools
from tests.snapshots import assert_snapshot
from tests.support import block

MOVE = Move(kind="draft", version=1, round=0)
GOOD = "def f(n):\n    return n * 2"
CART = "RATE = 7  # stays\n\n\nclass Cart:\n    def total(self, n):\n        return n\n\n\ndef other():\n    return 1\n"


def asked(*answers: str, task: Task = WRITING, limits: Limits | None = None, move: Move = MOVE) -> list[Event]:
    return list(node(work(task=task), tools(None, *answers, limits=limits), move))


def version(events: list[Event]) -> CodeProposed:
    [made] = [event for event in events if isinstance(event, CodeProposed)]
    return made


def purposes(events: list[Event]) -> list[str]:
    return [event.ask_id for event in events if isinstance(event, Asked)]


@pytest.mark.parametrize(
    "answer",
    [
        "    return n * 2\n```",
        "    return n * 2",
        "    return n * 2\n```\nThis doubles n.",
        "\n    return n * 2\n```\n",
    ],
    ids=["closed", "open", "talk-below", "blank-first"],
)
def test_an_answer_goes_on_from_what_was_begun_for_it(answer: str) -> None:
    events = asked(answer)
    made = version(events)
    assert made.problem == ""
    assert made.code.startswith("def f(n):\n")
    assert "return n * 2" in made.code
    assert "Give n back." in made.code, "the docstring that was begun"
    assert purposes(events) == ["draft-1"]


@pytest.mark.parametrize(
    "answer",
    [block(GOOD), f"Here it is:\n\n{block(GOOD)}\n\nIt doubles n.", GOOD, f"{block('import math')}\n{block(GOOD)}"],
    ids=["block", "with-words", "bare", "two-blocks"],
)
def test_an_answer_that_starts_over_is_taken_by_itself(answer: str) -> None:
    made = version(asked(answer))
    assert (made.problem, made.code.strip()) == ("", GOOD)


NOTHING_IN_IT = [
    "",
    "   \n",
    "```",
    "I am sorry, I cannot help with that.",
    '{"answer": 42}',
    "<html><body>no</body></html>",
]


@pytest.mark.parametrize("answer", NOTHING_IN_IT)
def test_the_wrong_form_is_asked_for_once_more_with_the_form_made_plain(answer: str) -> None:
    events = asked(answer, block(GOOD))
    assert purposes(events) == ["draft-1", "form-1"]
    again = [event for event in events if isinstance(event, Asked)][1]
    assert [message.role for message in again.messages[-2:]] == ["assistant", "user"]
    made = version(events)
    assert (made.problem, made.code.strip(), made.ask_id) == ("", GOOD, "form-1")


@pytest.mark.parametrize("answer", NOTHING_IN_IT)
def test_a_second_answer_in_the_wrong_form_is_recorded_as_a_problem(answer: str) -> None:
    events = asked(answer)
    assert purposes(events) == ["draft-1", "form-1"]
    assert version(events).problem


def test_where_no_call_is_left_the_form_is_not_asked_for_again() -> None:
    events = asked("no", limits=Limits(calls=1))
    assert purposes(events) == ["draft-1"]
    assert [event.reason for event in events if isinstance(event, Stopped)] == ["calls"]
    assert version(events).problem


def test_code_that_does_not_parse_is_kept_to_be_mended_by_a_question_of_its_own() -> None:
    events = asked(block("def f(n):\n    return (n"))
    assert purposes(events) == ["draft-1"]
    assert find_fault(version(events).code, "f(n)") == (AnswerFault.NOT_PARSED, version(events).problem)
    assert "return (n" in version(events).code


def test_forgotten_imports_are_added() -> None:
    made = version(asked(block("def f(n: List[int]):\n    return math.floor(n)")))
    assert made.code.startswith("from typing import List\nimport math\n\n\ndef f")


def test_a_version_is_a_whole_module_with_every_other_byte_as_it_was() -> None:
    task = Task(
        id="c",
        prompt="The total.",
        entry_point="Cart.total",
        signature="Cart.total(self, n)",
        base_code=CART,
        broken=True,
    )
    made = version(asked("    return n * RATE\n```", block("def total(self, n):\n    return n * RATE"), task=task))
    assert made.problem == ""
    assert made.code.startswith(CART.partition("    def total")[0])
    assert made.code.endswith(CART.partition("        return n\n")[2])
    assert "return n * RATE" in made.code


def test_the_version_of_the_prompts_and_the_seed_are_on_record() -> None:
    [ask] = [
        event for event in asked(block(GOOD), move=MOVE.model_copy(update={"version": 5})) if isinstance(event, Asked)
    ]
    assert (ask.prompt_version, ask.seed) == (prompts.VERSION, 5)


def test_a_move_names_the_model_that_is_asked() -> None:
    large = ScriptedModel([block(GOOD)], name="scripted:large")
    own = tools(None, "no", others=[large])
    events = list(node(work(), own, MOVE.model_copy(update={"model": 1})))
    assert len(large.asked) == 1
    assert version(events).problem == ""


def test_a_repair_shows_the_broken_code_and_what_goes_wrong() -> None:
    state = work(given(), ran(0, "pf", "assert f(2) == 2\ngot: -1"), task=REPAIR)
    own = tools(None, block(GOOD))
    made = version(list(repair(state, own, Move(kind="repair", version=1, round=0, base=0))))
    shown = [event for event in own.model.asked[0].messages]  # type: ignore[attr-defined]
    assert "return a - b" in shown[1].content
    assert "-1" in shown[1].content
    assert (made.by, made.base) == ("repair", 0)


def test_where_nothing_was_broken_a_repair_shows_the_best_version_and_asks_for_all_of_the_code() -> None:
    state = work(proposed(1), ran(1, "pf", "assert f(2) == 2\ngot: 1"))
    own = tools(None, block(GOOD))
    made = version(list(repair(state, own, Move(kind="repair", version=2, round=1, base=1))))
    shown = own.model.asked[0].messages[1].content  # type: ignore[attr-defined]
    assert state.version(1).code.strip() in shown
    assert "got: 1" in shown
    assert "imports" in shown, "there is no file around it that could hold them"
    assert (made.by, made.base, made.problem) == ("repair", 1, "")


def test_what_goes_wrong_is_told_in_a_line_and_never_more_than_one_failure() -> None:
    state = work(proposed(1), ran(1, "ff", "got: 7"))
    assert describe_failure(state, 1).count("got: 7") == 1
    assert (
        describe_failure(work(proposed(1, problem="the code does not parse: line 1")), 1)
        == "the code does not parse: line 1"
    )


def test_what_had_to_be_done_to_an_answer_is_on_record() -> None:
    assert version(asked(block(GOOD))).mended == ""
    wrapped = version(asked('{"code": "def f(n):\\n    return n"}'))
    assert (wrapped.problem, "JSON" in wrapped.mended) == ("", True)


class Unreachable:
    """A model that cannot be reached."""

    name, slots = "scripted:gone", 1

    def stream(self, ask: object, cancel: object) -> Iterator[Chunk]:
        raise ModelError("gone")


def test_an_answer_that_did_not_come_is_one_answer_less_and_in_an_evaluation_the_end_of_the_attempt() -> None:
    hands = replace(tools(), model=cast(Any, Unreachable()))
    made = version(list(node(work(), hands, MOVE)))
    assert made.no_answer
    assert "gone" in made.problem
    assert not only_repeats(work(made, made.model_copy(update={"version": 2, "round": 1})), 1)
    with pytest.raises(ModelError, match="gone"):
        list(node(work(), replace(hands, errors_end=True), MOVE))


LONG = "def f(n):\n" + "".join(f"    total_{n} = n * {n} + {n}\n" for n in range(500)) + "    return total_7\n"


@pytest.mark.slow
def test_what_was_made_from_a_part_must_hold_the_rest() -> None:
    task = REPAIR.model_copy(update={"base_code": LONG})
    before = work(given(LONG), ran(0, "ff"), task=task)
    move = Move(kind="repair", version=1, round=0, base=0)
    short = version(list(repair(before, tools(None, block("def f(n):\n    return n")), move)))
    assert_snapshot(short.problem, "agent/answer: lines that were not shown are missing")
    line = "    total_498 = n * 498 + 498\n    total_499 = n * 499 + 499\n    return n"
    changed = version(list(repair(before, tools(None, block(line)), move)))
    assert (changed.problem, len(changed.code.splitlines())) == ("", 502)
    assert changed.code.endswith("    return n\n")


@pytest.mark.parametrize(("there", "line"), [("pandas", "import pandas as pd\n\n\n"), ("numpy", ""), ("", "")])
def test_a_package_that_is_there_need_not_be_imported_by_the_answer(there: str, line: str) -> None:
    code = "def f(n):\n    return pd.Series([n])"
    installed = (InstalledPackage(name=there, version="2"),) if there else ()
    layer = Layer(folder=Path("/nowhere"), packages=installed, asked=())
    using = replace(tools(None, block(code)), packages=RunPackages(layer, (), lambda folder: None))
    assert version(list(node(work(task=WRITING), using, MOVE))).code.strip() == f"{line}{code}"
