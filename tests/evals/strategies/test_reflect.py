"""The published agent, rebuilt: its turns, its temperatures, its memory and its quirks."""

import json
import textwrap
from pathlib import Path

import pytest

from burnish.evals.strategies import reflect
from burnish.evals.strategies.strategy import Puzzle, show_task
from burnish.events import Case, CodeProposed, Decided, Graded, TestsRan
from burnish.sandbox import Sandbox
from burnish.tasks.humanevalpack import load_humanevalfix
from tests.evals.strategies.at_work import HALF, NO_TESTS, RIGHT, TALK, TASK, TO_WRITE, WRONG, Worked, plan, work
from tests.support import block


def reflected(box: Sandbox, *replies: str, rounds: int = 5, task: object = TASK, seed: int = 0) -> Worked:
    return work(box, plan("reflect", rounds=rounds), replies, task, seed)  # type: ignore[arg-type]


def last_question(worked: Worked) -> str:
    return worked.asked[-1].messages[-1].content


def test_a_right_draft_is_the_end(box: Sandbox) -> None:
    worked = reflected(box, RIGHT)
    assert (worked.by, worked.answers, worked.stopped) == (["draft"], [(1, 0, 1)], "done")
    assert worked.kinds == ["asked", "model_replied", "code_proposed", "answered", "tests_ran", "stopped"]


def test_the_draft_shows_the_buggy_code_the_docstring_and_the_tests_in_this_order(box: Sandbox) -> None:
    [ask] = reflected(box, RIGHT).asked
    assert [message.role for message in ask.messages] == ["system", "user"]
    shown = ask.messages[-1].content
    places = [shown.index(part) for part in ("math.ceil(half)", TASK.prompt, *TASK.visible_tests)]
    assert places == sorted(places)


def test_the_body_of_the_buggy_function_is_shown_four_spaces_too_deep() -> None:
    shown = reflect.show_code(show_task(TASK, "visible"))
    assert shown == (
        "import math\n\n\ndef floor_half(n: float) -> int:\n        half = n / 2\n        return math.ceil(half)\n"
    )


def test_only_the_body_of_the_one_function_is_moved() -> None:
    header = "def floor_half(\n    n=(1, {2: 3}),\n):  # half\n"
    others = "\n\ndef other():\n    return 1\n"
    module = TASK.model_copy(update={"base_code": f"{header}    # why\n    return n\n{others}"})
    assert reflect.show_code(show_task(module, "visible")) == f"{header}        # why\n        return n\n{others}"


def test_code_in_which_the_function_is_not_found_is_shown_as_it_is() -> None:
    broken = TASK.model_copy(update={"base_code": "def floor_half(n:\n    return"})
    assert reflect.show_code(show_task(broken, "visible")) == broken.base_code


def test_where_there_is_no_buggy_code_the_stub_with_its_docstring_stands_in_its_place() -> None:
    shown = reflect.show_code(show_task(TO_WRITE, "visible"))
    assert shown == ('import math\n\n\ndef floor_half(n: float) -> int:\n    """Half of n, rounded down.\n    """')
    unnamed = TO_WRITE.model_copy(update={"signature": ""})
    assert "def floor_half(...):" in reflect.show_code(show_task(unnamed, "visible"))


def test_a_failure_is_told_by_its_first_assertion_and_nothing_else(box: Sandbox) -> None:
    worked = reflected(box, WRONG, RIGHT)
    assert (worked.by, worked.answers) == (["draft", "reflect"], [(1, 0, 1), (2, 1, 2)])
    told = last_question(worked)
    assert "Failed assertion:\n```\nassert floor_half(5) == 2\n```" in told
    assert "floor_half(9)" not in told
    assert "got" not in told
    assert "Error summary" not in told
    assert TASK.prompt in told


def test_an_exception_on_the_way_is_told_by_the_assertion_too(box: Sandbox) -> None:
    raises = block("def floor_half(n):\n    raise ValueError('no')")
    assert "assert floor_half(5) == 2" in last_question(reflected(box, raises, RIGHT))


