"""What a reader would call the same code is the same; what may behave differently is not."""

import pytest

from burnish.agent.likeness import bare

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
    assert bare(same) == bare(CODE)


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
    assert bare(other) != bare(CODE)


def test_a_global_name_is_not_a_local_one() -> None:
    assert bare("def f():\n    global a\n    a = 1\n") != bare("def f():\n    global b\n    b = 1\n")


def test_methods_and_functions_in_functions_are_read_too() -> None:
    method = "class C:\n    def m(self):\n        a = 1\n        return a\n"
    assert bare(method) == bare(method.replace("a = 1", "b = 1").replace("return a", "return b"))
    inner = "def f():\n    def g(n):\n        a = n\n        return a\n    return g(1)\n"
    assert bare(inner) == bare(inner.replace("a = n", "b = n").replace("return a", "return b"))


def test_what_does_not_parse_is_compared_line_by_line() -> None:
    assert bare("def f(:\n\n  # so\n  pass ") == bare("def f(:\n  pass")
    assert bare("def f(:") != bare("def g(:")


def test_code_nested_deeper_than_python_reads_is_no_error() -> None:
    assert bare("x = " + "-" * 3000 + "1")
