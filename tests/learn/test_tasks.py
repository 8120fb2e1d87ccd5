"""What may be learnt from: the guard knows everything that is evaluated on, and bugs are proven."""

from pathlib import Path

import pytest

from burnish.checks import grade_script
from burnish.evals.suites import load_suite
from burnish.events import Message
from burnish.learn.tasks import (
    load_guard,
    load_writing,
    make_repairs,
    make_several,
    make_test_tasks,
    number_of,
    plant_bugs,
    write_suite,
)
from burnish.sandbox import Sandbox
from burnish.tasks.humanevalpack import load_humaneval
from burnish.tasks.task import Task


def test_only_training_tasks_that_no_evaluation_uses_are_kept(data: Path) -> None:
    kept, removed = load_writing(data)
    assert [task.id for task in kept] == ["mbpp-601", "mbpp-602"]
    why = {one.id: one.why for one in removed}
    assert why.keys() == {"mbpp-603", "mbpp-604", "mbpp-605"}
    assert "mbpp-511" in why["mbpp-603"], "it says the same in other words"
    assert "mbpp-11" in why["mbpp-605"], "a longer sentence with all of another in it is refused by the trainers too"


RIGHT = "def pairs(xs):\n    return sum(a == b for a, b in zip(xs, xs[1:]))\n"
ASKED = Message(role="user", content="It has a bug:\n```python\ndef f(x):\n    return x\n```")


@pytest.mark.parametrize(
    ("messages", "answers"),
    [
        ((Message(role="user", content=f"It has a bug:\n```python\n{RIGHT.replace('==', '!=')}```\nRepair it."),), ()),
        ((ASKED,), (f"```python\n{RIGHT}```",)),
        ((ASKED,), ("nothing", f"Long words.\n```python\ndef other(n):\n    return [n] * n + [1]\n\n\n{RIGHT}")),
        ((ASKED, Message(role="assistant", content="```python\ndef pairs(xs):\n")), (RIGHT.partition(":\n")[2],)),
    ],
)
def test_code_of_an_evaluation_is_found_in_prompts_and_answers_whatever_they_are_called(
    data: Path, messages: tuple[Message, ...], answers: tuple[str, ...]
) -> None:
    assert "humaneval" in load_guard(data).why_not_row("innocent", messages, answers).lower()


def test_code_that_is_nobodys_is_no_theft(data: Path) -> None:
    own = "```python\ndef pairs(xs):\n    return len([x for x, y in zip(xs[1:], xs) if x == y])\n```"
    assert not load_guard(data).why_not_row("innocent", (ASKED,), (own, "```python\ndef (\n```", "no code"))


def test_a_suite_with_broken_code_of_an_evaluation_is_refused(data: Path) -> None:
    broken = Task(id="mine", prompt="Mend it.", base_code=RIGHT.replace("==", "!="), gold="def f():\n    return 1\n")
    assert "humaneval" in load_guard(data).why_not(broken).lower()


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("mbpp-602", "mbpp-602"),
        ("mbppfix-602-17", "mbpp-602"),
        ("mbppplus-602", "mbpp-602"),
        ("Python/12", "humaneval-12"),
        ("humanevalfix-12", "humaneval-12"),
        ("mine", "mine"),
        ("mbpp-602-tests", "mbpp-602"),
        ("mbpp-602+mbpp-11", "mbpp-602+mbpp-11"),
    ],
)
def test_all_tasks_of_one_row_share_a_number(name: str, row: str) -> None:
    assert number_of(name) == row


def test_a_prompt_that_quotes_an_evaluation_is_found_whatever_it_is_called(data: Path) -> None:
    guard = load_guard(data)
    quoted = "Complete it:\n\nsay how many pairs of equal neighbours, a list of numbers has in ALL!"
    assert "humaneval" in guard.why_not_row("run-7", [Message(role="user", content=quoted)]).lower()
    assert not guard.why_not_row("run-7", [Message(role="user", content="Count pairs of equal neighbours.")])
    assert guard.why_not_row("mbppfix-11", [Message(role="user", content="anything")])


