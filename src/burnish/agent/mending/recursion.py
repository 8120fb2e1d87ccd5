"""A function that asks itself the same thing many times remembers its answers, for as long as one call lasts."""

import ast
from collections.abc import Iterator

from burnish.agent.mending.source import CannotMendError, Change, Source, names_in
from burnish.tasks.definitions import split

CALM = ("len", "min", "max", "abs", "sum", "range", "int", "str", "float", "bool", "round", "tuple", "divmod", "pow")
"""What may be called: it gives the same each time and does nothing else."""
RESTLESS = (
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Attribute, ast.Lambda, ast.FunctionDef),
    *(ast.AsyncFunctionDef, ast.ClassDef, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp),
    *(ast.NamedExpr, ast.Import, ast.ImportFrom),
)
"""What makes an answer that somebody could change, or that is another the next time."""


def remembered(source: Source) -> Iterator[Change]:
    """A top-level function with plain parameters that calls itself at two places or more and only works things out."""
    for function in source.tree.body:
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            continue
        told = function.args
        plain = not (told.vararg or told.kwarg or told.kwonlyargs or told.posonlyargs or told.defaults)
        calls = [node for one in function.body for node in ast.walk(one) if isinstance(node, ast.Call)]
        itself = [call for call in calls if _called(call) == function.name]
        if plain and told.args and len(itself) > 1 and _is_calm(function, calls):
            yield from _wrapped(source, function)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _is_calm(function: ast.FunctionDef, calls: list[ast.Call]) -> bool:
    """Whether the same arguments always give the same answer, and one that nobody can change."""
    nodes = [node for one in function.body for node in ast.walk(one)]
    if any(isinstance(node, RESTLESS) for node in nodes):
        return False
    if any(isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) for node in nodes):
        return False
    return all(_called(call) in (*CALM, function.name) for call in calls)


def _wrapped(source: Source, function: ast.FunctionDef) -> Iterator[Change]:
    """The body as a function inside the function, with a memory; only its calls of itself read differently."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    nodes = [node for one in body for node in ast.walk(one)]
    texts = [node for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr)]
    if not body or body[0].lineno == function.lineno or any(node.end_lineno != node.lineno for node in texts):
        raise CannotMendError
    if any(isinstance(node, ast.JoinedStr) and function.name in names_in(node) for node in nodes):
        raise CannotMendError
    inner, margin = source.fresh("known"), " " * body[0].col_offset
    names = ", ".join(argument.arg for argument in function.args.args)
    lines = _renamed(split(source.text), nodes, function.name, inner)[body[0].lineno - 1 : body[-1].end_lineno]
    head = f"{margin}@functools.cache\n{margin}def {inner}({names}):\n"
    moved = "".join(f"    {line}" if line.strip() else line for line in lines).rstrip("\n")
    yield source.lines(body[0], body[-1], f"{head}{moved}\n\n{margin}return {inner}({names})\n", "functools")


def _renamed(lines: list[str], nodes: list[ast.AST], old: str, new: str) -> list[str]:
    """The lines with another word wherever the name stands, and not where a text or a remark has the same letters."""
    named = [node for node in nodes if isinstance(node, ast.Name) and node.id == old]
    changed = [line.encode() for line in lines]
    for node in sorted(named, key=lambda one: one.col_offset, reverse=True):
        line = changed[node.lineno - 1]
        end = node.col_offset + len(old.encode())
        changed[node.lineno - 1] = line[: node.col_offset] + new.encode() + line[end:]
    return [line.decode() for line in changed]
