"""The verdict: what passes, what fails, what was not run."""

import pytest

from burnish.checks.performance.growth import ENDINGS
from burnish.errors import CheckError
from tests.checks.performance.conftest import Judge
from tests.snapshots import assert_snapshot

LINEAR = "def total(numbers):\n    result = 0\n    for n in numbers:\n        result += n\n    return result\n"
BAD = {
    "nested loops": "def f(xs):\n    return [(a, b) for a in xs for b in xs]\n",
    "a search in a loop": "def f(xs):\n    seen = []\n    for x in xs:\n        if x not in seen:\n"
    "            seen.append(x)\n    return seen\n",
    "all subsets": "def f(xs):\n    if not xs:\n        return [[]]\n    rest = f(xs[1:])\n"
    "    return rest + [[xs[0], *s] for s in rest]\n",
}


@pytest.mark.slow
def test_good_code_passes_and_the_figure_says_how_it_grows(judge: Judge) -> None:
    evidence = judge(LINEAR, "def test_it():\n    assert total([1, 2, 3]) == 6\n", growth="linear")
    assert evidence.verdict == "passed"
    assert evidence.figure.startswith("total: linear, ")
    assert evidence.threshold == "at most linear"
    assert evidence.details["findings"] == []
    [function] = evidence.details["functions"]  # type: ignore[misc]
    assert (function["file"], function["line"], function["argument"]) == ("code_under_test.py", 1, "numbers")
    assert function["memory_growth"] == "constant"
    assert len(function["points"]) > 10
    assert function["points"] == sorted(function["points"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", BAD)
def test_slow_code_fails_with_its_place(judge: Judge, kind: str) -> None:
    evidence = judge(BAD[kind], "def test_it():\n    f([3, 1, 2])\n", growth="n log n")
    assert evidence.verdict == "failed"
    [finding] = evidence.details["findings"]  # type: ignore[misc]
    assert (finding["file"], finding["line"], finding["rule"]) == ("code_under_test.py", 1, "growth")
    [function] = evidence.details["functions"]  # type: ignore[misc]
    assert (function["name"], function["growth"]) in (("f", "quadratic"), ("f", "worse"))


@pytest.mark.slow
def test_without_an_input_to_grow_it_is_not_run(judge: Judge) -> None:
    evidence = judge("def f(x):\n    return x\n", "def test_it():\n    assert f(None) is None\n")
    assert evidence.verdict == "not_run"
    assert_snapshot(evidence.why, "performance/nothing to grow")


@pytest.mark.slow
def test_examples_in_docstrings_are_inputs_too(judge: Judge) -> None:
    evidence = judge('def first(xs):\n    """One.\n\n    >>> first([1, 2])\n    1\n    """\n    return xs[0]\n', "")
    assert evidence.verdict == "passed"
    assert evidence.figure.startswith("first: constant")


@pytest.mark.slow
def test_an_interpreter_that_is_broken_is_not_a_pass(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.checks.bench.check_context.CheckContext._find_python", lambda *_: "/bin/true")
    with pytest.raises(CheckError) as caught:
        judge(LINEAR, "def test_it():\n    assert total([1, 2, 3]) == 6\n")
    assert_snapshot(str(caught.value), "performance/no measurement")


@pytest.mark.slow
def test_a_module_that_cannot_be_imported_is_not_run(judge: Judge) -> None:
    evidence = judge("import nothing_like_it\n" + LINEAR, "def test_it():\n    total([1, 2, 3])\n")
    assert evidence.verdict == "not_run"
    assert "code_under_test" in evidence.why
    assert "ModuleNotFoundError" in evidence.why


@pytest.mark.slow
def test_the_recursion_limit_is_a_remark(judge: Judge) -> None:
    code = "def add(xs):\n    return xs[0] + add(xs[1:]) if xs else 0\n"
    evidence = judge(code, "def test_it():\n    assert add([1, 2]) == 3\n")
    assert evidence.verdict == "passed"
    [function] = evidence.details["functions"]  # type: ignore[misc]
    assert ENDINGS["RecursionError"].partition("{")[0] in function["note"]


ROMAN = """\
def roman(n):
    if not 1 <= n <= MOST:
        raise ValueError(n)
    said = ""
    for value, letters in [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")]:
        said, n = said + letters * (n // value), n % value
    return said + "I" * n
"""


@pytest.mark.slow
def test_a_number_grown_beyond_its_range_leaves_the_sizes_below_to_be_judged(judge: Judge) -> None:
    evidence = judge(ROMAN.replace("MOST", "3999"), "def test_it():\n    assert roman(1000) == 'M'\n")
    assert evidence.verdict == "passed"
    assert evidence.figure.startswith("roman: constant, ")
    [function] = evidence.details["functions"]  # type: ignore[misc]
    assert "ValueError" in function["note"]
    assert "4096" in function["note"]


@pytest.mark.slow
def test_a_function_that_takes_small_inputs_alone_is_not_run(judge: Judge) -> None:
    evidence = judge(ROMAN.replace("MOST", "20"), "def test_it():\n    assert roman(5) == 'IIIII'\n")
    assert evidence.verdict == "not_run"
    assert "ValueError" in evidence.why


@pytest.mark.slow
def test_arguments_that_must_agree_are_grown_together(judge: Judge) -> None:
    code = "def dot(a, b):\n    assert len(a) == len(b)\n    return sum(x * y for x, y in zip(a, b))\n"
    evidence = judge(code, "def test_it():\n    assert dot([1, 2], [3, 4]) == 11\n")
    [function] = evidence.details["functions"]  # type: ignore[misc]
    assert (function["growth"], function["argument"]) == ("linear", "a, b")


@pytest.mark.slow
def test_a_count_beside_a_list_does_not_grow_with_it(judge: Judge) -> None:
    code = "from itertools import combinations\ndef pick(xs, k):\n    return list(combinations(xs, k))\n"
    evidence = judge(code, "def test_it():\n    assert len(pick([1, 2, 3], 2)) == 3\n")
    [function] = evidence.details["functions"]  # type: ignore[misc]
    assert (evidence.verdict, function["growth"]) == ("passed", "quadratic")


@pytest.mark.slow
def test_a_search_is_measured_where_it_finds_nothing(judge: Judge) -> None:
    code = "def pair(xs, goal):\n    for i, a in enumerate(xs):\n        for b in xs[i + 1 :]:\n"
    code += "            if a + b == goal:\n                return a, b\n"
    evidence = judge(code, "def test_it():\n    assert pair([2, 7, 11, 15], 9) == (2, 7)\n", growth="linear")
    assert evidence.figure.startswith("pair: quadratic")
