"""Calls made from tests: the tests' own first, then many like them, the same on every machine."""

import ast
import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

from burnish.search.call_generator import (
    LONGEST_CALL,
    CallClues,
    find_constants,
    find_named_values,
    generate_calls,
    generate_calls_of_all,
    vary_calls,
)


def made(
    entry_point: str,
    signature: str,
    tests: Sequence[str],
    most: int = 40,
    draw: int = 0,
    prompt: str = "",
    modules: Sequence[str] = (),
    files: Sequence[str] = (),
) -> tuple[str, ...]:
    """The calls, in one breath with what they are made from."""
    return generate_calls(entry_point, signature, CallClues(tests, prompt, modules, files), most, draw)


def arguments(calls: tuple[str, ...]) -> list[tuple[object, ...]]:
    found = []
    for call in calls:
        node = ast.parse(call, mode="eval").body
        assert isinstance(node, ast.Call)
        found.append(tuple(eval(compile(ast.Expression(part), "call", "eval")) for part in node.args))
    return found


@pytest.mark.parametrize(
    ("test", "call"),
    [
        ("assert f([1, 2]) == 3", "f([1, 2])"),
        ("assert not f(-1)", "f(-1)"),
        ("assert sorted(f({2, 1}, key='a')) == [1]", "f({1, 2}, key='a')"),
        ("with pytest.raises(ValueError):\n    f('x', None)", "f('x', None)"),
        ("rows = [(1, 'a')]\nresult = f(rows, 2)\nassert result == 4", "f([(1, 'a')], 2)"),
        ("assert abs(f(2.5) - 1.0) < 1e-6", "f(2.5)"),
        ("assert f(range(5), float('inf')) == 3", "f(range(5), float('inf'))"),
    ],
)
def test_the_call_of_a_test_comes_first(test: str, call: str) -> None:
    calls = made("f", "", [test])
    assert calls[0] == call
    assert len(calls) > 5


def test_calls_are_distinct_and_short_and_parse() -> None:
    tests = ["assert f('hello world', [1, 2, 3], {'a': (1.5, True)}) == 3"]
    calls = made("f", "", tests)
    assert len(calls) == len(set(calls)) == 40
    assert max(map(len, calls)) <= LONGEST_CALL
    assert len(arguments(calls)) == 40


def test_fewer_may_be_asked_for_and_the_known_ones_stay_in_front() -> None:
    tests = [f"assert f({n}) == {n}" for n in range(5)]
    assert made("f", "", tests, most=3) == ("f(0)", "f(1)", "f(2)")
    assert made("f", "", tests, most=9)[:5] == tuple(f"f({n})" for n in range(5))


@pytest.mark.slow
def test_the_same_question_gives_the_same_calls_in_another_process() -> None:
    test = "assert f({'a', 'b', 'c'}, 'xyz') == 1"
    imports = "from burnish.search.call_generator import CallClues, generate_calls"
    code = f"{imports}; print(generate_calls('f', '', CallClues([{test!r}])))"
    said = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_another_draw_gives_other_calls_and_not_the_known_ones() -> None:
    tests = ["assert f([3, 1, 2], 'ab') == 3"]
    first, second = made("f", "", tests), made("f", "", tests, draw=1)
    assert tests[0].split(" ", 1)[1].split(" ==")[0] not in second
    assert len(set(second) - set(first)) > 25


def test_lists_are_met_empty_single_reversed_and_with_doubles() -> None:
    lists = [given for (given,) in arguments(made("f", "", ["assert f([1, 5, 3]) == 3"]))]
    assert {"[]", "[1]", "[3, 5, 1]"} <= {repr(one) for one in lists}
    assert any(isinstance(one, list) and len(one) > len(set(one)) for one in lists)
    assert any(isinstance(one, list) and len(one) > 3 for one in lists)


def test_texts_are_met_empty_reversed_and_in_other_case() -> None:
    texts = {given for (given,) in arguments(made("f", "", ["assert f('abc') == 3"]))}
    assert {"", "a", "cba", "ABC"} <= texts


