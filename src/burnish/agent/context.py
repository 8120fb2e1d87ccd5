"""What a prompt shows of a file: the function itself, and as little of its surroundings as it cannot do without."""

import ast

from burnish.tasks.assemble import source
from burnish.tasks.definitions import FUNCTIONS, Definition, find, guessed_lines, lines_of, split
from burnish.tasks.syntax import parsed
from burnish.tasks.task import Task

MOST_CHARACTERS = 2500
LONGEST_HELPER_LINES = 20


def context(task: Task) -> str:
    """What stands around the function to write: its prelude, or the imports, class and helpers that it leans on."""
    if task.prelude.strip():
        return task.prelude.strip()
    module = parsed(task.base_code)
    own = find(module, task.entry_point)
    if module is None or own is None:
        return ""
    used = {part.id for part in ast.walk(own) if isinstance(part, ast.Name)}
    parts = [_shown(task.base_code, node, used, task.entry_point) for node in module.body if node is not own]
    text = "\n".join(part for part in parts if part)
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS].rpartition("\n")[0]


def function_in(code: str, name: str) -> str:
    """The function's own lines, without the indentation it has in a class; the whole text where it is not found."""
    node = find(parsed(code), name)
    lines = lines_of(node) if node else guessed_lines(code, name) if name else None
    return _dedented("".join(split(code)[lines[0] : lines[1]])).strip("\n") if lines else code.strip("\n")


def opening(code: str, name: str) -> str:
    """The head of a function and its docstring, as far as an answer can be begun with; empty where that is unclear."""
    node = find(parsed(code), name)
    if not isinstance(node, FUNCTIONS) or node.decorator_list:
        return ""
    line, first = split(code)[node.body[0].lineno - 1], node.body[0]
    if len(line) - len(line.lstrip()) != first.col_offset:  # the body begins on the line of its head
        return ""
    has_words = ast.get_docstring(node) is not None and len(node.body) > 1
    last = first.end_lineno if has_words else first.lineno - 1
    return "".join(line.rstrip("\r\n") + "\n" for line in split(code)[node.lineno - 1 : last])


def _shown(text: str, node: ast.stmt, used: set[str], entry_point: str) -> str:
    """One top-level statement, if the function can need it."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return source(text, node).rstrip()
    if isinstance(node, ast.ClassDef) and entry_point.startswith(f"{node.name}."):
        return _class_around(text, node, entry_point.rpartition(".")[2])
    names = {node.name} if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else _bound(node)
    if not names & used:
        return ""
    return source(text, node).rstrip() if _length(node) <= LONGEST_HELPER_LINES else _head(text, node)


def _class_around(text: str, node: ast.ClassDef, method: str) -> str:
    """The class of a method: how it is made, and the heads of its other methods."""
    lines = [split(text)[node.lineno - 1].rstrip()]
    for part in node.body:
        if isinstance(part, FUNCTIONS):
            whole = part.name == "__init__" and _length(part) <= LONGEST_HELPER_LINES
            if part.name != method:
                lines.append(source(text, part).rstrip() if whole else _head(text, part))
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            lines.append(source(text, part).rstrip())
    return "\n".join(lines)


def _head(text: str, node: ast.stmt) -> str:
    if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return ""
    first = split(text)[node.lineno - 1].rstrip()
    return f"{first} ..." if first.endswith(":") else ""


def _bound(node: ast.stmt) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _length(node: Definition | ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _dedented(text: str) -> str:
    """The lines moved left by what the first of them is indented."""
    lines = split(text)
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())] if lines else ""
    return "".join(line.removeprefix(margin) for line in lines)
