"""MBPP+ as tasks: stored inputs get their types back, and the script that scores knows right from wrong."""

import gzip
import json
from pathlib import Path

import pytest

from burnish.sandbox import Sandbox
from burnish.tasks import Task
from burnish.tasks.mbpp import find_calls, learn_kinds, load_mbppplus, load_plus_asserts, restore_call

HALF = {
    "task_id": "Mbpp/11",
    "prompt": '"""\nHalve a number.\nassert half(4) == 2.0\n"""\n',
    "entry_point": "half",
    "canonical_solution": "\nimport math\ndef half(n):\n    return n / 2\n",
    "base_input": [[4]],
    "plus_input": [[1], [10**30], [float("inf")]],
    "atol": 0,
    "contract": "",
    "assertion": "\nassert half(4) == 2.0\n",
}


def load(folder: Path, **changes: object) -> Task:
    with gzip.open(folder / "MbppPlus.jsonl.gz", "wt") as file:
        file.write(json.dumps(HALF | changes) + "\n" + json.dumps(HALF | {"task_id": "Mbpp/511"}) + "\n")
    (task,) = load_mbppplus("eval", folder)
    return task


def test_only_ids_of_the_split_are_taken(tmp_path: Path) -> None:
    task = load(tmp_path)
    assert [(one.id, one.split) for one in load_mbppplus("calibrate", tmp_path)] == [("mbppplus-511", "calibrate")]
    assert load_plus_asserts("eval", tmp_path) == {"mbppplus-11": "assert half(4) == 2.0"}
    assert (task.id, task.prompt, task.visible_tests) == ("mbppplus-11", "Halve a number.", ("assert half(4) == 2.0",))


@pytest.mark.parametrize(
    ("code", "passes"),
    [
        ("def half(n):\n    return n / 2", True),
        ("def half(n):\n    return n / 2 + 1e-9", True),
        ("def half(n):\n    return n / 2 if n > 1 else 0.6", False),
        ("def half(n):\n    return n // 2", False),
        ("def half(n):\n    return None", False),
        ("def half(n):\n    return 1 / 0", False),
        ("class Any:\n    __eq__ = lambda a, b: True\ndef half(n):\n    return Any()", False),
    ],
)
def test_only_agreement_with_the_reference_passes(tmp_path: Path, box: Sandbox, code: str, passes: bool) -> None:
    graded = box.grade(code, load(tmp_path).hidden_tests)
    assert graded.all_passed is passes, graded
    assert graded.separated


def test_the_inputs_are_fresh_for_the_code_even_if_the_reference_changes_them(tmp_path: Path, box: Sandbox) -> None:
    reference = "def half(n):\n    n.append(1)\n    return len(n)\n"
    calls = {"base_input": [[[4]]], "plus_input": [], "assertion": "assert half([4]) == 2"}
    task = load(tmp_path, canonical_solution=reference, **calls)
    assert box.grade(reference, task.hidden_tests).all_passed


def test_a_function_named_like_a_helper_of_the_script_is_no_problem(tmp_path: Path, box: Sandbox) -> None:
    code = "def check(n):\n    return n\n"
    told = {"prompt": '"""x\nassert check(4) == 4"""', "assertion": "assert check(4) == 4", "entry_point": "check"}
    task = load(tmp_path, canonical_solution=code, **told)
    assert box.grade(code, task.hidden_tests).all_passed
    assert not box.grade("def check(n):\n    return 4\n", task.hidden_tests).all_passed


def test_types_that_json_lacks_are_learnt_from_written_calls() -> None:
    written = find_calls("f", "assert f((1, 2), [(1,), (2,)], [{1}, {}], 1j) == 1\nassert set(f((), [], [], 2)) == {1}")
    stored = [[[1, 2], [[1], [2]], [[1], []], "1j"], [[], [], [], 2]]
    kinds = learn_kinds(written, stored)
    assert [restore_call(call, kinds) for call in stored] == written
    assert restore_call([[5], [[]], [[7, 8], []], "(1+2j)"], kinds) == [(5,), [()], [{7, 8}, {}], 1 + 2j]


def test_an_argument_that_is_no_literal_says_nothing_of_types() -> None:
    written = find_calls("f", "assert f(14*14)\nassert f(3)")
    assert written == [[None], [3]]
    assert restore_call([5], learn_kinds(written, [[196], [3]])) == [5]


@pytest.mark.parametrize(("returned", "passes"), [("True", True), ("re.search('a', x)", True), ("None", False)])
def test_a_match_counts_as_true_where_the_assertions_ask_for_truth(
    tmp_path: Path, box: Sandbox, returned: str, passes: bool
) -> None:
    code = "import re\ndef check_str(x):\n    return {}\n"
    told = {"prompt": '"""x\nassert check_str("a")"""', "assertion": 'assert check_str("a")', "base_input": [["a"]]}
    task = load(
        tmp_path, canonical_solution=code.format("re.search('a', x)"), entry_point="check_str", plus_input=[], **told
    )
    assert box.grade(code.format(returned), task.hidden_tests).all_passed is passes


def test_a_text_among_texts_stays_a_text() -> None:
    kinds = learn_kinds([[3], ["5"]], [[3], ["5"]])
    assert restore_call(["5"], kinds) == ["5"]


@pytest.mark.slow
def test_the_public_file_gives_224_tasks(data: Path) -> None:
    tasks = load_mbppplus("eval", data)
    assert len(tasks) == 224
    assert len({task.id for task in tasks}) == 224
    assert all(task.visible_tests[0].count("assert ") == 1 for task in tasks)


@pytest.mark.slow
def test_a_sample_of_references_passes_and_nothing_passes_by_saying_nothing(data: Path, box: Sandbox) -> None:
    for task in load_mbppplus("eval", data)[5::20]:
        assert box.grade(task.gold, task.hidden_tests).all_passed, task.id
        assert box.grade(task.gold, task.visible_tests[0]).all_passed, task.id
        nothing = f"def {task.entry_point}(*inputs):\n    return None\n"
        assert not box.grade(nothing, task.hidden_tests).all_passed, task.id
