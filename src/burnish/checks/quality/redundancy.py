"""Code that could go: what does nothing, and what stands there twice.

Dead code is unused imports and variables, statements after a return, private names that nobody uses. Duplicates are
runs of statements with the same shape, whatever their variables are called.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from burnish.checks.check import Finding
from burnish.checks.quality.metrics import (
    DEAD,
    Documented,
    Function,
    Module,
    Part,
    count_statements,
    find_docstring,
    list_blocks,
    score_points,
)
from burnish.text import one_line, plural

ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_WORD = re.compile(r"[^\W\d]\w*")
LONGEST_NAME_TEXT = 200
"""A text up to this long may name things: `getattr`'s, `__all__`'s, an annotation's in quotes."""
WINDOW = 6
"""Statements in a row that must be alike to count as a duplicate."""
Dead = tuple[int, Finding]
"""How many statements are dead, and where."""


class Statement(NamedTuple):
    """One statement without those inside it: where it stands, how deep it lies, and its shape."""

    file: str
    line: int
    depth: int
    shape: tuple[str, ...]
    """The tree in words; a name of the function's own stands as "=name"."""


class Copy(NamedTuple):
    """A statement, the earlier one it repeats, and where it stands: its run and its place in that."""

    here: Statement
    there: Statement
    run: int
    place: int


def score_dead_code(modules: Sequence[Module], ruff: Sequence[Finding]) -> Part:
    """Dead statements in 100. What only looks unused from here, public names and decorated ones, is left alone."""
    uses = sum((count_references(module.tree) for module in modules), Counter[str]())
    found = [pair for module in modules for pair in (*_find_unreachable(module), *_find_unused(module, uses))]
    dead = sum(finding.rule in DEAD for finding in ruff) + sum(size for size, _ in found)
    why = f"{plural(dead, 'statement')} of no use" if dead else "nothing unused was found"
    return Part("dead code", score_points(dead, modules), why, tuple(finding for _, finding in found))


def count_references(node: ast.AST) -> Counter[str]:
    """How often each name is used in and below a node, in short texts too."""
    found: Counter[str] = Counter()
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                found[name] += 1
            case ast.ImportFrom(names=aliases):
                found.update(alias.name for alias in aliases)
            case ast.Constant(value=str(text)) if len(text) <= LONGEST_NAME_TEXT and "_" in text:
                found.update(_WORD.findall(text))
    return found


def _find_unreachable(module: Module) -> Iterator[Dead]:
    for node in ast.walk(module.tree):
        for block in list_blocks(node):
            end = next((place for place, one in enumerate(block) if isinstance(one, ENDS)), len(block))
            after = block[end + 1 :]
            # `return` and then `yield` is how an empty generator is written.
            yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for one in after for node in ast.walk(one))
            if after and not yields:
                what = "Nothing reaches this line: the statement before it always leaves."
                yield sum(map(count_statements, after)), module.finding(after[0].lineno, what, "dead-code")


def _find_unused(module: Module, uses: Counter[str]) -> Iterator[Dead]:
    """Private functions, classes and variables of a file, and private methods of classes that stand alone."""
    body = list(module.tree.body)
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[_, wanted, *_]) if not isinstance(wanted, ast.Constant):
                break  # the name is put together: any method may be meant
    else:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.bases and not node.decorator_list:
                body += [inner for inner in node.body if isinstance(inner, Function | ast.ClassDef)]
    for statement in sorted(body, key=lambda one: one.lineno):
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                own = count_references(statement)[name]
                is_candidate = not statement.decorator_list
            case ast.Assign(targets=[ast.Name(id=name)]):
                own, is_candidate = 0, True
            case _:
                continue
        if is_candidate and name.startswith("_") and not name.endswith("_") and uses[name] <= own:
            what = f"{name} is private and nothing uses it."
            yield count_statements(statement), module.finding(statement.lineno, what, "dead-code")


