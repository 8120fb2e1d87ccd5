"""Examples in plain words become tests; what is not beyond doubt Python stays prose."""

import random
import string
import time

import pytest

from burnish.tasks import from_sentence
from burnish.tasks.examples import as_doctest, describe_test, find_called_names, find_examples, find_unread_example

REFUSED = "with pytest.raises(ValueError):\n    "
RAISES = f"{REFUSED}f(0)"


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("e.g. f(1) == 2", ["assert f(1) == 2"]),
        ("e.g. `f(1) == 2`", ["assert f(1) == 2"]),
        ("f(1) -> 2", ["assert f(1) == 2"]),
        ("f(1) → 2", ["assert f(1) == 2"]),
        ("f(1) => 2", ["assert f(1) == 2"]),
        ("f(1) = 2", ["assert f(1) == 2"]),
        ("f(1) returns 2", ["assert f(1) == 2"]),
        ("f(1) should return 2", ["assert f(1) == 2"]),
        ("f(1) must be 2", ["assert f(1) == 2"]),
        ("f(1) gives 2", ["assert f(1) == 2"]),
        ("f(1) equals 2", ["assert f(1) == 2"]),
        ("f(1) is 2", ["assert f(1) == 2"]),
        ("f(1) is True", ["assert f(1) is True"]),
        ("f(1) is None", ["assert f(1) is None"]),
        ("f(1) evaluates to 2", ["assert f(1) == 2"]),
        ("it holds that f(1) != 2", ["assert f(1) != 2"]),
        ("f(1) in (2, 3)", ["assert f(1) in (2, 3)"]),
        ("f(2) == 4 and f(3) == 9", ["assert f(2) == 4", "assert f(3) == 9"]),
        ("f(2) == 4, f(3) == 9", ["assert f(2) == 4", "assert f(3) == 9"]),
        ("f(2) == 4; f(3) == 9.", ["assert f(2) == 4", "assert f(3) == 9"]),
        ("f(2) == 4. It is fast.", ["assert f(2) == 4"]),
        ("f(2) == 4.5.", ["assert f(2) == 4.5"]),
        ("f(2) returns 4.", ["assert f(2) == 4"]),
        ("f(1, 2) == (1, 2)", ["assert f(1, 2) == (1, 2)"]),
        ("f(1) -> (1, 2), quickly", ["assert f(1) == (1, 2)"]),
        ("f([1, [2]]) == {'a': [1]}", ["assert f([1, [2]]) == {'a': [1]}"]),
        ("f(f(2)) == 16", ["assert f(f(2)) == 16"]),
        ("f(len('abc')) == 9", ["assert f(len('abc')) == 9"]),
        ("sorted(f([2, 1])) == [1, 2]", ["assert sorted(f([2, 1])) == [1, 2]"]),
        ("f('a == b') == 'g(1) == 2'", ["assert f('a == b') == 'g(1) == 2'"]),
        ('f("it\'s") == "it\'s"', ['assert f("it\'s") == "it\'s"']),
        ("f('(') == ')'", ["assert f('(') == ')'"]),
        ("f(0) raises ValueError", [RAISES]),
        ("f(0) raises a ValueError", [RAISES]),
        ("f(0) should raise ValueError", [RAISES]),
        ("f(0) -> ValueError", [RAISES]),
        ("f(0) throws ValueError.", [RAISES]),
        (">>> f(3)\n9\n", ["assert f(3) == 9"]),
        ("    >>> f('a')\n    'b'\n    >>> f('c')\n    'd'", ["assert f('a') == 'b'", "assert f('c') == 'd'"]),
        ("f(1) == 2 and, once more, f(1) == 2", ["assert f(1) == 2"]),
        ("abs(f(0.1) - 1.5) < 1e-6", ["assert abs(f(0.1) - 1.5) < 1e-6"]),
    ],
)
def test_an_example_is_recognised_in_many_phrasings(text: str, tests: list[str]) -> None:
    assert find_examples(text) == tests


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a function that adds two numbers",
        "f(n) == n for all n",
        "f(a, b) returns a + b",
        "f(x) is called often",
        "f(...) == 3",
        "f(1) is nice",
        "f() returns the sum (of all numbers)",
        "the time is O(n) == fast",
        "write f(text) that returns True or False",
        "f(0) raises CustomError",
        "f(0) raises an error",
        "call f(1), then g(2)",
        "'f(1) == 2' is a string",
    ],
)
def test_prose_is_never_mistaken_for_an_example(text: str) -> None:
    assert find_examples(text) == []


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("e.g. '7' in f([[7, 8]])", ["assert '7' in f([[7, 8]])"]),
        ("For example, `'7' in f([[7, 8]])`.", ["assert '7' in f([[7, 8]])"]),
        ("e.g. '7' not in f(8), 3 in f(2)", ["assert '7' not in f(8)", "assert 3 in f(2)"]),
        ("e.g. f(1) == 2, '7' in f(3) because", ["assert f(1) == 2", "assert '7' in f(3)"]),
        ("e.g. '7' in f(3), f(2) -> 3, not f(0)", ["assert '7' in f(3)", "assert f(2) == 3", "assert not f(0)"]),
        ("e.g. '7' in f(3) and '8' in f(3)", ["assert '7' in f(3)", "assert '8' in f(3)"]),
        ("(e.g. 0 < f(2) < 5)", ["assert 0 < f(2) < 5"]),
        ("e.g. 4 == f(2)", ["assert f(2) == 4"]),
        ("e.g. not f(3).", ["assert not f(3)"]),
        ("e.g. isinstance(f(2), int)", ["assert isinstance(f(2), int)"]),
        ("e.g. all(x > 0 for x in f(3))", ["assert all(x > 0 for x in f(3))"]),
    ],
)
def test_an_announced_example_need_not_begin_with_the_call(text: str, tests: list[str]) -> None:
    assert find_examples(text) == tests