def test_code_that_cannot_be_loaded_is_told_by_an_error_summary(box: Sandbox) -> None:
    unloadable = block("def floor_half(n: Unknown):\n    return 1")
    told = last_question(reflected(box, unloadable, RIGHT))
    assert "Error summary:" in told
    assert "NameError" in told
    assert "Failed assertion" not in told


@pytest.mark.slow
def test_a_run_without_end_is_told_as_a_timeout(box: Sandbox) -> None:
    puzzle = show_task(TASK, "visible", 0.5)
    endless = "def floor_half(n):\n    while True:\n        pass"
    graded = box.grade(endless, puzzle.tests, puzzle.timeout_seconds)
    assert reflect.describe_failure(graded) == "None\nTIMEOUT"
    assert reflect.find_assertion("None\nTIMEOUT", puzzle.tests) is None


def test_an_assertion_that_failed_before_the_timeout_is_what_is_told() -> None:
    failed = Case(name="1", outcome="failed", message="assert f(1) == 2\ngot: 3")
    hung = Case(name="2", outcome="failed", message="the time limit was reached")
    graded = Graded(cases=(failed, hung), problem="the time limit was reached", timed_out=True)
    assert reflect.describe_failure(graded).startswith("assert f(1) == 2")


def test_an_assertion_that_the_sandbox_shortens_is_told_whole(box: Sandbox) -> None:
    test = f"assert floor_half(5) == {list(range(200))}"
    worked = reflected(box, WRONG, RIGHT, rounds=1, task=TASK.model_copy(update={"visible_tests": (test,)}))
    assert test in last_question(worked)


def test_an_error_summary_has_at_most_six_lines() -> None:
    assert reflect.summarise_error("\n\n".join("abcdefgh")) == "c\nd\ne\nf\ng\nh"
    assert reflect.summarise_error("") == ""


def test_the_chat_grows_and_keeps_only_the_function_of_each_answer(box: Sandbox) -> None:
    code = block("import os\n\ndef floor_half(n):\n    return 7\n\nprint(1)")
    chatty = f"Sure! Here it is:\n{code}\nGood luck."
    worked = reflected(box, chatty, TALK, RIGHT)
    said = [message.content for message in worked.asked[-1].messages if message.role == "assistant"]
    assert said == [block("def floor_half(n):\n    return 7"), block("<NO VALID CODE>")]
    assert [message.role for message in worked.asked[-1].messages] == ["system", *["user", "assistant"] * 2, "user"]
    for earlier, later in zip(worked.asked, worked.asked[1:], strict=False):
        assert later.messages[: len(earlier.messages)] == earlier.messages


def test_an_answer_without_the_function_costs_an_iteration_and_is_no_answer(box: Sandbox) -> None:
    worked = reflected(box, TALK, block("def other():\n    return 1"), rounds=1)
    assert (worked.by, worked.answers) == (["draft", "syntax"], [(1, 0, None), (2, 1, None)])
    assert worked.stopped == "rounds"
    assert last_question(worked) == reflect.SYNTAX
    assert all(proposed.problem for proposed in worked.all(CodeProposed))
    assert not worked.all(TestsRan)


def test_an_answer_given_before_costs_an_iteration_and_is_not_run_again(box: Sandbox) -> None:
    worked = reflected(box, WRONG, HALF, WRONG, RIGHT)
    assert worked.by == ["draft", "reflect", "reflect", "repeat"]
    assert worked.answers == [(1, 0, 1), (2, 1, 2), (3, 2, 3), (4, 3, 4)]
    assert [ran.version for ran in worked.all(TestsRan)] == [1, 2, 4]
    assert last_question(worked) == reflect.REPEAT


