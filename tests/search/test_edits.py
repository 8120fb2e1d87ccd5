"""What a list of tweaks promises, whatever is in it."""

import ast
import time

import pytest

from burnish.search.edits import EditedModule, propose_edits

LONG = '''"""A module with things around it: “quotes”, ünïcode."""
import math

LIMIT = 10  # stays


@staticmethod
def other(a):
    return a + 1


class Shelf:
    """Ä shelf."""

    @property
    def width(self) -> int:
        return self.left + self.right * 2

    def place(self, books: list[int], gap: int = 1) -> list[int]:
        """Where they stand: `a < b`.

        >>> Shelf().place([1 + 1])
        """
        naïve = {"é": 1, "ß": len(books)}; total = 0
        places = []
        for number, book in enumerate(books):
            def wide(thing):
                """Inner words, 1 < 2."""
                return thing * gap + naïve["é"]

            if book > gap and not total:  # 3 < 4
                places.append(total + wide(book))
            elif number == 0:
                total -= 1
            else:
                total += book
                continue
        while total > 100: total //= 2
        label = f"{total + 1} of {len(places)}"
        return sorted(places[1:], key=lambda one: (one, label)) or [
            math.floor(total / 2),
            sum(x for x in books if x > 1),
        ]


print(LIMIT < 3)
'''


@pytest.fixture(scope="module")
def tweaks() -> list[EditedModule]:
    return propose_edits(LONG, "Shelf.place", 5000)


def test_every_tweak_is_unlike_all_others(tweaks: list[EditedModule]) -> None:
    assert len(tweaks) > 400
    assert len({tweak.code for tweak in tweaks}) == len(tweaks)
    assert LONG not in {tweak.code for tweak in tweaks}


@pytest.mark.slow
def test_every_tweak_is_python_and_no_break_is_left_outside_its_loop(tweaks: list[EditedModule]) -> None:
    for tweak in tweaks[::3]:
        compile(tweak.code, "tweak", "exec")


def test_nothing_outside_the_function_changes(tweaks: list[EditedModule]) -> None:
    head = LONG[: LONG.index("    def place")]
    tail = LONG[LONG.index("\n\nprint(LIMIT") :]
    for tweak in tweaks:
        assert tweak.code.startswith(head)
        assert tweak.code.endswith(tail)


def test_docstrings_annotations_comments_and_f_strings_stay(tweaks: list[EditedModule]) -> None:
    for tweak in tweaks:
        assert "Where they stand: `a < b`.\n\n        >>> Shelf().place([1 + 1])" in tweak.code
        assert "books: list[int], gap: int = " in tweak.code
        assert ") -> list[int]:" in tweak.code
        assert "3 < 4" in tweak.code or tweak.kind in ("delete", "open")
        assert 'f"{total + 1} of {len(places)}"' in tweak.code or "label" in tweak.what


def test_a_tweak_says_in_one_line_where_and_what(tweaks: list[EditedModule]) -> None:
    assert "line 31: `>` becomes `>=`" in {tweak.what for tweak in tweaks}
    for tweak in tweaks:
        assert "\n" not in tweak.what
        assert tweak.what.startswith(f"line {tweak.line}: ")
        assert len(tweak.what) < 140


def test_inner_functions_are_edited_too(tweaks: list[EditedModule]) -> None:
    assert any("return thing / gap" in tweak.code or "return thing + gap" in tweak.code for tweak in tweaks)


def test_names_of_an_inner_scope_are_not_used_outside_it(tweaks: list[EditedModule]) -> None:
    assert not any("sorted(thing[" in tweak.code or "enumerate(one)" in tweak.code for tweak in tweaks)


def test_a_cut_keeps_some_of_every_kind(tweaks: list[EditedModule]) -> None:
    few = propose_edits(LONG, "Shelf.place", 150)
    assert few == tweaks[:150]
    assert len({tweak.kind for tweak in few}) > 20


def test_a_function_a_class_and_a_method_can_be_named() -> None:
    assert {tweak.line for tweak in propose_edits(LONG, "other")} == {9}
    assert {tweak.line for tweak in propose_edits(LONG, "Shelf", 5000)} >= {17, 31}
    assert {tweak.line for tweak in propose_edits(LONG, "Shelf.width")} == {17}


def test_the_last_definition_of_a_name_counts() -> None:
    twice = "def f(a):\n    return a\n\n\nif True:\n    def f(a):\n        return a + 1\n"
    assert {tweak.line for tweak in propose_edits(twice, "f")} == {7}


@pytest.mark.parametrize("module", ["", "def f(:\n", "def g():\n    return 1\n", "x = 1\n", "\0", "f = lambda x: x\n"])
def test_there_is_nothing_to_tweak_where_there_is_no_such_function(module: str) -> None:
    assert propose_edits(module, "f") == []


@pytest.mark.parametrize(
    "module",
    [
        "def f(a): return a",
        "def f(a):\n\tif a:\n\t\treturn 1\n\treturn 0",
        "def f(a):\r\n    if a:\r\n        return 1\r\n    return 0\r\n",
        "async def f(a):\n    async for b in a:\n        await b\n    return [c async for c in a]\n",
        "def f():\n    '''Only words.'''\n",
        "def f(a):\n    if a: return 1; b = 2\n    else: return (\n 3)\n",
        "def f(a):\n    b = '''\n  long\n    text'''\n    for c in a:\n        b += '''\n x'''\n    return b\n",
        "def f(a, *b, c=1, **d):\n"
        "    with a as e, b: del c\n    try:\n        return d[a:b, c]\n    finally:\n        pass\n",
        "def f(x):\n    match x:\n"
        "        case [1, *y] if y: return -y\n        case {'a': b}: return b\n    return not x\n",
        "def f(x):\n    @x\n    def g(y):\n"
        "        nonlocal x\n        x = (y := 1)\n    return 1 if x else 2 \\\n        if g else 3\n",
    ],
)
def test_odd_but_sound_modules_give_only_sound_ones(module: str) -> None:
    found = propose_edits(module, "f", 5000)
    assert found or "Only words" in module
    for tweak in found:
        ast.parse(tweak.code)


def test_lines_that_are_added_end_as_the_others_do() -> None:
    module = "def f(a):\r\n    for b in a:\r\n        c = b\r\n        return c\r\n"
    assert all(tweak.code.count("\n") == tweak.code.count("\r\n") for tweak in propose_edits(module, "f", 5000))


def test_code_nested_too_deep_to_walk_gives_nothing_rather_than_an_error() -> None:
    assert propose_edits(f"def f(a):\n    b = {'a + ' * 2000}a\n    return b\n", "f") == []


def test_a_tweak_can_be_tweaked_again() -> None:
    wrong = "def f(a, b):\n    return a - b < 0\n"
    right = "def f(a, b):\n    return a + b <= 0\n"
    once = propose_edits(wrong, "f")
    assert right not in {tweak.code for tweak in once}
    assert any(right == twice.code for tweak in once for twice in propose_edits(tweak.code, "f"))


def test_four_hundred_tweaks_of_a_long_function_take_a_fraction_of_a_second() -> None:
    started = time.process_time()
    assert len(propose_edits(LONG, "Shelf.place", 400)) == 400
    assert time.process_time() - started < 0.5


def test_of_a_property_the_one_that_reads_is_edited() -> None:
    reads = "    @property\n    def total(self):\n        return self.a - 1\n\n"
    writes = "    @total.setter\n    def total(self, value):\n        self.a = value + 1\n"
    made = propose_edits(f"class Cart:\n{reads}{writes}", "Cart.total")
    assert made
    assert all(tweak.code.endswith(writes) for tweak in made)
