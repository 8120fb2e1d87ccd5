"""The module in which an answer is judged: the answer's function, in the place where it belongs.

The rule: what the task gave stays byte for byte. An answer replaces the entry point and adds what it needs; it never
changes the imports and helpers that were there.
"""

import ast
import re

from burnish.tasks.syntax import parsed
from burnish.tasks.task import Task

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
BRINGING = (*DEFINITIONS, ast.Assign, ast.AnnAssign, ast.If, ast.Try)
"""Statements that can bring a helper; a loop, a print or an assert at the top level only shows the code at work."""


def assemble(task: Task, code: str) -> str:
    """The whole module of an answer. What cannot be placed stands below the prelude, and its grade says the rest."""
    answer = parsed(code)
    new = _find(answer, task.entry_point)
    if answer is None or new is None:
        return _below(task.prelude, code)
    module = parsed(task.base_code)
    place = _find(module, task.entry_point)
    if module is None or place is None:
        return _below(task.prelude, _without(code, answer, _given(task.prelude) - {task.entry_point}))
    return _spliced(task.base_code, module, place, code, answer)


def source(text: str, node: ast.stmt) -> str:
    """A top-level statement as written, in whole lines, with its decorators."""
    first, last = _lines(node)
    return "".join(_split(text)[first:last])


def names_of(node: ast.stmt) -> set[str]:
    """The names that a top-level statement binds."""
    if isinstance(node, DEFINITIONS):
        return {node.name}
    if isinstance(node, IMPORTS):
        return {alias.asname or alias.name.split(".")[0] for alias in node.names}
    stored = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    inner = [part for part in ast.walk(node) if isinstance(part, (*DEFINITIONS, *IMPORTS))]
    return stored.union(*(names_of(part) for part in inner))


def _spliced(base: str, module: ast.Module, place: Definition, code: str, answer: ast.Module) -> str:
    new = _find(answer, place.name)
    assert new is not None
    there = {name for node in module.body for name in names_of(node)}
    added = [node for node in answer.body if node is not new and _is_missing(node, there, module)]
    lines = _split(base)
    first, last = _lines(place)
    top = min(_after_heading(module), first)
    own = [_own(code, node) for node in added if node.lineno < new.lineno and not isinstance(node, IMPORTS)]
    later = [_own(code, node) for node in added if node.lineno > new.lineno and not isinstance(node, IMPORTS)]
    body = _ended(source(code, new)) + "".join("\n\n" + part for part in later)
    if last == len(lines) and not base.endswith(("\n", "\r")):
        body = body.rstrip("\r\n")
    above = "".join(lines[:top]) + _imports(added) + "".join(lines[top:first])
    return above + "".join(part + "\n\n" for part in own) + body + "".join(lines[last:])


def _is_missing(node: ast.stmt, there: set[str], module: ast.Module) -> bool:
    """Whether the answer brings something here that the module lacks; a name that is taken is never taken over."""
    if isinstance(node, IMPORTS):
        star = node.names[0].name == "*"
        return not any(ast.dump(node) == ast.dump(one) for one in module.body) and (star or not names_of(node) <= there)
    if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
        return False
    return isinstance(node, BRINGING) and bool(names_of(node)) and not names_of(node) & there


def _imports(added: list[ast.stmt]) -> str:
    """The added imports, those from `__future__` first."""
    lines = [ast.unparse(node) + "\n" for node in added if isinstance(node, IMPORTS)]
    return "".join(sorted(lines, key=lambda line: not line.startswith("from __future__ ")))


def _own(code: str, node: ast.stmt) -> str:
    return _ended(source(code, node))


def _after_heading(module: ast.Module) -> int:
    """The number of lines that must stay first: the docstring and what comes from `__future__`."""
    end = 0
    for place, node in enumerate(module.body):
        is_docstring = place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        end = node.end_lineno or end
    return end


def _given(prelude: str) -> set[str]:
    """The helpers that the task gives: tests may lean on them, so an answer does not replace them."""
    module = parsed(prelude)
    return {node.name for node in module.body if isinstance(node, DEFINITIONS)} if module else set()


def _without(code: str, answer: ast.Module, given: set[str]) -> str:
    lines = _split(code)
    for node in answer.body:
        if isinstance(node, DEFINITIONS) and node.name in given:
            first, last = _lines(node)
            lines[first:last] = [""] * (last - first)
    return "".join(lines)


def _below(prelude: str, code: str) -> str:
    if not prelude.strip():
        return code
    future = [line for line in _split(code) if line.startswith("from __future__ import ")]
    rest = "".join(line for line in _split(code) if line not in future)
    return f"{''.join(future)}{prelude.rstrip()}\n\n\n{rest}"


def _find(module: ast.Module | None, name: str) -> Definition | None:
    """The last top-level definition of a name: the one that counts when the module is run."""
    found = [node for node in module.body if isinstance(node, DEFINITIONS) and node.name == name] if module else []
    return found[-1] if found else None


def _lines(node: ast.stmt) -> tuple[int, int]:
    """First line (from 0) and the line after the last, decorators included."""
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]) - 1
    return first, node.end_lineno or node.lineno


def _split(text: str) -> list[str]:
    """Lines with their ends, as Python counts them; `str.splitlines` also breaks at form feeds and separators."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def _ended(text: str) -> str:
    return text if text.endswith(("\n", "\r")) else text + "\n"