def test_the_last_answer_counts_even_where_an_earlier_one_was_better(box: Sandbox) -> None:
    assert reflected(box, HALF, WRONG, rounds=1).answers[-1] == (2, 1, 2)
    assert reflected(box, HALF, TALK, rounds=1).answers[-1] == (2, 1, None)
    assert reflected(box, WRONG, WRONG, rounds=1).answers[-1] == (2, 1, 2)


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_there_are_as_many_iterations_as_rounds(box: Sandbox, rounds: int) -> None:
    worked = reflected(box, WRONG, rounds=rounds)
    assert (len(worked.asked), worked.stopped) == (rounds + 1, "rounds")


def test_the_draft_is_greedy_and_each_iteration_is_warmer(box: Sandbox) -> None:
    worked = reflected(box, WRONG, rounds=5)
    assert [ask.temperature for ask in worked.asked] == [0.0, 0.25, 0.45, 0.65, 0.85, 0.9]
    assert [ask.top_p for ask in worked.asked][1:] == [0.9, 0.93, 0.96, 0.98, 0.98]
    own = {(ask.top_k, ask.min_p, ask.repetition_penalty, ask.max_tokens) for ask in worked.asked}
    assert own == {(20, 0.0, 1.1, 512)}, "for the greedy draft too"


def test_each_call_and_each_attempt_has_its_own_seed_and_a_rerun_has_the_same(box: Sandbox) -> None:
    runs = [[ask.seed for ask in reflected(box, WRONG, seed=seed).asked] for seed in (0, 0, 1)]
    assert runs[0] == runs[1]
    assert len({*runs[0], *runs[2]}) == 12


def test_the_plans_temperature_changes_nothing(box: Sandbox) -> None:
    worked = work(box, plan("reflect", rounds=1, temperature=0.5), [WRONG])
    assert [ask.temperature for ask in worked.asked] == [0.0, 0.25]


def test_without_tests_the_draft_is_final(box: Sandbox) -> None:
    worked = reflected(box, WRONG, RIGHT, task=NO_TESTS)
    assert (worked.by, worked.answers, worked.stopped) == (["draft"], [(1, 0, 1)], "done")
    assert "No test" in worked.all(Decided)[0].reason
    assert reflected(box, TALK, WRONG, task=NO_TESTS).by == ["draft", "syntax"]


def test_only_the_named_function_is_taken() -> None:
    helper = "import re\n\ndef helper():\n    pass\n\n@cached\ndef f(a):\n    return helper()\n\nf(1)"
    assert reflect.extract_function(block(helper), "f") == "def f(a):\n    return helper()"
    assert reflect.extract_function("def f(a):\n    return 1", "f") == "def f(a):\n    return 1"
    assert reflect.extract_function(f"{block('def g(): pass')}\n{block('def f(): pass')}", "f") is None, (
        "the first block"
    )
    assert reflect.extract_function("```python\ndef f(a):\n    return 1", "f") is None, "a block that is not closed"
    assert reflect.extract_function(block("class A:\n    def f(a): pass"), "f") is None
    assert reflect.extract_function(block("async def f(a): pass"), "f") is None
    assert reflect.extract_function(block("def f(a:"), "f") is None


def test_the_function_is_run_under_the_modules_imports(box: Sandbox) -> None:
    assert reflected(box, block("def floor_half(n):\n    return math.floor(n / 2)")).stopped == "done"


def test_a_missing_part_leaves_its_heading() -> None:
    puzzle = Puzzle(task=NO_TESTS.model_copy(update={"prompt": ""}), tests="")
    shown = reflect.draft_prompt(puzzle)
    assert "Docstring:\n''''''" in shown
    assert "Tests:\n```python\n\n```" in shown


def test_the_buggy_code_is_shown_as_the_published_agent_shows_it(data: Path) -> None:
    rows = [json.loads(line) for line in (data / "humanevalpack-python.jsonl").read_text("utf-8").splitlines()]
    theirs = [row["declaration"] + textwrap.indent(row["buggy_solution"], "    ") for row in rows]
    ours = [reflect.show_code(show_task(task, "oracle")) for task in load_humanevalfix("docs", data)]
    differs = [row["task_id"] for row, their, our in zip(rows, theirs, ours, strict=True) if their != our]
    assert differs == ["Python/115"], "its declaration ends below the header"
