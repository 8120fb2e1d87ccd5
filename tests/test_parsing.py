"""Code is parsed from many threads at once: an evaluation does it all the time."""

import ast
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from burnish.parsing import parse, parse_expression

DEEP = "\n".join(f"def f{n}(x):\n    return [{n}, (x, [x, {{'a': [x, x + {n}]}}])]" for n in range(60))


def test_many_threads_parse_at_once_while_a_library_parses_too() -> None:
    def library(_: int) -> None:
        with suppress(SystemError):  # Python's own trouble, up to 3.12; what counts is that it never becomes ours
            ast.parse(DEEP)

    with ThreadPoolExecutor(8) as pool:
        others = [pool.submit(library, n) for n in range(60)]
        ours = [pool.submit(parse, DEEP) for _ in range(60)]
        assert {len(one.result().body) for one in ours} == {60}
        for one in others:
            one.result()


def test_no_warning_and_no_changed_filter() -> None:
    before = list(warnings.filters)
    assert ast.unparse(parse(r"x = '\d'")) == r"x = '\\d'"
    assert ast.unparse(parse_expression("[1, 2]")) == "[1, 2]"
    assert warnings.filters == before


def test_what_is_no_python_is_still_refused() -> None:
    with pytest.raises(SyntaxError):
        parse("def f(:")
    with pytest.raises(SyntaxError):
        parse_expression("x = 1")