def test_numbers_stay_cheap_and_a_large_one_stays_about_as_large() -> None:
    small = [given for (given,) in arguments(made("f", "", ["assert f(7) == 3"]))]
    assert {0, 1, 6, 8, -1} <= set(small)
    assert all(isinstance(one, int) and abs(one) <= 10_000 for one in small)
    large = [given for (given,) in arguments(made("f", "", ["assert f(1000000) == 3"]))]
    assert max(one for one in large if isinstance(one, int)) <= 2_000_000


def test_a_length_beside_its_list_is_mostly_kept_right() -> None:
    rows = arguments(made("f", "", ["assert f([4, 2, 8, 1], 4) == 3"]))
    kept = sum(isinstance(row[0], list) and row[1] == len(row[0]) for row in rows)
    assert len(rows) * 0.6 < kept < len(rows)


def test_lists_of_one_length_are_mostly_kept_so() -> None:
    rows = arguments(made("f", "", ["assert f([4, 2, 8], [1, 2, 3]) == 3"]))
    kept = sum(len(row[0]) == len(row[1]) for row in rows)  # type: ignore[arg-type]
    assert len(rows) * 0.6 < kept < len(rows)


def test_a_sorted_list_and_positive_numbers_are_mostly_kept_so() -> None:
    lists = [one for (one,) in arguments(made("f", "", ["assert f([1, 4, 6, 9]) == 3"])) if isinstance(one, list)]
    assert sum(one == sorted(one) for one in lists) > len(lists) * 0.6
    assert sum(min(one, default=1) > 0 for one in lists) > len(lists) * 0.8


def test_rows_of_a_table_keep_their_length() -> None:
    tables = [one for (one,) in arguments(made("f", "", ["assert f([(1, 'a'), (2, 'b')]) == 3"]))]
    shapes = [{len(row) for row in table} for table in tables if isinstance(table, list)]
    assert sum(shape <= {2} for shape in shapes) > len(shapes) * 0.8


def test_none_comes_only_where_a_test_has_it() -> None:
    assert not any("None" in call for call in made("f", "", ["assert f([1, 'a'], 2) == 3"]))
    assert any("None" in call for call in made("f", "", ["assert f([1, None, 'a']) == 3"])[1:])


def test_arguments_of_several_tests_are_mixed() -> None:
    rows = arguments(made("f", "", ["assert f('abc', 50) == 3", "assert f('xyz', 70) == 4"]))
    assert ("abc", 70) in rows
    assert ("xyz", 50) in rows


def test_a_class_is_met_through_its_methods() -> None:
    assert made("Stack", "", ["assert Stack([1]).push(2).size == 2"])[0] == "Stack([1]).push(2).size"
    story = "s = Stack()\ns.push(5)\nassert s.pop() == 5"
    calls = made("Stack", "", [story])
    assert calls[0] == "[[(s := Stack())].clear(), s.push(5), s.pop()]"
    assert len(calls) > 10
    assert any("push(4)" in call for call in calls)


@pytest.mark.parametrize(
    ("signature", "kinds"),
    [
        ("f(n: int, s: str)", (int, str)),
        ("def f(numbers: List[float], threshold: float) -> bool:", (list, float)),
        ("f(pairs: list[tuple[int, str]])", (list,)),
        ("f(x: Optional[int], y: 'Dict[str, int]')", (int, dict)),
        ("f(lst, text, n)", (list, str, int)),
        ("f(words, k=3)", (list,)),
    ],
)
def test_without_tests_types_and_names_of_parameters_decide(signature: str, kinds: tuple[type, ...]) -> None:
    rows = arguments(made("f", signature, []))
    assert len(rows) == 40
    for row in rows:
        assert len(row) == len(kinds)
        assert all(isinstance(value, kind | int) for value, kind in zip(row, kinds, strict=True))


def test_a_parameter_that_must_be_named_is_named() -> None:
    assert made("f", "f(a: int, *, text, k=1)", [])[0] == "f(3, text='abc')"


