"""The module in which an answer is judged: the answer's function, in the place where it belongs.

The rule: what the task gave stays byte for byte. An answer replaces the entry point and adds what it needs; it never
changes the imports, helpers, docstrings and examples that were there.
"""

import ast
import re
import textwrap
from collections.abc import Mapping

from burnish.tasks.definitions import (
    DEFINITIONS,
    FUNCTIONS,
    Definition,
    find,
    guessed_lines,
    guessed_names,
    lines_of,
    split,
)
from burnish.tasks.fitting import ended_as, fitted, indent_of, line_end, unit_of
from burnish.tasks.syntax import parsed
from burnish.tasks.task import Task

IMPORTS = (ast.Import, ast.ImportFrom)
BRINGING = (*DEFINITIONS, ast.Assign, ast.AnnAssign, ast.If, ast.Try)
"""Statements that can bring a helper; a loop, a print or an assert at the top level only shows the code at work."""
_CODING = re.compile(r"[ \t\f]*#.*?coding[:=]")


def assemble(task: Task, code: str) -> str:
    """The whole module of an answer. What cannot be placed stands below the prelude, and its grade says the rest.

    Code that is no more than what the task goes on from gives way to the answer in every name that was asked for.
    """
    made = _placed(task, code)
    if task.broken or find(parsed(task.base_code), task.entry_point) is None:
        return made
    for name in task.also:
        if find(parsed(code), name) and find(parsed(made), name):
            made = _placed(task.model_copy(update={"entry_point": name, "base_code": made}), code)
    return made


def _placed(task: Task, code: str) -> str:
    """The answer's entry point in its place."""
    code, answer, new = _understood(code, task.entry_point)
    if answer is None or new is None:
        return _below(task.prelude, code)
    module = parsed(task.base_code)
    place = find(module, task.entry_point)
    if module is not None and place is not None:
        return _Splice(task, module, place, code, answer, new).made()
    if module is None and guessed_lines(task.base_code, task.entry_point):
        return _mended(task, code, answer, new)
    return _below(task.prelude, _without(code, answer, _given(task.prelude) - {task.entry_point}))


def source(text: str, node: ast.stmt) -> str:
    """A top-level statement as written, in whole lines, with its decorators."""
    first, last = lines_of(node)
    return "".join(split(text)[first:last])


def names_of(node: ast.stmt) -> set[str]:
    """The names that a top-level statement binds."""
    if isinstance(node, DEFINITIONS):
        return {node.name}
    if isinstance(node, IMPORTS):
        return {alias.asname or alias.name.split(".")[0] for alias in node.names}
    stored = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    inner = [part for part in ast.walk(node) if isinstance(part, (*DEFINITIONS, *IMPORTS))]
    return stored.union(*(names_of(part) for part in inner))


def _understood(code: str, name: str) -> tuple[str, ast.Module | None, Definition | None]:
    """An answer, its tree and its definition of a name; a method may stand alone, and as indented as it was."""
    answer = parsed(code)
    if answer is None and "." in name:
        code, answer = _outdented(code)
    return code, answer, find(answer, name) or (find(answer, name.rpartition(".")[2]) if "." in name else None)


def _outdented(code: str) -> tuple[str, ast.Module | None]:
    """A method as it stands in its class, below the imports that it came with."""
    lines = split(code)
    first = next((place for place, line in enumerate(lines) if line.strip() and line[0] in " \t"), 0)
    whole = "".join(lines[:first]) + textwrap.dedent("".join(lines[first:]))
    answer = parsed(whole)
    return (whole, answer) if answer else (code, None)


