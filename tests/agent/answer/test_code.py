"""From an answer to code: what can be saved is saved, and what cannot says why."""

import random

import pytest

from burnish.agent.answer.code import (
    AnswerFault,
    extract_code,
    extract_signature,
    find_fault,
    find_problem,
    read_answer,
    read_repair_elsewhere,
)
from burnish.agent.nodes.write_tests import extract_tests
from tests.support import ESC, block

CODE = "def f(n):\n    return n * 2\n"


@pytest.mark.parametrize(
    "answer",
    [
        block(CODE),
        block(CODE, ""),
        block(CODE, "py"),
        block(CODE, "Python"),
        block(CODE, "python3"),
        f"~~~python\n{CODE}~~~",
        f"````python\n{CODE}````",
        f"  ```python\n{CODE}  ```",
        f"```python title='x'\n{CODE}```",
        f"Sure! Here it is:\n\n{block(CODE)}\n\nIt doubles the number.",
        f"```python\n{CODE}",
        f"Here it is:\n{CODE}",
        CODE,
        CODE.replace("\n", "\r\n"),
        f"{block('pip install x', 'sh')}\n{block(CODE)}",
        f"{block('print(1)')}\n{block(CODE)}",
        block("def g(n):\n    return 1") + "\n" + block(CODE),
        block(CODE + "\nprint(f(2))"),
        block(CODE + "\nassert f(2) == 4"),
        block(CODE + "\nif __name__ == '__main__':\n    print(f(2))"),
        block(CODE + "\nfor n in range(3):\n    print(f(n))"),
        block("'''A module.'''\n" + CODE),
        block(f"{ESC}[31m{CODE}{ESC}[0m"),
    ],
)
def test_the_code_is_found_however_it_is_wrapped(answer: str) -> None:
    code = extract_code(answer, "f")
    assert code == CODE
    assert find_problem(code, "f(n)") == ""


def test_imports_constants_helpers_and_comments_are_kept() -> None:
    text = (
        "import math\n\n# the table\nTABLE = {1: 'I'}\nLIMIT: int = 3\n\n\n# helps\ndef g(n):\n    # inside\n"
        "    return n\n\n\n@cache\ndef f(n):\n    return g(n)\n"
    )
    code = extract_code(block(text), "f")
    for line in text.splitlines():
        assert line in code.splitlines()


@pytest.mark.parametrize(
    "guarded",
    [
        "try:\n    from math import prod\nexcept ImportError:\n    prod = None",
        "if True:\n    LIMIT = 3\nelse:\n    LIMIT = 4",
        "TABLE = {}\nfor number in range(3):\n    TABLE[number] = 1",
        "import sys\nsys.setrecursionlimit(5000)",
        "COUNT = 1\nCOUNT += 1",
    ],
)
def test_what_the_code_leans_on_is_kept(guarded: str) -> None:
    assert guarded.splitlines()[-1] in extract_code(block(f"{guarded}\n\n\n{CODE}"), "f")


def test_unusual_line_ends_inside_the_code_do_not_garble_it() -> None:
    text = 'MARK = "a\u2028b"\n\n\ndef f(n):\n    return MARK\n'
    assert extract_code(block(text), "f") == text


@pytest.mark.parametrize(
    "answer", ["", "   ", "I cannot do that.", "```\n```", "```sh\nls\n```", "😀" * 50, "```" * 30]
)
def test_an_answer_without_code_says_so(answer: str) -> None:
    code = extract_code(answer, "f")
    assert find_fault(code, "f(n)")[0] is AnswerFault.NO_CODE


@pytest.mark.parametrize(
    ("code", "fault", "shown"),
    [
        ("def f(n:\n    return", AnswerFault.NOT_PARSED, "line 1"),
        ("def f(n):\nreturn 1", AnswerFault.NOT_PARSED, "line 2"),
        ("x = '\x00'", AnswerFault.NOT_PARSED, ""),
        ("def g(n):\n    return n\n", AnswerFault.NOT_DEFINED, "f"),
        ("def f():\n    return 1\n", AnswerFault.OTHER_SIGNATURE, "f()"),
        ("def f(n, m):\n    return 1\n", AnswerFault.OTHER_SIGNATURE, "f(n, m)"),
        ("def f(n, *, m):\n    return 1\n", AnswerFault.OTHER_SIGNATURE, "f(n, *, m)"),
    ],
)
def test_code_that_cannot_be_what_was_asked_for_says_why(code: str, fault: AnswerFault, shown: str) -> None:
    found, problem = find_fault(code, "f(n)")
    assert found is fault
    assert shown in problem


@pytest.mark.parametrize(
    "signature",
    ["def f(n: int) -> int", "def f(value)", "def f(n, m=1)", "def f(*numbers)", "def f(n, *, m=1)", "def f(n, /)"],
)
def test_a_signature_that_takes_the_same_calls_will_do(signature: str) -> None:
    assert find_problem(f"{signature}:\n    return 1\n", "f(n)") == ""


def test_a_class_is_as_good_as_a_function_where_no_parameters_were_named() -> None:
    assert find_problem("class Stack:\n    pass\n", "Stack") == ""


def test_assertions_are_taken_one_line_each() -> None:
    answer = block(
        "assert f(1) == 2\nassert f(2) == 4, 'twice'\n# a comment\nassert f(1) == 2\nx = 3\nassert f(x) == 6"
    )
    assert extract_tests(answer, "f") == (["assert f(1) == 2", "assert f(2) == 4"], 2)