def test_values_without_a_literal_are_written_so_that_they_can_be_read() -> None:
    assert made("f", "", ["assert f(1e999, {'b', 'a'}) == 1"])[0] == "f(float('inf'), {'a', 'b'})"


def test_a_parameter_that_says_nothing_is_met_with_several_kinds() -> None:
    kinds = {type(one) for (one,) in arguments(made("f", "f(thing)", []))}
    assert {int, list, str} <= kinds


def test_examples_in_the_prompt_are_used() -> None:
    prompt = "Write roman(n).\n>>> roman(1994)\n'MCMXCIV'\nFor all n, roman(n) is a text, and roman(4) is 'IV'."
    assert made("roman", "roman(n)", [], prompt=prompt)[:2] == ("roman(1994)", "roman(4)")


def test_what_the_prompt_speaks_of_comes_in() -> None:
    assert find_named_values("Angles sum to 180 degrees; 'b' and \"ok\" don't count. See 3.14, v2.") == [180, "b", "ok"]
    calls = made("f", "", ["assert f(3, 'ac') == 1"], prompt="Find three 'b' below 180.")
    assert any("180" in call for call in calls)
    assert any("b" in call for call in calls)


def test_a_signature_in_the_prompt_is_used() -> None:
    calls = made("f", "", [], prompt="Complete:\ndef f(a: str, b: int) -> int:\n    ...")
    assert calls[0] == "f('abc', 3)"


@pytest.mark.parametrize("test", ["assert f(", "", "assert g(1) == 2", "assert True", "\0", "f = 1"])
def test_where_nothing_is_known_there_is_no_call(test: str) -> None:
    assert made("f", "", [test]) == ()


def test_a_function_without_parameters_has_one_call() -> None:
    assert made("f", "f()", []) == ("f()",)
    assert made("f", "", ["assert f() == 3"]) == ("f()",)


def test_what_is_no_plain_value_stays_as_it_is() -> None:
    calls = made("f", "", ["assert f(lambda x: x + 1, [1, 2], f'{1}') == 3"])
    assert all(call.startswith("f(lambda x: x + 1, [") and call.endswith("f'{1}')") for call in calls)


def test_constants_of_the_versions_come_in() -> None:
    module = "def f(n):\n    return n > 777 or 'needle' or 10 ** 99999\n"
    assert find_constants([module, "not python ("]) == ["needle", 777, 10]
    calls = made("f", "", ["assert f(3, 'hay') == 3"], modules=[module])
    assert any("77" in call for call in calls)
    assert any("needle" in call for call in calls)


CART = """
class Cart:
    def __init__(self, items: list[int]):
        self.items = items

    def add(self, n: int):
        self.items.append(n)

    def total(self):
        return sum(self.items)

    @property
    def size(self):
        return len(self.items)

    def __len__(self):
        return len(self.items)

    @staticmethod
    def parse(text: str):
        return Cart([int(part) for part in text.split()])
"""
CART_TESTS = """
import pytest, shop

@pytest.fixture
def cart():
    return shop.Cart([1, 2])

def test_sum(cart):
    cart.add(4)
    assert cart.total() == 7

def test_empty():
    assert shop.Cart([]).total() == 0

def test_elsewhere(tmp_path):
    assert shop.Cart(read(tmp_path)).total() == 0
"""