def score_duplication(modules: Sequence[Module]) -> Part:
    """Repeated statements in 100; the first of several copies is not counted."""
    # The statements of each function in order, and those of the file outside functions, values kept.
    runs = []
    for module in modules:
        outside = [(depth, one) for depth, one in _flatten(module.tree, 0) if not _defines(one)]
        runs.append([Statement(module.file, s.lineno, depth, _shape(s, set(), True)) for depth, s in outside])
        for _, function in module.functions:
            # Parameters and variables of a function are what a copy may call otherwise.
            nodes = list(ast.walk(function))
            own = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
            own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
            inside = _flatten(function, 0)
            runs.append([Statement(module.file, s.lineno, depth, _shape(s, own, False)) for depth, s in inside])
    copies = find_copies(runs)
    why = f"{plural(len(copies), 'statement')} repeated from elsewhere" if copies else "no code stands there twice"
    blocks: list[list[Copy]] = []
    for copy in copies:  # those that follow each other are one finding
        last = blocks[-1][-1] if blocks else None
        if last and (last.run, last.place + 1) == (copy.run, copy.place):
            blocks[-1].append(copy)
        else:
            blocks.append([copy])
    findings = []
    for block in blocks:
        here, there = block[0].here, block[0].there
        what = f"{plural(len(block), 'statement')} from here repeat those at {one_line(there.file)} line {there.line}."
        findings.append(Finding(file=here.file, line=here.line, what=what, rule="duplication", severity="low"))
    return Part("duplication", score_points(len(copies), modules), why, tuple(findings))


def find_copies(runs: Sequence[list[Statement]]) -> list[Copy]:
    """Every statement that lies in a window seen before, in order, with its first copy."""
    first: dict[tuple[object, ...], tuple[int, int]] = {}
    copies: dict[tuple[int, int], Copy] = {}
    for which, run in enumerate(runs):
        for start in range(len(run) - WINDOW + 1):
            window = run[start : start + WINDOW]
            # Equal for two windows that differ in what their variables are called, and in nothing else.
            own = dict.fromkeys(word for one in window for word in one.shape if word[0] == "=")
            numbers = {word: f"#{number}" for number, word in enumerate(own)}
            top = min(one.depth for one in window)
            key = tuple((one.depth - top, *(numbers.get(word, word) for word in one.shape)) for one in window)
            seen_run, seen_start = first.setdefault(key, (which, start))
            if seen_run != which or start - seen_start >= WINDOW:
                for step in range(WINDOW):
                    place, there = start + step, runs[seen_run][seen_start + step]
                    copies.setdefault((which, place), Copy(run[place], there, which, place))
    return [copies[place] for place in sorted(copies)]


def _flatten(node: ast.AST, depth: int) -> Iterator[tuple[int, ast.stmt]]:
    """The statements below a node in order, each before those inside it; a file's definitions are not looked into."""
    docstring = find_docstring(node) if isinstance(node, Documented) else None
    for block in list_blocks(node):
        for statement in block:
            if statement is not docstring:
                yield depth, statement
                if depth or not isinstance(node, ast.Module) or not _defines(statement):
                    yield from _flatten(statement, depth + 1)


def _defines(node: ast.AST) -> bool:
    return isinstance(node, Function | ast.ClassDef | ast.Import | ast.ImportFrom)


def _shape(statement: ast.stmt, own: set[str], keep_values: bool) -> tuple[str, ...]:
    """The tree of a statement in words, without the statements inside it."""
    words: list[str] = []
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        words.append(type(node).__name__)
        match node:
            case ast.Name(id=name):
                words.append(f"={name}" if name in own else f".{name}")
            case ast.arg(arg=name):
                words.append(f"={name}")
            case ast.Attribute(attr=name) | ast.keyword(arg=name):
                words.append(f".{name}")
            case ast.Constant(value=value):
                words.append(f".{value!r}" if keep_values else f".{type(value).__name__}")
        inner = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt | ast.ExceptHandler)]
        waiting.extend(reversed(inner))
    return tuple(words)
