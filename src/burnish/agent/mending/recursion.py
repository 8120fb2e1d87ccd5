"""A function that asks itself the same thing many times remembers its answers, for as long as one call lasts."""

import ast
import re
from collections.abc import Iterator

from burnish.agent.mending.source import CannotMendError, Change, Source
from burnish.tasks.definitions import split


def remembered(source: Source) -> Iterator[Change]:
    """A top-level function that calls itself at two places or more, with plain parameters."""
    for function in source.tree.body:
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            continue
        told = function.args
        plain = not (told.vararg or told.kwarg or told.kwonlyargs or told.posonlyargs or told.defaults)
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and _calls(node, function.name)]
        if plain and told.args and len(calls) > 1:
            yield _wrapped(source, function)


def _calls(node: ast.Call, name: str) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == name


def _wrapped(source: Source, function: ast.FunctionDef) -> Change:
    """The body as a function inside the function, with a memory; only its calls of itself read differently."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    texts = [node for one in body for node in ast.walk(one) if isinstance(node, ast.Constant | ast.JoinedStr)]
    if not body or body[0].lineno == function.lineno or any(node.end_lineno != node.lineno for node in texts):
        raise CannotMendError
    inner, margin = source.fresh("known"), " " * body[0].col_offset
    lines = split(source.text)[body[0].lineno - 1 : body[-1].end_lineno]
    renamed = [re.sub(rf"\b{function.name}\(", f"{inner}(", line) for line in lines]
    names = ", ".join(argument.arg for argument in function.args.args)
    head = f"{margin}@functools.cache\n{margin}def {inner}({names}):\n"
    moved = "".join(f"    {line}" if line.strip() else line for line in renamed).rstrip("\n")
    return source.lines(body[0], body[-1], f"{head}{moved}\n\n{margin}return {inner}({names})\n", "functools")