@pytest.mark.parametrize(
    "line",
    [
        "assert g(1) == 2",
        "assert True",
        "assert f(x) == 2",
        "assert (f(1) == 2, 'always true')",
        "assert f(1) == math.pi",
        "assert f(1) ==",
        "assert f(1) == 2; import os",
        "assert f(1) == undefined(2)",
    ],
)
def test_an_assertion_that_does_not_stand_on_its_own_is_dropped(line: str) -> None:
    assert extract_tests(block(line), "f") == ([], 1)


@pytest.mark.parametrize("stories", [False, True])
def test_tests_of_a_method_make_an_object_and_use_the_method(stories: bool) -> None:
    answer = block("assert Cart([1]).total() == 1\nassert Cart([1]).size == 1\nassert total([1]) == 1")
    assert extract_tests(answer, "Cart.total", stories=stories) == (["assert Cart([1]).total() == 1"], 2)


def test_tests_of_a_method_may_build_first_and_special_methods_have_no_name() -> None:
    story = "cart = Cart()\ncart.add(2)\nassert cart.total() == 2"
    assert extract_tests(block(story), "Cart.total", stories=True) == ([story], 0)
    assert extract_tests(block("assert len(Cart([1])) == 1"), "Cart.__len__")[0] == ["assert len(Cart([1])) == 1"]
    assert extract_tests(block("assert Cart.of(1) == 1"), "Cart.of", stories=True)[0] == ["assert Cart.of(1) == 1"]


def test_assertions_are_found_in_lists_and_prose_too() -> None:
    answer = "1. `assert f(1) == 2`\n- assert f(2) == 4\n* assert f(3) == 6\nThat is all."
    assert extract_tests(answer, "f")[0] == ["assert f(1) == 2", "assert f(2) == 4", "assert f(3) == 6"]


@pytest.mark.parametrize(
    ("answer", "signature"),
    [
        ("def roman(n: int) -> str:", "roman(n: int)"),
        ("```python\ndef roman(n):\n```", "roman(n)"),
        ("`def roman(n: int) -> str:`", "roman(n: int)"),
        ("The line is: def roman(n, base=10):", "roman(n, base=10)"),
        ("roman", ""),
        ("def (", ""),
        ("", ""),
    ],
)
def test_a_signature_is_read_from_an_answer(answer: str, signature: str) -> None:
    assert extract_signature(answer) == signature


PIECES = [
    "```python\n",
    "```",
    "~~~",
    "def f(n):\n",
    "    return n",
    "assert f(1) == 1\n",
    "class f:",
    "@",
    "\x00",
    "'''",
]
PIECES += ["\n", ESC, "[red]", "import os\n", "(" * 300, "x" * 500, "\u2028", "é", "print(1)\n", "lambda: ", "=", "#"]


@pytest.mark.parametrize("seed", range(200))
def test_no_answer_whatever_makes_it_stumble(seed: int) -> None:
    chance = random.Random(seed)
    answer = "".join(chance.choices(PIECES, k=chance.randrange(30)))
    code = extract_code(answer, "f")
    assert ESC not in code
    if not find_problem(code, "f(n)"):
        compile(code, "code", "exec")
    for test in extract_tests(answer, "f")[0]:
        compile(test, "test", "exec")
    extract_signature(answer)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (block("def f(n):\n    return n"), AnswerFault.NONE),
        ("", AnswerFault.NO_CODE),
        (block("def f(n:\n    return n"), AnswerFault.NOT_PARSED),
        (block("def g(n):\n    return n"), AnswerFault.NOT_DEFINED),
        (block("def f(n, m):\n    return n"), AnswerFault.OTHER_SIGNATURE),
        (block("function f(n) { return n }", "js"), AnswerFault.OTHER_LANGUAGE),
        ("I am sorry, I cannot help with that.", AnswerFault.DECLINED),
    ],
)
def test_what_is_wrong_with_an_answer_has_a_code(answer: str, fault: AnswerFault) -> None:
    found = read_answer(answer, "f", signature="f(n)")
    assert found.fault is fault
    assert bool(found.problem) == bool(fault)


SHAPES = """class Circle:
    def area(self):
        return 3 * self.radius * self.radius


class Square:
    def area(self):
        return self.side + self.side


def total(shapes):
    return sum(shape.area() for shape in shapes)
"""


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("def area(self):\n    return self.side * self.side", "Square.area"),
        ("def area(self):\n    return 3.14 * self.radius * self.radius", "Circle.area"),
        ("def total(shapes):\n    return sum(one.area() for one in shapes)", "total"),
    ],
)
def test_an_answer_that_repairs_another_function_is_put_where_it_resembles_one(written: str, place: str) -> None:
    found = read_repair_elsewhere(block(written), SHAPES)
    assert found is not None
    assert (found.place, found.code, found.fault) == (place, f"{written}\n", AnswerFault.NONE)


@pytest.mark.parametrize(
    "answer",
    [
        "I do not know.",
        block("def perimeter(self):\n    return 4"),
        block("def area(self, x):\n    x = open(x)\n    print(x.read(), 7 ** 3)"),
        block("def area(self:"),
    ],
)
def test_what_resembles_no_function_of_the_file_repairs_none(answer: str) -> None:
    assert read_repair_elsewhere(answer, SHAPES) is None
