"""A module as text and tree, and changes of it: bytes that no change names stay as they are."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from burnish.checks.security.names import Names
from burnish.parsing import parse
from burnish.tasks.definitions import FUNCTIONS, split
from burnish.tasks.syntax import parsed

Function = ast.FunctionDef | ast.AsyncFunctionDef
LOOPS = (ast.For, ast.While, ast.AsyncFor)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
INTRODUCED = ("set", "list", "len", "min", "max", "reversed", "enumerate", "str", "Exception", "AssertionError")
"""Builtins that rewrites write."""


class CannotMendError(Exception):
    """A place where a change would need more care than a small rewrite takes."""


class Change(NamedTuple):
    """The bytes from `start` to `end` become `new`; `imports` are modules that this needs."""

    start: int
    end: int
    new: str
    imports: tuple[str, ...] = ()


class Source:
    """One module to be changed. What stands inside f-strings has no true place before Python 3.12 and is not seen."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = parse(text)
        self.names = Names(self.tree)
        self._data = text.encode()
        self._lines = [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", self._data))]
        self.nodes = list(_walk(self.tree))
        self._parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    def each(self, kind: type[ast.AST], inside: ast.AST | None = None) -> Iterator[ast.AST]:
        """Every node of a kind, in the whole module or inside a node."""
        return (node for node in (self.nodes if inside is None else _walk(inside)) if isinstance(node, kind))

    def calls(self, *dotted: str) -> Iterator[ast.Call]:
        """Calls of these, whatever the module calls them: "yaml.load", "builtins.eval"."""
        return (node for node in self.nodes if isinstance(node, ast.Call) and self.names.of(node.func) & {*dotted})

    def parent(self, node: ast.AST) -> ast.AST | None:
        """What a node is part of."""
        return self._parents.get(node)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node is part of, from the inside out."""
        while (upper := self._parents.get(node)) is not None:
            yield upper
            node = upper

    def function_of(self, node: ast.AST) -> Function | None:
        """The innermost function around a node."""
        return next((upper for upper in self.above(node) if isinstance(upper, FUNCTIONS)), None)

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around a node, or the node itself."""
        found = next((upper for upper in (node, *self.above(node)) if isinstance(upper, ast.stmt)), None)
        if found is None:
            raise CannotMendError
        return found

    def repeated_from(self, node: ast.AST) -> ast.stmt | None:
        """The outermost statement of the function in which a node is evaluated again and again; None where it is not.

        What a loop goes over is evaluated once.
        """
        found: ast.stmt | None = None
        inner = node
        for upper in self.above(node):
            if isinstance(upper, FUNCTIONS):
                break
            if isinstance(upper, LOOPS) and inner is not getattr(upper, "iter", None):
                found = upper
            elif isinstance(upper, COMPREHENSIONS) and not self._is_first_iter(node, upper):
                found = self.statement_of(upper)
            inner = upper
        return found

    def _is_first_iter(self, node: ast.AST, comprehension: ast.AST) -> bool:
        first = comprehension.generators[0].iter  # type: ignore[attr-defined]
        return any(inner is node for inner in ast.walk(first))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name in the text, so that a new one can be told from them."""
        return frozenset(re.findall(r"[^\W\d]\w*", self.text))

    def fresh(self, name: str) -> str:
        """A name that nothing here has yet."""
        while name in self.words:
            name += "_"
        return name

    def of(self, node: ast.AST) -> str:
        """A node as written."""
        return self._data[self._start(node) : self._end(node)].decode()

    def instead(self, node: ast.AST, new: str, *imports: str) -> Change:
        """Another text in the place of a node."""
        return Change(self._start(node), self._end(node), new, imports)

    def whole(self, new: str) -> Change:
        """Another module in the place of all of it."""
        return Change(0, len(self._data), new)

    def head(self, node: ast.AST, word: str, new: str) -> Change:
        """Other words for those that a node begins with."""
        start = self._start(node)
        return Change(start, start + len(word.encode()), new)

    def behind(self, node: ast.expr, new: str) -> Change:
        """A text right behind an expression."""
        end = self._end(node)
        return Change(end, end, new)

    def instead_lines(self, statement: ast.stmt, lines: Iterable[str], *imports: str) -> Change:
        """Other lines in the place of a statement, indented as it is."""
        _, margin = self._margin(statement)
        return self.instead(statement, f"\n{margin}".join(lines), *imports)

    def before(self, statement: ast.stmt, lines: Iterable[str], *imports: str) -> Change:
        """Lines above a statement, indented as it is."""
        start, margin = self._margin(statement)
        return Change(start, start, "".join(f"{margin}{line}\n" for line in lines), imports)

    def after(self, statement: ast.stmt, lines: Iterable[str], *imports: str) -> Change:
        """Lines below a statement, indented as it is."""
        _, margin = self._margin(statement)
        end = self._line_end(statement)
        head = "" if self._data[:end].endswith((b"\n", b"\r")) else "\n"
        return Change(end, end, head + "".join(f"{margin}{line}\n" for line in lines), imports)

    def without(self, statement: ast.stmt) -> Change:
        """The lines of a statement taken out, its decorators too."""
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(one.lineno for one in decorators)])
        if not decorators:
            self._margin(statement)
        return Change(self._lines[first - 1], self._line_end(statement), "")

    def lines(self, first: ast.stmt, last: ast.stmt, new: str, *imports: str) -> Change:
        """Other lines in the place of those from one statement to another."""
        start, _ = self._margin(first)
        return Change(start, self._line_end(last), new, imports)

    def top_of(self, change: Change) -> str:
        """The function or class at the top of the module that a change lies in; empty where it lies in none."""
        for node in self.tree.body:
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                if self._lines[first - 1] <= change.start and change.end <= self._line_end(node):
                    return node.name
        return ""

    def with_changes(self, changes: Iterable[Change]) -> str | None:
        """The module after the changes; of two that overlap, the outer. None where that is no Python."""
        kept: list[Change] = []
        for change in sorted(changes, key=lambda one: (one.start, -one.end)):
            if not kept or change.start >= kept[-1].end:
                kept.append(change)
        self._object_to_hidden(kept)
        data = self._data
        for change in reversed(kept):
            data = data[: change.start] + change.new.encode() + data[change.end :]
        text = with_modules(data.decode(), {module for change in kept for module in change.imports})
        return text if parsed(text) is not None else None

    def _object_to_hidden(self, changes: Iterable[Change]) -> None:
        """A rewrite that needs `set` or `collections` stays away where these names mean something else."""
        small = [change for change in changes if change.end - change.start < len(self._data)]
        words = {word for change in small for word in re.findall(r"[^\W\d]\w*", change.new)}
        needed = (words & {*INTRODUCED}) | {module for change in small for module in change.imports}
        if needed & bound_in(self.tree):
            raise CannotMendError

    def _margin(self, statement: ast.stmt) -> tuple[int, str]:
        """Where the line of a statement begins, and its indentation; nothing else may stand on its lines."""
        line, start = self._lines[statement.lineno - 1], self._start(statement)
        margin = self._data[line:start].decode()
        rest = self._data[self._end(statement) : self._line_end(statement)].decode().strip()
        if margin.strip() or (rest and not rest.startswith("#")):
            raise CannotMendError
        return line, margin

    def _line_end(self, node: ast.stmt) -> int:
        last = node.end_lineno or node.lineno
        return self._lines[last] if last < len(self._lines) else len(self._data)

    def _start(self, node: ast.AST) -> int:
        return self._lines[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined, no-any-return]

    def _end(self, node: ast.AST) -> int:
        return self._lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined, no-any-return]


def with_modules(text: str, modules: Iterable[str]) -> str:
    """The text with `import …` for each module that it does not import yet, below its docstring."""
    tree = parsed(text)
    if tree is None:
        return text
    there = {
        alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names if not alias.asname
    }
    lines = [f"import {module}\n" for module in sorted({*modules} - there)]
    if not lines:
        return text
    rest = [node for node in tree.body if not _stays_first(node, tree)]
    first = rest[0] if rest else None
    at = min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", []))]) - 1 if first else None
    written = split(text)
    at = len(written) if at is None else at
    gap = [] if isinstance(first, ast.Import | ast.ImportFrom) else ["\n", "\n"]
    return "".join([*written[:at], *lines, *gap, *written[at:]])


def _stays_first(node: ast.stmt, tree: ast.Module) -> bool:
    is_docstring = node is tree.body[0] and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def names_in(node: ast.AST) -> set[str]:
    """Every name that stands in a node, inside of f-strings too."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def bound_in(tree: ast.AST) -> set[str]:
    """Every name that code gives a meaning of its own, wherever it does."""
    return {name for node in ast.walk(tree) for name in bound_by(node)}


def bound_by(node: ast.AST) -> set[str]:
    """What one node gives a meaning: a variable, a parameter, a function, a class, what `import … as` names."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return {name}
        case ast.arg(arg=name) | ast.alias(asname=str(name)) | ast.MatchMapping(rest=str(name)):
            return {name}
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return {name}
        case ast.ImportFrom(names=names):
            return {alias.asname or alias.name for alias in names}
    return set()


def _walk(root: ast.AST) -> Iterator[ast.AST]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.JoinedStr):
            waiting += reversed(list(ast.iter_child_nodes(node)))
