"""A task from a sentence: its words fix the name, the signature and the tests that decide."""

import pytest

from burnish.tasks import Task, from_sentence, go_on
from burnish.tasks.sentence import find_kinds, find_kinds_in_words, reads_file, with_test_file
from burnish.tasks.test_file import TestFile
from tests.support import refused


@pytest.mark.parametrize(
    ("sentence", "name", "signature"),
    [
        ("a function double(n) that doubles", "double", "double(n)"),
        ("a function `double(n)` that doubles", "double", "double(n)"),
        ("def double(n: int, m: int = 2): doubles", "double", "double(n: int, m: int = 2)"),
        ("a function called double that doubles", "double", ""),
        ("a function named double", "double", ""),
        ("a function double that doubles", "double", ""),
        ("double a number: double(2) == 4", "double", ""),
        ("double(n) doubles a number, e.g. double(2) == 4", "double", "double(n)"),
        ("a class Stack with push and pop", "Stack", ""),
        ("a function that doubles a number", "", ""),
        ("a function which doubles, e.g. twice(2) == 4", "twice", ""),
        ("a function computing the factorial, e.g. fact(5) == 120", "fact", ""),
        ("a function returns the sum of a list, e.g. total([1, 2]) == 3", "total", ""),
        ("a function computing the factorial of a number", "", ""),
        ("a function f(a, *, b=(1)) of things", "f", ""),
        ("a function class(n)", "", ""),
        ("sort a list of words by length", "", ""),
    ],
)
def test_name_and_signature_are_taken_where_the_words_give_them(sentence: str, name: str, signature: str) -> None:
    task = from_sentence(sentence)
    assert (task.entry_point, task.signature) == (name, signature)


def test_only_examples_of_the_function_itself_decide() -> None:
    task = from_sentence("a function double(n) like half(4) == 2 but the other way, e.g. double(2) == 4")
    assert task.visible_tests == ("assert double(2) == 4",)


@pytest.mark.parametrize("nothing", ["", "   \n\t", "…", "!!!"])
def test_an_empty_sentence_is_refused_with_a_line_to_type(nothing: str) -> None:
    with refused(name="tasks/an empty sentence"):
        from_sentence(nothing)


@pytest.mark.parametrize(
    ("sentence", "edges"),
    [
        ("a function f(n) for 1..10; ValueError for anything else", ("0", "11")),
        ("a function f(n) from 1 to 10, ValueError otherwise? no: anything else raises ValueError", ("0", "11")),
        ("a function f(n), n between -5 and 5; TypeError for anything else", ("-6", "6")),
        ("a function f(n) for 1..10; valueerror for anything else", ()),
        ("a function f(n) for 1..10; RangeError for anything else", ()),
        ("a function f(n, m) for 1..10; ValueError for anything else", ()),
        ("a function f(n) for 1..10 and 20..30; ValueError for anything else", ()),
        ("a function f(n) for 10..1; ValueError for anything else", ()),
        ("a function f(n); ValueError for anything else", ()),
        ("a function f(n) for 1..10", ()),
    ],
)
def test_a_range_with_an_error_outside_it_gives_two_tests(sentence: str, edges: tuple[str, ...]) -> None:
    tests = from_sentence(sentence).visible_tests
    assert tuple(test.split("f(")[1].rstrip(")") for test in tests) == edges


def test_going_on_keeps_every_earlier_test_in_force() -> None:
    earlier = from_sentence("a function double(n), e.g. double(2) == 4")
    task = go_on(earlier, "def double(n): ...\n", ("assert double(0) == 0",), "also text: double('a') == 'aa'")
    assert task.visible_tests == ("assert double(2) == 4", "assert double('a') == 'aa'")
    assert task.earlier_tests == ("assert double(0) == 0",)
    assert task.base_code == "def double(n): ...\n"
    assert task.prompt.startswith(earlier.prompt)
    assert "also text" in task.prompt


def test_going_on_with_a_further_function_takes_its_examples() -> None:
    earlier = from_sentence("a function f(x), e.g. f(1) == 1")
    task = go_on(earlier, "def f(x): ...\n", (), "also a function g(x), e.g. g(2) == 4")
    assert task.also == ("g",)
    assert task.visible_tests == ("assert f(1) == 1", "assert g(2) == 4")
    assert go_on(earlier, "", (), "and a class Queue with push").also == ("Queue",)
    assert go_on(earlier, "", (), "use the function sqrt from math").also == ()


def test_going_on_with_nothing_is_refused() -> None:
    with refused(name="tasks/an empty sentence"):
        go_on(Task(id="a", prompt="b", entry_point="f"), "", (), " ")


@pytest.mark.parametrize(
    ("sentence", "name", "signature", "also"),
    [
        (
            "a module with functions encode(s) and decode(s), e.g. encode('a') == 'b'",
            "encode",
            "encode(s)",
            ("decode",),
        ),
        ("functions a(x), b(y), and c() that work together", "a", "a(x)", ("b", "c")),
        ("functions `encode` and `decode` that shift letters", "encode", "", ("decode",)),
        ("two functions: f(x) and g(x, y=1)", "f", "f(x)", ("g",)),
        ("classes Dog and Cat with speak()", "Dog", "", ("Cat",)),
        ("a class Stack and a function make(items)", "make", "make(items)", ("Stack",)),
        ("a function f(x), and a function g(x) for the way back", "f", "f(x)", ("g",)),
        ("a class Stack with push, pop and peek", "Stack", "", ()),
        ("functions that add and multiply", "", "", ()),
        ("a function f(x) of functions and numbers", "f", "f(x)", ()),
    ],
)
def test_several_things_can_be_asked_for(sentence: str, name: str, signature: str, also: tuple[str, ...]) -> None:
    task = from_sentence(sentence)
    assert (task.entry_point, task.signature, task.also) == (name, signature, also)


