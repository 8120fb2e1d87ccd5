"""Only what reads back as the value it was becomes a test."""

import pytest

from burnish.strengthening.render_assert import are_same, is_value, render_assert


@pytest.mark.parametrize(
    ("answer", "test"),
    [
        ("10", "assert f(1) == 10"),
        ("'a\\'b'", 'assert f(1) == "a\'b"'),
        ("True", "assert f(1) == True"),
        ("None", "assert f(1) == None"),
        ("0.333333333", "assert f(1) == pytest.approx(0.333333333)"),
        ("[0.5, 2]", "assert f(1) == pytest.approx([0.5, 2])"),
        ("{1, 2}", "assert f(1) == {1, 2}"),
        ("set()", "assert f(1) == set()"),
        ("{'a': [1, 2]}", "assert f(1) == {'a': [1, 2]}"),
        ("(1,)", "assert f(1) == (1,)"),
        ("None\nargument 1 becomes [1]", "assert f(1) == None"),
        ("raises ValueError", "with pytest.raises(ValueError):\n    f(1)"),
    ],
)
def test_a_plain_value_becomes_a_test(answer: str, test: str) -> None:
    assert render_assert("f(1)", answer) == test


@pytest.mark.parametrize(
    "answer",
    [
        "too slow",
        "no answer",
        "'aaaa'… #0123456789ab",
        "Point(x=1)",
        "iterator [1, 2]",
        "a function",
        "nan",
        "[[0.5]]",
        "raises MyError",
        "'" + "a" * 300 + "'",
    ],
)
def test_what_was_cut_or_is_no_plain_value_becomes_none(answer: str) -> None:
    assert render_assert("f(1)", answer) == ""


def test_a_long_call_becomes_no_test() -> None:
    assert render_assert(f"f({'1' * 130})", "1") == ""


def test_answers_are_compared_as_a_test_would() -> None:
    assert are_same("1", "True")
    assert are_same("[1, 0]", "[True, False]")
    assert not are_same("1", "2")
    assert not are_same("1", "raises ValueError")
    assert not are_same("raises KeyError", "raises ValueError")
    assert are_same("Point(x=1)", "Point(x=1)")
    assert not is_value("raises ValueError")


def test_a_text_in_another_script_is_written_only_where_that_is_wanted() -> None:
    assert render_assert("f(1)", "'5 μm'") == ""
    assert render_assert("f(1)", "'5 μm'", any_script=True) == "assert f(1) == '5 μm'"
    assert render_assert("f(1)", "'plain'", any_script=True) == "assert f(1) == 'plain'"
    assert render_assert("f(1)", "'\\u202eμ'", any_script=True) == "", "nothing that a reader does not see"
    assert render_assert("f(1)", "Cart('μ')", any_script=True) == ""