@pytest.mark.parametrize(
    ("name", "test", "call"),
    [
        ("Cart.total", "assert Cart([1, 2]).total() == 3", "Cart([1, 2]).total()"),
        ("Cart.total", "assert Cart([7]).size == 1\nassert Cart([1]).total() == 1", "Cart([1]).total()"),
        ("Cart.total", "c = Cart([1])\nassert c.total() == 1", "[[(c := Cart([1]))].clear(), c.total()]"),
        ("Cart.size", "assert Cart([1]).size == 1", "Cart([1]).size"),
        ("Cart.parse", "assert Cart.parse('1 2').total() == 3", "Cart.parse('1 2').total()"),
        ("Cart.__len__", "assert len(Cart([1])) == 1", "len(Cart([1]))"),
        ("Cart.__eq__", "assert Cart([1]) == Cart([1])", "Cart([1]) == Cart([1])"),
        ("Cart._sum", "assert Cart([1]).total() == 1", "Cart([1]).total()"),
    ],
)
def test_a_method_is_called_as_the_tests_call_it(name: str, test: str, call: str) -> None:
    calls = made(name, "", [test])
    assert calls[0] == call
    assert len(calls) > 5


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("Cart.total", "Cart([3, 10, 0]).total()"),
        ("Cart.size", "Cart([3, 10, 0]).size"),
        ("Cart.parse", "Cart.parse('abc')"),
        ("Cart.add", "[(made := Cart([3, 10, 0])), made.add(3)]"),
        ("Cart", "Cart([3, 10, 0]).total()"),
    ],
)
def test_without_tests_objects_are_made_as_the_module_says(name: str, call: str) -> None:
    assert call in made(name, "", [], modules=[CART])


def test_the_tests_of_a_project_are_called_like_given_ones_as_far_as_they_need_only_the_module() -> None:
    calls = made("Cart.total", "", [], modules=[CART], files=[CART_TESTS])
    assert calls[:2] == ("[[(cart := Cart([1, 2]))].clear(), cart.add(4), cart.total()]", "Cart([]).total()")
    assert not any("read(" in call for call in calls)
    given = made("f", "", ["assert f(1) == 1"], modules=["def f(n): ..."])
    assert made("f", "", ["assert f(1) == 1"], modules=["def f(n): ..."], files=["def test(): f(9)"]) == given


def test_of_several_functions_each_is_called() -> None:
    module = "def encode(s): ...\ndef decode(text: str): ...\n"
    calls = generate_calls_of_all(
        ("encode", "decode"), "encode(s)", CallClues(["assert encode('a') == 'b'"], modules=[module]), 10
    )
    assert [call[:6] for call in calls] == ["encode", "decode"] * 5
    alone = generate_calls_of_all(("encode",), "encode(s)", CallClues(["assert encode('a') == 'b'"]), 10)
    assert alone == made("encode", "encode(s)", ["assert encode('a') == 'b'"], 10)


def test_known_calls_are_varied_by_equal_swapped_empty_and_other_values() -> None:
    found = vary_calls(["f('ab', 'cd', 3)"])
    assert found[0] == "f('ab', 'cd', 3)"
    assert {"f('cd', 'cd', 3)", "f('cd', 'ab', 3)", "f('', 'cd', 3)", "f('ab', 'cd', 0)"} <= {*found}
    assert any(not call.isascii() for call in found)
    assert vary_calls(["Money(3) == Money(4)"])[1:4] == (
        "Money(3) == Money(3)",
        "Money(4) == Money(4)",
        "Money(4) == Money(3)",
    )
    assert vary_calls(["f(", "f()"]) == ("f()",)
    assert vary_calls(["f('ab', 3)"]) == vary_calls(["f('ab', 3)"]), "the same everywhere"


def test_of_an_operator_two_equal_objects_are_tried() -> None:
    module = "class Money:\n    def __init__(self, cents: int): ...\n    def __eq__(self, other): ...\n"
    found = generate_calls("Money.__eq__", "", CallClues(modules=(module,)))
    assert "Money(3) == Money(3)" in found
    assert any(call.partition(" == ")[0] != call.partition(" == ")[2] for call in found)


def test_a_task_that_reads_a_file_is_called_with_files() -> None:
    calls = generate_calls("total", "total(path, n)", CallClues(prompt="total(path, n) reads a csv file"), 30)
    assert len(calls) == 30
    assert all(call.startswith("total(file_with(") for call in calls)
    plain = generate_calls("total", "total(path, n)", CallClues(prompt="total(path, n) of a path in a graph"), 30)
    assert not any("file_with" in call for call in plain)
