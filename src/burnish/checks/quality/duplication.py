"""Code that stands there twice: runs of statements with the same shape, whatever their variables are called."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from burnish.checks.finding import Finding
from burnish.checks.quality.module import Documented, Function, Module, blocks, docstring
from burnish.checks.quality.part import Part, falling
from burnish.text import counted, one_line

WINDOW = 6
"""Statements in a row that must be alike to count."""


class Line(NamedTuple):
    """One statement without those inside it: how deep it lies, where, and its shape."""

    module: int
    number: int
    depth: int
    shape: tuple[str, ...]
    """The tree in words; a name of the function's own stands as "=name"."""


class Copy(NamedTuple):
    """A statement, the earlier one it repeats, and where it stands: its run and its place in that."""

    here: Line
    there: Line
    run: int
    place: int


def duplication(modules: Sequence[Module]) -> Part:
    """Repeated statements in 100; the first of several copies is not counted."""
    copies = repeated([run for place, module in enumerate(modules) for run in runs(place, module)])
    findings = tuple(_finding(run, modules) for run in _joined(copies))
    why = f"{counted(len(copies), 'statement')} repeated from elsewhere" if copies else "no code stands there twice"
    return Part("duplication", falling(len(copies), modules), why, findings)


def runs(place: int, module: Module) -> Iterator[list[Line]]:
    """The statements of each function in order, and those of the file outside functions, values kept."""
    yield [Line(place, s.lineno, d, _shape(s, set(), True)) for d, s in _flat(module.tree, 0) if not _defines(s)]
    for _, function in module.functions:
        own = _own_names(function)
        yield [Line(place, s.lineno, d, _shape(s, own, False)) for d, s in _flat(function, 0)]


def repeated(all_runs: Sequence[list[Line]]) -> list[Copy]:
    """Every statement that lies in a window seen before, in order, with its first copy."""
    first: dict[tuple[object, ...], tuple[int, int]] = {}
    copies: dict[tuple[int, int], Copy] = {}
    for which, run in enumerate(all_runs):
        for start in range(len(run) - WINDOW + 1):
            key = _key(run[start : start + WINDOW])
            seen_run, seen_start = first.setdefault(key, (which, start))
            if seen_run != which or start - seen_start >= WINDOW:
                for step in range(WINDOW):
                    there = all_runs[seen_run][seen_start + step]
                    place = start + step
                    copies.setdefault((which, place), Copy(run[place], there, which, place))
    return [copies[place] for place in sorted(copies)]


def _key(window: Sequence[Line]) -> tuple[object, ...]:
    """Equal for two windows that differ in what their variables are called, and in nothing else."""
    numbers: dict[str, str] = defaultdict(lambda: f"#{len(numbers)}")
    top = min(line.depth for line in window)
    shapes = (tuple(numbers[word] if word[0] == "=" else word for word in line.shape) for line in window)
    return tuple((line.depth - top, shape) for line, shape in zip(window, shapes, strict=True))


def _flat(node: ast.AST, depth: int) -> Iterator[tuple[int, ast.stmt]]:
    """The statements below a node in order, each before those inside it; a file's definitions are not looked into."""
    skipped = docstring(node) if isinstance(node, Documented) else None
    for block in blocks(node):
        for statement in block:
            if statement is not skipped:
                yield depth, statement
                if depth or not isinstance(node, ast.Module) or not _defines(statement):
                    yield from _flat(statement, depth + 1)


def _defines(node: ast.AST) -> bool:
    return isinstance(node, Function | ast.ClassDef | ast.Import | ast.ImportFrom)


def _shape(statement: ast.stmt, own: set[str], keep_values: bool) -> tuple[str, ...]:
    words: list[str] = []
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        words.extend(_words(node, own, keep_values))
        inner = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt | ast.ExceptHandler)]
        waiting.extend(reversed(inner))
    return tuple(words)


def _words(node: ast.AST, own: set[str], keep_values: bool) -> Iterator[str]:
    yield type(node).__name__
    if isinstance(node, ast.Name):
        yield f"={node.id}" if node.id in own else f".{node.id}"
    elif isinstance(node, ast.Attribute):
        yield f".{node.attr}"
    elif isinstance(node, ast.arg):
        yield f"={node.arg}"
    elif isinstance(node, ast.keyword):
        yield f".{node.arg}"
    elif isinstance(node, ast.Constant):
        yield f".{node.value!r}" if keep_values else f".{type(node.value).__name__}"


def _own_names(function: Function) -> set[str]:
    """Parameters and variables of a function: what a copy may call otherwise."""
    nodes = list(ast.walk(function))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return stored | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _joined(copies: Sequence[Copy]) -> list[list[Copy]]:
    """Copies that follow each other, as one."""
    found: list[list[Copy]] = []
    for copy in copies:
        last = found[-1][-1] if found else None
        if last and (last.run, last.place + 1) == (copy.run, copy.place):
            found[-1].append(copy)
        else:
            found.append([copy])
    return found


def _finding(run: Sequence[Copy], modules: Sequence[Module]) -> Finding:
    here, there = run[0].here, run[0].there
    file = modules[there.module].file
    what = f"{counted(len(run), 'statement')} from here repeat those at {one_line(file)} line {there.number}."
    return Finding(file=modules[here.module].file, line=here.number, what=what, rule="duplication", severity="low")