@pytest.mark.parametrize(
    "text",
    [
        "'7' in f([[7, 8]])",
        "e.g. f(3)",
        "e.g. '7' in a list",
        "e.g. '7' in f(x)",
        "e.g. '7' in f(3) + g",
        "e.g. '7' in f(...)",
        "e.g. not f(3) but f(4)",
        "e.g. isinstance(3, int)",
        "e.g. 3 is f(2)",
        "e.g. '7' or f(3)",
    ],
)
def test_what_is_announced_must_still_be_a_claim_about_the_function(text: str) -> None:
    assert find_examples(text) == []


def test_an_announced_example_that_is_not_understood_can_be_named() -> None:
    assert find_unread_example("a function f(n), e.g. close(f(2), 3.1)", {"f"}) == "close(f(2), 3.1)"
    assert find_unread_example("a function f(n) for lists, e.g. empty ones", {"f"}) == ""
    assert find_unread_example("a function f(n)", {"f", ""}) == ""


def test_the_sentence_of_the_first_page_gives_its_three_tests() -> None:
    task = from_sentence(
        "a function roman(n) that turns 1..3999 into a Roman numeral, e.g. roman(1994) == 'MCMXCIV'; "
        "ValueError for anything else"
    )
    assert (task.id, task.entry_point, task.signature) == ("roman", "roman", "roman(n)")
    assert task.visible_tests == (
        "assert roman(1994) == 'MCMXCIV'",
        "with pytest.raises(ValueError):\n    roman(0)",
        "with pytest.raises(ValueError):\n    roman(4000)",
    )


def test_called_names_leaves_out_what_python_provides() -> None:
    assert find_called_names("assert sorted(f(len('a'))) == g(1)") == ["f", "g"]


def test_a_test_is_told_to_a_model_in_words() -> None:
    assert describe_test(RAISES) == "f(0) must raise ValueError"
    assert describe_test("assert f(1) == 2") == "assert f(1) == 2"
    assert as_doctest("assert f(1) == 2") == [">>> f(1)", "2"]
    assert as_doctest(RAISES) == [">>> f(0)  # raises ValueError"]


