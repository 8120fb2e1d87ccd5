"""Code is parsed from many threads at once, and only what Python would import as the same text."""

import ast
import itertools
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from burnish.parsing import ForeignSource, decode_source, explain_refusal, find_flaw, parse, parse_expression

DEEP = "\n".join(f"def f{n}(x):\n    return [{n}, (x, [x, {{'a': [x, x + {n}]}}])]" for n in range(60))


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "source",
    [
        "# coding: utf-7\n#+AAo-import os\n",
        "#coding=latin-1\n",
        "# -*- coding: latin-1 -*-\n",
        "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n",
        " \t\f# coding:\tutf-16\n",
        "\f\n\f# coding: rot13\n",
        "\n# CODING coding: ascii\n",
        "\ufeff# coding: utf-7\n",
        "# Run-length encoding: letters and counts\n",
        "# x\r\n# coding: utf-7\r\n",
        "\r# coding: utf-7\n",
        "#\rimport os\n",
        "x = 1  # shown as one line\rx = 2\n",
        b"# coding: latin-1\nx = '\xe9'\n",
        b"\r# coding: latin-1\nx = '\xe9'\n",
        b"\xef\xbb\xbf# coding: utf-7\n",
    ],
)
def test_a_source_that_python_would_import_as_another_text_is_refused(source: str | bytes) -> None:
    assert isinstance(find_flaw(source), ForeignSource)
    assert explain_refusal(source)


@pytest.mark.parametrize("source", ["x = 1\0", "x = '\ud800'", "\udcff", b"x = '\xe9'\n", b"\xff\xfex\0"])
def test_a_source_that_no_python_imports_is_refused_too(source: str | bytes) -> None:
    assert type(find_flaw(source)) is SyntaxError


@pytest.mark.parametrize(
    "source",
    [
        "",
        "# coding: utf-8\nx = 'é'\n",
        "#!/bin/python\n# -*- coding: UTF_8-unix -*-\n",
        "# vim:fileencoding=utf8\n",
        "import json\n# coding: utf-7\n",
        "\n\n# coding: utf-7\n",
        "'''words\n# coding: utf-7\n'''\n",
        "# coding matters: utf-7\n",
        "x = 1\r\ny = 2\r\n",
        "x = 1\n\f\ny = '\x0b\u2028'\n",
    ],
)
def test_honest_source_is_taken(source: str) -> None:
    assert explain_refusal(source) == ""
    assert decode_source(b"\xef\xbb\xbf" + source.encode()) == source


@pytest.mark.slow
def test_what_is_taken_is_what_python_reads_from_the_same_bytes() -> None:
    parts = ("# coding: utf-7", "# coding=utf8", "#", " \f", "\n", "\r", "\r\n", "\ufeff", "\\", "x = '+AGE-'", "é")
    taken = 0
    for chosen in itertools.product(parts, repeat=4):
        data = ("".join(chosen) + "\nx = '+AGE-é'\n").encode()
        if explain_refusal(data):
            continue
        try:
            by_import = ast.dump(compile(data, "a.py", "exec", ast.PyCF_ONLY_AST), include_attributes=True)
        except SyntaxError:
            continue
        taken += 1
        assert by_import == ast.dump(parse(decode_source(data)), include_attributes=True), data
    assert taken > 100


def test_a_carriage_return_that_ends_the_text_hides_nothing():
    assert find_flaw("def f():\r\n    return 1\r") is None
    assert find_flaw("def f():\r    return 1\r") is not None
