"""What may be learnt from: the guard knows everything that is evaluated on, and bugs are proven."""

from pathlib import Path

import pytest

from burnish.evals.suites import load_suite
from burnish.events import Message
from burnish.learn.tasks import load_guard, load_writing, make_repairs, number_of, plant_bugs, write_suite
from burnish.sandbox import Sandbox
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