def test_code_of_an_evaluation_under_another_sentence_is_found(data: Path) -> None:
    stolen = "def other(xs):\n    return sum(a == b for a, b in zip(xs, xs[1:]))\n"
    why = load_guard(data).why_not(Task(id="mine", prompt="Find twins.", gold=stolen))
    assert "humaneval" in why.lower()


def test_each_planted_bug_fails_and_becomes_a_repair_with_words_or_without(
    data: Path, box: Sandbox, tmp_path: Path
) -> None:
    tasks, _ = load_writing(data)
    bugs = plant_bugs(tasks, box, bugs_each=3)
    assert {bug.id for bug in bugs} == {"mbpp-601", "mbpp-602"}
    repairs = make_repairs(tasks, bugs)
    assert len({task.id for task in repairs}) == len(bugs) >= 4
    assert [task.described for task in repairs[:2]] == [True, False]
    write_suite(repairs, tmp_path / "repairs.jsonl")
    read = load_suite(str(tmp_path / "repairs.jsonl"))
    assert [(task.id, task.base_code, task.gold) for task in read] == [(t.id, t.base_code, t.gold) for t in repairs]


def test_tests_are_right_that_accept_every_right_sample_and_refuse_the_wrong_ones(data: Path, box: Sandbox) -> None:
    tasks, _ = load_writing(data)
    bugs = plant_bugs(tasks, box, bugs_each=3)
    right = {"mbpp-601": ["def odd(n):\n    return 1 + n + n\n"]}
    made = {task.entry_point: task for task in make_test_tasks(tasks, bugs, right, box)}
    assert made.keys() == {"check_odd", "check_often"}
    task = made["check_odd"]
    assert tasks[0].gold.strip() not in task.prompt, "no code is shown"

    def share(*asserts: str) -> float:
        body = "".join(f"    assert {one}\n" for one in asserts) or "    pass\n"
        graded = grade_script(f"def check_odd(odd):\n{body}", task.hidden_tests, box, 2.0)
        return graded.passed / len(graded.cases)

    assert share("odd(1) == 3", "odd(5) == 11") == share("all(odd(n) == 2 * n + 1 for n in range(9))") == 1
    assert share() == 0, "tests that refuse nothing"
    assert share("False") == share("odd(1) == 4") == 0, "tests that refuse what is right"
    missed = [bugs[0].model_copy(update={"code": "def odd(n):\n    return 3 if n == 1 else 11\n"})]
    assert not make_test_tasks(tasks, missed, {}, box), "where the tests that score miss the bug, nobody could be right"


def test_tasks_of_several_functions_are_proven_and_come_from_tasks_that_may_be_learnt(data: Path, box: Sandbox) -> None:
    tasks, _ = load_writing(data)
    made = make_several(tasks, plant_bugs(tasks, box, bugs_each=1), box)
    (pair, *inside) = made
    assert (pair.id, pair.visible_tests) == ("mbpp-601+mbpp-602", tasks[0].visible_tests + tasks[1].visible_tests)
    assert {one.id for one in inside} == {"mbppfix-601-file", "mbppfix-602-file"}
    assert all("def odd" in one.base_code and "def often" in one.base_code for one in inside)
    wrong = tasks[1].model_copy(update={"gold": "def often(xs, x):\n    return 3\n"})
    assert not make_several([tasks[0], wrong], [], box), "the reference does not pass"


def test_a_task_of_several_of_which_one_is_evaluated_on_is_refused(data: Path) -> None:
    guard, (first, second) = load_guard(data), load_writing(data)[0]
    whole = {"prompt": f"{first.prompt}\n\nAlso: {second.prompt}", "gold": first.gold + second.gold}
    pair = first.model_copy(update={"id": "mbpp-601+mbpp-602", **whole})
    assert not guard.why_not(pair)
    (evaluated,) = load_humaneval(data)
    stolen = {
        "id": "mbpp-601+mbpp-511",
        "prompt": f"{pair.prompt}\n{evaluated.prompt}",
        "gold": pair.gold + evaluated.gold,
    }
    for field, value in stolen.items():
        assert guard.why_not(pair.model_copy(update={field: value})), field