class _Splice:
    """One answer on its way into one module."""

    def __init__(
        self, task: Task, module: ast.Module, place: Definition, code: str, answer: ast.Module, new: Definition
    ) -> None:
        self.base, self.name, self.module, self.place = task.base_code, task.entry_point, module, place
        self.answer, self.new = answer, new
        self.lines, self.given = split(self.base), split(code)
        self.end = line_end(self.base)
        self.owner = find(module, self.name.rpartition(".")[0])

    def made(self) -> str:
        first, last = lines_of(self.place)
        around = self._outermost(first)
        beside, before, after = self._added()
        top = min(self._top(), around)
        body = self._function() + self.end + "".join(2 * self.end + part for part in after)
        if last == len(self.lines) and not self.base.endswith(("\n", "\r")):
            body = body.rstrip("\r\n")
        parts = [
            *self.lines[:top],
            *self._imports(),
            *self.lines[top:around],
            *(part + 2 * self.end for part in before),
            *self.lines[around:first],
            *(part + self.end for part in beside),
            self._head(first),
            body,
            *self.lines[last:],
        ]
        return "".join(parts)

    def _outermost(self, first: int) -> int:
        """The first line of the top-level statement that the function stands in."""
        starts = [begin for begin, end in map(lines_of, self.module.body) if begin <= first < end]
        return min([first, *starts])

    def _head(self, first: int) -> str:
        """What stands before the function on its first line and is no indentation: a form feed."""
        line = self.lines[first]
        return line[: len(line) - len(line.lstrip("\f"))]

    def _function(self) -> str:
        first = lines_of(self.place)[0]
        indent, unit = indent_of(self.lines[first]), unit_of(self.lines, self.place)
        lines = _with_docstring(self.given, self.new, self.lines, self.place)
        node = _again(lines, self.new)
        text = self._with_old_words(fitted(lines, node, indent, unit), lines, node)
        if not self.new.decorator_list:
            text = self._decorators() + text
        return ended_as(text, self.end)

    def _with_old_words(self, text: str, lines: list[str], node: Definition) -> str:
        """The docstring that was there, byte for byte, where it stands as it did."""
        old, new = _docstring_lines(self.lines, self.place), _docstring_lines(lines, node)
        if old is None or new is None or len(node.body) == 1 or old[1] - old[0] != new[1] - new[0]:
            return text
        made, first = text.split("\n"), lines_of(node)[0]
        was = [line.rstrip("\r\n") for line in self.lines[old[0] : old[1]]]
        if made[new[0] - first] == was[0]:
            made[new[0] - first : new[1] - first] = was
        return "\n".join(made)

    def _decorators(self) -> str:
        """Those that the function had: an answer that has none forgot them."""
        first = lines_of(self.place)[0]
        alone = "." not in self.name
        lost = [
            item for item in self.place.decorator_list if alone and ast.unparse(item) in ("staticmethod", "classmethod")
        ]
        return "" if lost else "".join(self.lines[first : self.place.lineno - 1])

    def _added(self) -> tuple[list[str], list[str], list[str]]:
        """What the answer brings besides: methods for the same class, helpers above, and what came below."""
        there = {name for node in self.module.body for name in names_of(node)}
        beside = [fitted(self.given, node, self._indent(), self._unit()) + self.end for node in self._methods()]
        known = {id(node) for node in self._methods()}
        added = [node for node in self.answer.body if id(node) not in known and self._is_missing(node, there)]
        own = [node for node in added if not isinstance(node, IMPORTS)]
        before = [self._own(node) for node in own if node.lineno < self.new.lineno or "." in self.name]
        after = [self._own(node) for node in own if node.lineno > self.new.lineno and "." not in self.name]
        return [ended_as(part, self.end) for part in beside], before, after

    def _methods(self) -> list[Definition]:
        """Helpers of the answer that belong to the function's class, and that the class lacks."""
        if not isinstance(self.owner, ast.ClassDef):
            return []
        there = {name for node in self.owner.body for name in names_of(node)}
        around = find(self.answer, self.name.rpartition(".")[0])
        inside = around.body if around else [node for node in self.answer.body if _takes_self(node)]
        return [
            node
            for node in inside
            if isinstance(node, FUNCTIONS) and node is not self.new and node.name not in there | {self.place.name}
        ]

    def _indent(self) -> str:
        return indent_of(self.lines[lines_of(self.place)[0]])

    def _unit(self) -> str:
        return unit_of(self.lines, self.place)

    def _own(self, node: ast.stmt) -> str:
        first, last = lines_of(node)
        return ended_as(_ended("".join(self.given[first:last])), self.end)

    def _is_missing(self, node: ast.stmt, there: set[str]) -> bool:
        """Whether the answer brings something here that the module lacks; a name that is taken is never taken over."""
        if node is self.new or self.new in getattr(node, "body", ()):
            return False
        if isinstance(node, IMPORTS):
            star = node.names[0].name == "*"
            same = any(ast.dump(node) == ast.dump(one) for one in self.module.body)
            return not same and (star or not names_of(node) <= there)
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            return False
        own = {self.name.partition(".")[0], self.place.name}
        return isinstance(node, BRINGING) and bool(names_of(node)) and not names_of(node) & (there | own)

    def _imports(self) -> list[str]:
        """The added imports, those from `__future__` first."""
        there = {name for node in self.module.body for name in names_of(node)}
        added = [node for node in self.answer.body if isinstance(node, IMPORTS) and self._is_missing(node, there)]
        lines = [ast.unparse(node) + self.end for node in added]
        return sorted(lines, key=lambda line: not line.startswith("from __future__ "))

    def _top(self) -> int:
        """The number of lines that stay first: what Python reads before code, docstring, `__future__`, comments."""
        end = 0
        while end < min(2, len(self.lines)) and (self.lines[end].startswith("#!") or _CODING.match(self.lines[end])):
            end += 1
        for place, node in enumerate(self.module.body):
            is_docstring = place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not is_docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
                break
            end = node.end_lineno or end
        return end


