"""Examples in docstrings as tests: of sessions what is typed is kept in its order, and only exact answers count."""

from burnish.strengthening.docstring_examples import read_call_examples, read_session_examples

COUNTER = '''
from datetime import timedelta


class Counter:
    """Counts.

    >>> c = Counter()
    >>> c.add(2)
    >>> c.total
    2
    >>> c.add(3)
    >>> print(c)
    5 in all
    >>> for n in range(2):
    ...     c.add(n)
    >>> c.total
    6
    """


def wait(text):
    """Read a time.

    >>> from clocks import wait
    >>> wait('1s') == timedelta(seconds=1)
    True
    >>> wait('2s')
    datetime.timedelta(seconds=2)
    >>> wait('soon')
    Traceback (most recent call last):
    ValueError: soon
    >>> wait  # doctest: +ELLIPSIS
    <function wait at 0x...>
    """


def other():
    """Says nothing of itself."""
'''

SHOW = '''def show(rows):
    """Show rows as text, e.g. '7' in show([[7, 8]]), show([]) == ''."""
    return str(rows) if rows else ""
'''


def bodies(function: str) -> list[str]:
    return [saying.body for saying in read_session_examples(COUNTER, function)]


def test_an_answer_is_a_test_of_all_that_was_typed_before_it() -> None:
    assert bodies("Counter.add") == [
        "c = Counter()\nc.add(2)\nassert c.total == 2",
        "c = Counter()\nc.add(2)\nc.total\nc.add(3)\nassert str(c) == '5 in all'",
    ]


def test_a_session_ends_where_more_is_typed_than_expressions() -> None:
    assert not any("6" in body for body in bodies("Counter.add"))


def test_what_is_no_value_is_compared_by_how_it_is_shown() -> None:
    assert bodies("wait") == [
        "assert wait('1s') == timedelta(seconds=1)",
        "assert repr(wait('2s')) == 'datetime.timedelta(seconds=2)'",
    ]


def test_the_check_is_one_expression_that_is_true_where_the_docstring_is_right() -> None:
    names = {"Counter": _Good}
    assert [eval(saying.check, names) for saying in read_session_examples(COUNTER, "Counter.add")] == [True, True]


def test_the_same_check_is_false_for_code_that_does_something_else() -> None:
    names = {"Counter": _Bad}
    assert [eval(saying.check, names) for saying in read_session_examples(COUNTER, "Counter.add")] == [False, False]


def test_nothing_is_made_of_docstrings_that_do_not_speak_of_the_function() -> None:
    assert bodies("other") == []


def test_a_docstring_that_doctest_cannot_read_gives_nothing() -> None:
    assert read_session_examples('def f():\n    """\n    >>>f()\n    1\n    """\n', "f") == []


def test_a_saying_knows_its_call_on_whichever_side_it_stands() -> None:
    told = [(one.check, one.call) for one in read_call_examples(SHOW, "show")]
    assert told == [("'7' in show([[7, 8]])", "show([[7, 8]])"), ("show([]) == ''", "show([])")]


class _Good:
    def __init__(self) -> None:
        self.total = 0

    def add(self, n: int) -> None:
        self.total += n

    def __str__(self) -> str:
        return f"{self.total} in all"


class _Bad(_Good):
    def add(self, n: int) -> None:
        self.total -= n