PIECES = [
    "f(1) == ",
    "f(",
    ")",
    "'",
    '"',
    '"""',
    "raises ValueError",
    "->",
    ">>> ",
    "\n",
    "1..",
    "9" * 30,
    "[",
    "{",
    "\\",
]
PIECES += [
    "function ",
    "def ",
    "class ",
    "e.g. ",
    "\x00",
    "\u2028",
    "é",
    "lambda x:",
    "*",
    "**",
    ":=",
    "\ud800",
    "9" * 5000,
]
PIECES += ["ValueError for anything else", "and ", "is ", "...", "Also", "(n, *, k=1)", " to ", "between 3 and "]


@pytest.mark.parametrize("seed", range(300))
def test_no_text_whatever_makes_it_stumble(seed: int) -> None:
    chance = random.Random(seed)
    pieces = [chance.choice(PIECES + list(string.printable)) for _ in range(chance.randrange(1, 40))]
    task = from_sentence("x" + "".join(pieces))
    for test in task.visible_tests:
        compile(test, "test", "exec")
    task.model_dump_json()


def test_a_story_reads_as_a_session() -> None:
    lines = as_doctest("s = Stack()\ns.push(1)\nassert s.pop() == 1")
    assert lines == [">>> s = Stack()", ">>> s.push(1)", ">>> s.pop()", "1"]


def test_what_is_no_example_stays_as_it_is() -> None:
    for test in (
        "# test_f, from your file\ndef test_f():\n    assert f(1)",
        "    def test_f(self):\nx",
        "# only words",
    ):
        assert as_doctest(test) == [test]


@pytest.mark.slow
@pytest.mark.parametrize("odd", ["f(" * 1000, "f(1) -> " * 250, "f('" * 600, "f([{" * 500, "f(1) == " * 100])
def test_odd_words_take_no_time(odd: str) -> None:
    started = time.process_time()
    find_examples(odd)
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    "words", ["f('(') == 1", "f(')') == '\"'", "f(\"it's\") == [1, '(']", "f('a\\'b(') == 2", "f((1, 2)) == (3,)"]
)
def test_brackets_and_quotes_in_texts_are_no_brackets(words: str) -> None:
    assert find_examples(f"as in {words}. It's easy") == [f"assert {words}"]


@pytest.mark.parametrize(
    ("words", "tests"),
    [
        ("BankAccount(10).withdraw(20) raises ValueError", [f"{REFUSED}BankAccount(10).withdraw(20)"]),
        ("`Stack().pop()` should raise an `IndexError`", ["with pytest.raises(IndexError):\n    Stack().pop()"]),
        ("Point(1, 2).x is 1", ["assert Point(1, 2).x == 1"]),
        ("a = Account(10); a.withdraw(20) raises ValueError", [f"a = Account(10)\n{REFUSED}a.withdraw(20)"]),
        ("`a = Account(1)`, then `a.add(2)`, then `a.sum` is 3", ["a = Account(1)\na.add(2)\nassert a.sum == 3"]),
        (
            "s = S(); s.add(1); s.pop() gives 1; s.size is 0",
            ["s = S()\ns.add(1)\nassert s.pop() == 1\nassert s.size == 0"],
        ),
        ("a = Ampel(); a.weiter(); a.farbe ist 'grün'.", ["a = Ampel()\na.weiter()\nassert a.farbe == 'grün'"]),
        ("verdopple(3) ergibt 6, teile(1, 0) wirft ValueError", ["assert verdopple(3) == 6", f"{REFUSED}teile(1, 0)"]),
        ("s = S(); s.m() == 2, s = S(); s.m() == 3", ["s = S()\nassert s.m() == 2", "s = S()\nassert s.m() == 3"]),
    ],
)
def test_what_is_done_with_an_object_is_an_example(words: str, tests: list[str]) -> None:
    assert find_examples(words) == tests


@pytest.mark.parametrize(
    "words",
    [
        "taking 20 from BankAccount(10) raises ValueError",
        "s = S(); push(1) to it; s.pop() == 1",
        "s = S(), and it raises ValueError",
        "f(3) wird 5 mal aufgerufen",
        "BankAccount(10).withdraw(n) raises ValueError",
    ],
)
def test_what_is_said_of_an_object_in_other_words_is_none(words: str) -> None:
    assert find_examples(words) == []