def _mended(task: Task, code: str, answer: ast.Module, new: Definition) -> str:
    """In a module that does not parse: over the lines the function seems to take, and over those of one more function,
    or of all, where the mistake is in another that the answer mends too.
    """
    base, name = task.base_code, task.entry_point
    known = guessed_names(base)
    inner = [other for other in dict.fromkeys(known) if not any(one.startswith(f"{other}.") for one in known)]
    mended = {other: found for other in inner if other != name and (found := find(answer, other))}
    first = {name: new}
    ways = [first, *({**first, other: found} for other, found in mended.items()), {**first, **mended}]
    tries = (_over(base, code, way) for way in ways)
    made = next((text for text in tries if parsed(text) is not None), "")
    if not made and all(find(answer, other) for other in known) and _keeps(code, base):
        return code
    return made or _over(base, code, first)


def _over(base: str, code: str, definitions: Mapping[str, Definition]) -> str:
    """A text that does not parse, with definitions of the answer over the lines that they seem to take in it."""
    lines, given, end = split(base), split(code), line_end(base)
    places = {name: found for name in definitions if (found := guessed_lines(base, name))}
    for name in sorted(places, key=lambda name: places[name], reverse=True):
        first, last = places[name]
        lines[first:last] = [ended_as(fitted(given, definitions[name], indent_of(lines[first]), ""), end) + end]
    return "".join(lines)


def _keeps(code: str, base: str) -> bool:
    """Whether a whole answer has all that stands outside functions and classes; one line may be the mistake."""
    lines = split(base)
    inside = {number for name in guessed_names(base) for number in range(*(guessed_lines(base, name) or (0, 0)))}
    there = {line.strip() for line in split(code)}
    lost = [line for number, line in enumerate(lines) if number not in inside and line.strip() not in {*there, ""}]
    return len(lost) <= 1


def _with_docstring(given: list[str], new: Definition, lines: list[str], place: Definition) -> list[str]:
    """The answer's lines, with the docstring that was there: its words and examples are not the answer's to change."""
    old = _docstring_lines(lines, place)
    if old is None or not isinstance(new, FUNCTIONS):
        return given
    has = ast.get_docstring(new, clean=False) is not None
    first = _docstring_lines(given, new)
    if (has and first is None) or new.body[0].lineno == new.lineno:
        return given
    indent = indent_of(given[new.body[0].lineno - 1])
    was = indent_of(lines[old[0]])
    text = [_again_indented(line, was, indent) for line in lines[old[0] : old[1]]]
    start, stop = first if first else (new.body[0].lineno - 1, new.body[0].lineno - 1)
    if not first and getattr(new.body[0], "decorator_list", None):
        start = stop = lines_of(new.body[0])[0]
    only = has and len(new.body) == 1
    kept = given[start:stop] if only else []
    return [*given[:start], *(kept or text), *given[stop:]]


def _docstring_lines(lines: list[str], node: Definition) -> tuple[int, int] | None:
    """Where the docstring stands, if it has its lines for itself."""
    doc = node.body[0]
    if not isinstance(node, FUNCTIONS) or ast.get_docstring(node, clean=False) is None or doc.end_lineno is None:
        return None
    first, last = doc.lineno - 1, doc.end_lineno
    shared = lines[first][: len(indent_of(lines[first]))].strip() or doc.lineno == node.lineno
    follows = len(node.body) > 1 and node.body[1].lineno == doc.end_lineno
    alone = lines[first].encode()[: doc.col_offset].strip() == b""
    return (first, last) if alone and not shared and not follows else None


def _again_indented(line: str, old: str, new: str) -> str:
    return new + line[len(old) :] if line.startswith(old) and line.strip() else line


def _again(lines: list[str], node: Definition) -> Definition:
    """The same definition, found anew in lines that changed below its head."""
    module = parsed("".join(lines))
    same = (
        [part for part in ast.walk(module) if isinstance(part, type(node)) and part.lineno == node.lineno]
        if module
        else []
    )
    return same[0] if same else node


def _takes_self(node: ast.stmt) -> bool:
    arguments = [*node.args.posonlyargs, *node.args.args] if isinstance(node, FUNCTIONS) else []
    return bool(arguments) and arguments[0].arg in ("self", "cls")


def _given(prelude: str) -> set[str]:
    """The helpers that the task gives: tests may lean on them, so an answer does not replace them."""
    module = parsed(prelude)
    return {node.name for node in module.body if isinstance(node, DEFINITIONS)} if module else set()


def _without(code: str, answer: ast.Module, given: set[str]) -> str:
    lines = split(code)
    for node in answer.body:
        if isinstance(node, DEFINITIONS) and node.name in given:
            first, last = lines_of(node)
            lines[first:last] = [""] * (last - first)
    return "".join(lines)


def _below(prelude: str, code: str) -> str:
    if not prelude.strip():
        return code
    future = [line for line in split(code) if line.startswith("from __future__ import ")]
    rest = "".join(line for line in split(code) if line not in future)
    return f"{''.join(future)}{prelude.rstrip()}\n\n\n{rest}"


def _ended(text: str) -> str:
    return text if text.endswith(("\n", "\r")) else text + "\n"