def test_examples_of_any_of_several_functions_decide() -> None:
    task = from_sentence("functions up(n) and down(n), e.g. up(1) == 2, down(2) == 1, up(down(3)) == 3, other(1) == 1")
    assert task.visible_tests == ("assert up(1) == 2", "assert down(2) == 1", "assert up(down(3)) == 3")
    further = go_on(task, "code", (), "down(0) == -1 too, and functions left(n) and right(n), left(1) == 0")
    assert further.also == ("down", "left", "right")
    assert "assert down(0) == -1" in further.visible_tests


STACK = "s = Stack()\ns.push(1)\nassert s.pop() == 1"


@pytest.mark.parametrize(
    ("sentence", "tests"),
    [
        ("a class Stack, e.g. s = Stack(); s.push(1); s.pop() == 1.", (STACK,)),
        ("a class Stack: `s = Stack(); s.push(1); assert s.pop() == 1`", (STACK,)),
        ("a class Stack with size, e.g. Stack().size() == 0", ("assert Stack().size() == 0",)),
        ("a class Stack\n>>> s = Stack()\n>>> s.push(1)\n>>> s.pop()\n1\n", (STACK,)),
        ("a class Stack, e.g. s = Stack(); s.push(x); s.pop() == x", ()),
        ("a class Stack, e.g. s = Stack(); import os; s.pop() == 1", ()),
        ("a class C, e.g. c = C(2); c.value == 2", ("c = C(2)\nassert c.value == 2",)),
    ],
)
def test_examples_of_a_class_are_short_stories(sentence: str, tests: tuple[str, ...]) -> None:
    assert from_sentence(sentence).visible_tests == tests


def test_a_test_file_says_what_must_be_written() -> None:
    file = TestFile(
        text="from solution import up", module="moves", names=("up", "down"), tests=("# test_a, from your file",)
    )
    task = with_test_file(from_sentence("functions down(n) and left(n), e.g. down(2) == 1"), file)
    assert (task.id, task.entry_point, task.signature, task.also) == ("moves", "down", "down(n)", ("up", "left"))
    assert task.visible_tests == ("assert down(2) == 1", "# test_a, from your file")
    assert (task.test_file, task.module) == ("from solution import up", "moves")
    unnamed = with_test_file(from_sentence("move a number"), file)
    assert (unnamed.entry_point, unnamed.signature, unnamed.also) == ("up", "", ("down",))


SAID = {
    "a function mean(xs) that averages": {"mean": "function"},
    "Write a function called `mean`.": {"mean": "function"},
    "functions encode(s) and decode(s)": {"encode": "function", "decode": "function"},
    "a class Stack and a function make(items)": {"Stack": "class", "make": "function"},
    "classes Stack, Queue and Deque": {"Stack": "class", "Queue": "class", "Deque": "class"},
    "a class named stack with push and pop": {"stack": "class"},
    "def mean(xs): averages": {"mean": "function"},
    "a function make(items) that returns a Stack": {"make": "function", "Stack": ""},
    "the mean of numbers, e.g. mean([1]) == 1": {"mean": ""},
}


@pytest.mark.parametrize("words", SAID)
def test_words_say_what_a_name_is_to_be(words: str) -> None:
    assert dict(find_kinds_in_words(words, SAID[words])) == {name: kind for name, kind in SAID[words].items() if kind}


def test_code_that_comes_with_the_task_says_it_too() -> None:
    task = Task(
        id="x", prompt="Repair it.", entry_point="Cart.total", also=("mean",), base_code="class Cart:\n    pass\n"
    )
    assert dict(find_kinds(task)) == {"Cart": "class"}
    gold = "def Mean(xs):\n    return 0\n"
    assert dict(find_kinds(Task(id="x", prompt="The mean.", entry_point="Mean", gold=gold))) == {"Mean": "function"}


@pytest.mark.parametrize(
    "words",
    [
        "a function that counts the lines of a file",
        "a function total(path) for a csv file with prices",
        "eine Funktion woerter(pfad), die die Wörter einer Textdatei zählt",
    ],
)
def test_what_is_found_in_a_file_needs_one(words: str) -> None:
    assert reads_file(words)


@pytest.mark.parametrize(
    "words",
    [
        "a function that counts the lines of a text",
        "a function that returns the extension of a file",
        "a function that turns a title into a file name",
        "a function that writes a list to a file",
        "a function that counts the files in a folder",
        "the profile of a user",
        "eine Funktion, die eine Liste in eine Datei schreibt",
    ],
)
def test_names_of_files_and_files_to_write_need_none(words: str) -> None:
    assert not reads_file(words)


def test_a_german_class_without_parentheses_keeps_its_name() -> None:
    assert from_sentence("eine Klasse Ampel mit einem Attribut farbe und einer Methode weiter()").entry_point == "Ampel"
    assert from_sentence("eine Funktion, mit der man Zahlen sortiert").entry_point == ""
