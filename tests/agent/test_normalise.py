"""What a reader would call the same code is the same; what may behave differently is not."""

import pytest

from burnish.agent.state import normalise_code

CODE = """def total(xs):
    result = 0
    for x in xs:
        result += x
    return result
"""


@pytest.mark.parametrize(
    "same",
    [
        CODE.replace("result", "answer"),
        CODE.replace("    result = 0", '    """The sum."""\n\n    # begin\n    result = 0'),
        CODE.replace("x in xs", "one in xs").replace("+= x", "+= one"),
        CODE.replace("result += x", "result  +=  (x)"),
    ],
    ids=["renamed", "words", "loop variable", "layout"],
)
def test_names_words_and_layout_make_no_difference(same: str) -> None:
    assert same != CODE
    assert normalise_code(same) == normalise_code(CODE)


@pytest.mark.parametrize(
    "other",
    [
        CODE.replace("+=", "-="),
        CODE.replace("= 0", "= 1"),
        CODE.replace("xs", "numbers"),
        CODE.replace("total", "sum_of"),
        CODE.replace("result += x", "result += result"),
        CODE.replace("def total(xs):\n", "def total(xs):\n    global result\n"),
        CODE + "\n\nresult = 3\n",
    ],
    ids=["operator", "number", "parameter", "name", "which variable", "global", "module"],
)
def test_what_others_can_see_and_what_is_done_does(other: str) -> None:
    assert normalise_code(other) != normalise_code(CODE)


def test_a_global_name_is_not_a_local_one() -> None:
    assert normalise_code("def f():\n    global a\n    a = 1\n") != normalise_code(
        "def f():\n    global b\n    b = 1\n"
    )


def test_methods_and_functions_in_functions_are_read_too() -> None:
    method = "class C:\n    def m(self):\n        a = 1\n        return a\n"
    assert normalise_code(method) == normalise_code(method.replace("a = 1", "b = 1").replace("return a", "return b"))
    inner = "def f():\n    def g(n):\n        a = n\n        return a\n    return g(1)\n"
    assert normalise_code(inner) == normalise_code(inner.replace("a = n", "b = n").replace("return a", "return b"))


def test_what_does_not_parse_is_compared_line_by_line() -> None:
    assert normalise_code("def f(:\n\n  # so\n  pass ") == normalise_code("def f(:\n  pass")
    assert normalise_code("def f(:") != normalise_code("def g(:")


def test_code_nested_deeper_than_python_reads_is_no_error() -> None:
    assert normalise_code("x = " + "-" * 3000 + "1")
