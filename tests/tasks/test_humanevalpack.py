"""HumanEvalFix and HumanEval as tasks: what is shown, what only scores, what must not be seen."""

import re
from pathlib import Path

import pytest

from burnish.evals.strategies.strategy import show_task
from burnish.parsing import try_parse
from burnish.tasks import Task
from burnish.tasks.assemble import assemble
from burnish.tasks.humanevalpack import load_humaneval, load_humanevalfix, split_examples

CHECK = "def check(f):\n    # simple\n    assert f(1) == 2\n    assert f([1,\n              2]) == 3\n{more}check(f)\n"


def test_each_example_is_a_test_of_its_own_as_it_was_written() -> None:
    assert split_examples(CHECK.format(more=""), "f") == ("assert f(1) == 2", "assert f([1,\n              2]) == 3")


def test_lines_that_say_nothing_of_the_function_are_left_out() -> None:
    more = '    assert True, "a comment"\n    print\n    import random\n'
    assert len(split_examples(CHECK.format(more=more), "f")) == 2


def test_examples_that_hang_together_stay_together() -> None:
    (one,) = split_examples(CHECK.format(more="    x = 4\n    assert f(x) == 5\n"), "f")
    assert one.split("\n")[-2:] == ["x = 4", "assert f(x) == 5"]
    assert try_parse(one)


def test_no_examples_are_no_tests() -> None:
    assert split_examples("", "f") == ()


def test_stray_lines_that_hold_the_answer_are_never_shown() -> None:
    leak = "    def check(s):\n        return True\n    return 'Yes'\n"
    assert split_examples(leak + CHECK.format(more=""), "f") == split_examples(CHECK.format(more=""), "f")


@pytest.fixture(scope="module")
def docs(data: Path) -> list[Task]:
    return load_humanevalfix("docs", data)


def test_there_are_164_and_six_have_no_examples(docs: list[Task]) -> None:
    assert [task.id for task in docs] == [f"HumanEval/{number}" for number in range(164)]
    assert [int(task.id[10:]) for task in docs if not task.visible_tests] == [38, 41, 50, 83, 84, 160]
    assert all(task.signature.startswith(f"{task.entry_point}(") for task in docs)
    assert {task.split for task in docs} == {"eval"}


def test_code_tests_and_prelude_all_parse(docs: list[Task]) -> None:
    for task in docs:
        texts = [task.base_code, task.gold, task.prelude, task.hidden_tests, *task.visible_tests]
        assert all(try_parse(text) is not None for text in texts), task.id
        assert task.base_code.startswith(task.prelude.rstrip())
        assert f"def {task.entry_point}(" not in task.prelude


def test_the_tests_variant_shows_no_line_of_the_docstring(docs: list[Task], data: Path) -> None:
    for told, bare in zip(docs, load_humanevalfix("tests", data), strict=True):
        shown = show_task(bare, "visible").model_dump_json()
        lines = [line.strip() for line in told.prompt.split("\n")]
        prose = [line for line in lines if len(re.findall(r"[a-z]{3,} ", line)) > 3 and "(" not in line]
        leaked = [line for line in prose if line in shown]
        assert leaked == [], told.id
        assert (told.base_code, told.hidden_tests, told.gold) == (bare.base_code, bare.hidden_tests, bare.gold)


def test_no_strategy_sees_the_reference(docs: list[Task]) -> None:
    for task in docs:
        assert task.gold not in show_task(task, "visible").model_dump().values()
        assert "return 'Yes' if check(S1)" not in "".join(task.visible_tests)


def test_humaneval_has_no_code_to_go_on_from(docs: list[Task], data: Path) -> None:
    for told, fresh in zip(docs, load_humaneval(data), strict=True):
        assert fresh.base_code == fresh.bug == ""
        assert fresh.model_dump(exclude={"base_code", "bug"}) == told.model_dump(exclude={"base_code", "bug"})


@pytest.mark.slow
def test_the_references_function_in_the_buggy_module_is_the_reference(docs: list[Task]) -> None:
    for task in docs:
        repaired = assemble(task, task.gold)
        assert repaired.rstrip() == task.gold.rstrip(), task.id
        start = task.gold.index(f"def {task.entry_point}(")
        assert assemble(task, task.gold[start:]) == repaired, "the function alone is enough"
