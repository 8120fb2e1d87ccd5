"""Tests that build something first: a few steps and an assert, as a class needs them."""

import ast
import builtins
import re
from collections.abc import Iterator

from burnish.tasks.steady import reaches_out
from burnish.tasks.syntax import parsed

_STEPS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert, ast.With, ast.For, ast.Try)
_LISTED = re.compile(r"^(?:\d+[.)]|[-*])\s+", re.MULTILINE)
LONGEST = 12
"""Statements of one test."""


def stories_from(text: str, names: set[str]) -> list[str]:
    """The tests in a text, each an empty string where it does not stand on its own.

    A paragraph is a test, a line with semicolons is one, and so is the body of a test function.
    """
    found: list[str] = []
    for part in _parts(_LISTED.sub("", text)):
        tree = parsed(part)
        if tree is None:
            found += [""] if "assert" in part else []
            continue
        found += [_told(steps, names) for steps in _tests(tree.body) if any(isinstance(x, ast.Assert) for x in steps)]
    return found


def _parts(text: str) -> Iterator[str]:
    """Paragraphs; of one that holds several whole tests a line, each line."""
    for paragraph in re.split(r"\n\s*\n(?=\S)", text.strip()):
        lines = [line.strip().strip("`") for line in paragraph.splitlines()]
        alone = [line for line in lines if line and not line.startswith("#")]
        if alone and all("assert " in line and (";" in line or line.startswith("assert ")) for line in alone):
            yield from alone
        else:
            yield paragraph


def _tests(body: list[ast.stmt]) -> list[list[ast.stmt]]:
    """The steps of each test: those of every test function, or all there are."""
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
    if functions:
        return [node.body for node in functions if not node.args.args]
    return [[node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]]


def _told(steps: list[ast.stmt], names: set[str]) -> str:
    module = ast.Module([node for node in steps if not _is_docstring(node)], [])
    heads = [node.func for node in ast.walk(module) if isinstance(node, ast.Call)]
    roots = [head.value if isinstance(head, ast.Attribute) else head for head in heads]  # `Cart.of(1)` is of Cart
    called = {root.id for root in roots if isinstance(root, ast.Name)}
    plain = all(isinstance(node, _STEPS) for node in module.body) and len(module.body) <= LONGEST
    if not plain or not called & names or not is_closed(module, names):
        return ""
    return "\n".join(ast.unparse(_bare(node)) for node in module.body)


def _bare(node: ast.stmt) -> ast.stmt:
    """An assert without its message; one of a tuple is always true and says nothing."""
    return ast.Assert(node.test) if isinstance(node, ast.Assert) and not isinstance(node.test, ast.Tuple) else node


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_closed(test: ast.AST, names: set[str]) -> bool:
    """Whether the test stands on its own: no name in it that only a longer script would have bound.

    One that could do more than compute does not: people run the written tests without a sandbox.
    """
    bound = {name.id for name in ast.walk(test) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
    bound |= {argument.arg for argument in ast.walk(test) if isinstance(argument, ast.arg)}
    used = {name.id for name in ast.walk(test) if isinstance(name, ast.Name)} - bound - names
    return all(hasattr(builtins, name) for name in used) and not reaches_out(test, names)
