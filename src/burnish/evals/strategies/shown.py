"""Tests as a prompt may show them: one assert a line where they are asserts, and never too much of them."""

import ast
from functools import lru_cache

from burnish.parsing import try_parse

MOST_CHARACTERS = 1500
"""Of tests in a prompt; small models lose the thread in more."""


@lru_cache(maxsize=256)
def asserts_in(tests: str, entry_point: str) -> tuple[str, ...]:
    """The asserts that a script is made of; none when it is made of anything else.

    Besides asserts alone, the form of HumanEval is known: a function `check` of asserts, called with the entry point.
    """
    tree = try_parse(tests)
    found = _checked(tree.body, entry_point) if tree else []
    if not all(isinstance(node, ast.Assert) for node in found):
        return ()
    return tuple(ast.get_source_segment(tests, node) or "" for node in found)


def cut(tests: str, most: int = MOST_CHARACTERS) -> str:
    """The tests without blank lines around them, cut at the end of a line."""
    text = tests.strip()
    if len(text) <= most:
        return text
    kept, newline, _ = text[:most].rpartition("\n")
    return kept if newline else text[:most]


def _checked(body: list[ast.stmt], entry_point: str) -> list[ast.stmt]:
    """The statements that test, looked for inside `check` where its parameter bears the entry point's own name."""
    match body:
        case [ast.FunctionDef() as check, ast.Expr(ast.Call(ast.Name(called), [ast.Name(given)], []))]:
            same = [argument.arg for argument in check.args.args] == [entry_point]
            return check.body if same and (called, given) == (check.name, entry_point) else body
    return body
