"""The module in which an answer is judged: the answer's function, in the place where it belongs.

The rule: what the task gave stays byte for byte. An answer replaces the entry point and adds what it needs; it never
changes the imports, helpers, docstrings and examples that were there.
"""

import ast
import re
import textwrap
from collections.abc import Mapping

from burnish.parsing import try_parse
from burnish.tasks.source import (
    DEFINITIONS,
    FUNCTIONS,
    IMPORTS,
    Definition,
    Function,
    find_bound_names,
    find_definition,
    find_docstring,
    guess_line_span,
    guess_names,
    indent_of,
    indent_unit,
    line_end_of,
    line_span,
    reindent,
    shift_line,
    source_of,
    split_lines,
    with_line_ends,
)
from burnish.tasks.task import Task

BRINGING = (*DEFINITIONS, ast.Assign, ast.AnnAssign, ast.If, ast.Try)
"""Statements that can bring a helper; a loop, a print or an assert at the top level only shows the code at work."""
_CODING = re.compile(r"[ \t\f]*#.*?coding[:=]")


def assemble(task: Task, code: str) -> str:
    """The whole module of an answer. What cannot be placed stands below the prelude, and its grade says the rest.

    Code that is no more than what the task goes on from gives way to the answer in every name that was asked for.
    """
    whole = _place_answer(task, code)
    if task.broken or find_definition(try_parse(task.base_code), task.entry_point) is None:
        return whole
    for name in task.also:
        if find_definition(try_parse(code), name) and find_definition(try_parse(whole), name):
            whole = _place_answer(task.model_copy(update={"entry_point": name, "base_code": whole}), code)
    return whole


def offered_names(task: Task) -> tuple[str, ...]:
    """The names that a task's module has beside the one to write, in order and each once: tests may lean on them.

    They are further names to write, and what the task's own code binds at its top level.
    """
    found = list(task.also)
    for module in filter(None, map(try_parse, (task.prelude, task.base_code))):
        for node in module.body:
            found += sorted(name for name in find_bound_names(node) if name != "*")
    return tuple(dict.fromkeys(name for name in found if name not in {task.entry_point, "annotations"}))


def _place_answer(task: Task, code: str) -> str:
    """The answer's entry point in its place; a method may stand alone in the answer, and as indented as it was."""
    name = task.entry_point
    answer = try_parse(code)
    if answer is None and "." in name:
        lines = split_lines(code)
        first = next((place for place, line in enumerate(lines) if line.strip() and line[0] in " \t"), 0)
        outdented = "".join(lines[:first]) + textwrap.dedent("".join(lines[first:]))
        answer = try_parse(outdented)
        code = outdented if answer else code
    new = find_definition(answer, name) or find_definition(answer, name.rpartition(".")[2])
    if answer is None or new is None:
        return _put_below(task.prelude, code)
    module = try_parse(task.base_code)
    place = find_definition(module, name)
    if module is not None and place is not None:
        return _Splice(task, module, place, code, answer, new).render()
    if module is None and guess_line_span(task.base_code, name):
        return _replace_in_broken_module(task, code, answer, new)
    prelude = try_parse(task.prelude)
    given = {node.name for node in (prelude.body if prelude else []) if isinstance(node, DEFINITIONS)} - {name}
    lines = split_lines(code)
    for node in answer.body:
        if isinstance(node, DEFINITIONS) and node.name in given:  # tests may lean on the helper that the task gives
            first, last = line_span(node)
            lines[first:last] = [""] * (last - first)
    return _put_below(task.prelude, "".join(lines))


def _put_below(prelude: str, code: str) -> str:
    if not prelude.strip():
        return code
    lines = split_lines(code)
    future = [line for line in lines if line.startswith("from __future__ import ")]
    rest = "".join(line for line in lines if line not in future)
    return f"{''.join(future)}{prelude.rstrip()}\n\n\n{rest}"


class _Splice:
    """One answer on its way into one module that parses."""

    def __init__(
        self, task: Task, module: ast.Module, place: Definition, code: str, answer: ast.Module, new: Definition
    ) -> None:
        self.base, self.name, self.module, self.place = task.base_code, task.entry_point, module, place
        self.code, self.answer, self.new = code, answer, new
        self.lines, self.given = split_lines(self.base), split_lines(code)
        self.end = line_end_of(self.base)
        self.first, self.last = line_span(place)
        self.indent, self.unit = indent_of(self.lines[self.first]), indent_unit(self.lines, place)
        self.bound = {name for node in module.body for name in find_bound_names(node)}

    def render(self) -> str:
        """The module's own lines up to the function, around it and below it, with what the answer brings between."""
        line = self.lines[self.first]
        form_feeds = line[: len(line) - len(line.lstrip("\f"))]
        starts = [begin for begin, end in map(line_span, self.module.body) if begin <= self.first < end]
        outermost = min([self.first, *starts])
        methods = self.new_methods()
        beside = [reindent(self.given, node, self.indent, self.unit) + 2 * self.end for node in methods]
        added = [node for node in self.answer.body if node not in methods and self.is_missing(node)]
        imports = [ast.unparse(node) + self.end for node in added if isinstance(node, IMPORTS)]
        imports.sort(key=lambda line: not line.startswith("from __future__ "))
        before, after = self.new_helpers([node for node in added if not isinstance(node, IMPORTS)])
        top = min(self.lines_to_keep_first(), outermost)
        body = self.function() + self.end + "".join(2 * self.end + part for part in after)
        if self.last == len(self.lines) and not self.base.endswith(("\n", "\r")):
            body = body.rstrip("\r\n")
        parts = [
            *self.lines[:top],
            *imports,
            *self.lines[top:outermost],
            *(part + 2 * self.end for part in before),
            *self.lines[outermost : self.first],
            *(with_line_ends(part, self.end) for part in beside),
            form_feeds,
            body,
            *self.lines[self.last :],
        ]
        return "".join(parts)

    def new_methods(self) -> list[Definition]:
        """Helpers of the answer that belong to the function's class, and that the class lacks."""
        owner = find_definition(self.module, self.name.rpartition(".")[0])
        if not isinstance(owner, ast.ClassDef):
            return []
        known = {name for node in owner.body for name in find_bound_names(node)} | {self.place.name}
        around = find_definition(self.answer, self.name.rpartition(".")[0])
        functions = [node for node in (around or self.answer).body if isinstance(node, FUNCTIONS)]
        if not around:  # methods that stand alone
            functions = [node for node in functions if _first_parameter(node) in ("self", "cls")]
        return [node for node in functions if node is not self.new and node.name not in known]

    def new_helpers(self, nodes: list[ast.stmt]) -> tuple[list[str], list[str]]:
        """What goes above the function, and what came below it; of a method all goes above its class."""
        above: list[str] = []
        below: list[str] = []
        for node in nodes:
            text = source_of(self.code, node)
            text = text if text.endswith(("\n", "\r")) else text + "\n"
            target = above if node.lineno < self.new.lineno or "." in self.name else below
            target.append(with_line_ends(text, self.end))
        return above, below

    def is_missing(self, node: ast.stmt) -> bool:
        """Whether the answer brings something here that the module lacks; a name that is taken is never taken over."""
        if node is self.new or self.new in getattr(node, "body", ()):
            return False
        names = find_bound_names(node)
        if isinstance(node, IMPORTS):
            star = node.names[0].name == "*"
            same = any(ast.dump(node) == ast.dump(one) for one in self.module.body)
            return not same and (star or not names <= self.bound)
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            return False
        own = {self.name.partition(".")[0], self.place.name}
        return isinstance(node, BRINGING) and bool(names) and not names & (self.bound | own)

    def lines_to_keep_first(self) -> int:
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

    def function(self) -> str:
        """The new function as it stands at the old one's place, with the docstring and decorators that were there."""
        lines = self.lines_with_docstring()
        tree = try_parse("".join(lines))  # found anew: lines changed below its head
        nodes = [node for node in ast.walk(tree) if isinstance(node, type(self.new))] if tree else []
        node = next((one for one in nodes if one.lineno == self.new.lineno), self.new)
        text = reindent(lines, node, self.indent, self.unit)
        old, new = _docstring_lines(self.lines, self.place), _docstring_lines(lines, node)
        if old and new and len(node.body) > 1 and old[1] - old[0] == new[1] - new[0]:
            # Moved to the answer's margin and back it may have changed, so it is put back byte for byte.
            made, offset = text.split("\n"), line_span(node)[0]
            was = [line.rstrip("\r\n") for line in self.lines[old[0] : old[1]]]
            if made[new[0] - offset] == was[0]:
                made[new[0] - offset : new[1] - offset] = was
            text = "\n".join(made)
        if not self.new.decorator_list:  # an answer that has none forgot them
            kinds = {ast.unparse(item) for item in self.place.decorator_list}
            if "." in self.name or not kinds & {"staticmethod", "classmethod"}:
                text = "".join(self.lines[self.first : self.place.lineno - 1]) + text
        return with_line_ends(text, self.end)

    def lines_with_docstring(self) -> list[str]:
        """The answer's lines, with the docstring that was there: its words and examples are not the answer's."""
        given, new = self.given, self.new
        old = _docstring_lines(self.lines, self.place)
        if old is None or not isinstance(new, FUNCTIONS) or new.body[0].lineno == new.lineno:
            return given
        own = _docstring_lines(given, new)
        if find_docstring(new) and (own is None or len(new.body) == 1):
            return given
        above = line_span(new.body[0])[0]
        start, stop = own or (above, above)
        indent, was = indent_of(given[new.body[0].lineno - 1]), indent_of(self.lines[old[0]])
        text = [shift_line(line, was, indent) for line in self.lines[old[0] : old[1]]]
        return [*given[:start], *text, *given[stop:]]


def _docstring_lines(lines: list[str], node: Definition) -> tuple[int, int] | None:
    """Where the docstring of a function stands, if it has its lines for itself."""
    doc = find_docstring(node)
    if doc is None or doc.end_lineno is None or not isinstance(node, FUNCTIONS):
        return None
    follows = len(node.body) > 1 and node.body[1].lineno == doc.end_lineno
    alone = lines[doc.lineno - 1].encode()[: doc.col_offset].strip() == b""
    return (doc.lineno - 1, doc.end_lineno) if alone and not follows else None


def _first_parameter(node: Function) -> str:
    return next((argument.arg for argument in (*node.args.posonlyargs, *node.args.args)), "")


def _replace_in_broken_module(task: Task, code: str, answer: ast.Module, new: Definition) -> str:
    """In a module that does not parse: over the lines the function seems to take, and over those of one more function,
    or of all, where the mistake is in another that the answer mends too.
    """
    base, name = task.base_code, task.entry_point
    known = guess_names(base)
    inner = [other for other in dict.fromkeys(known) if not any(one.startswith(f"{other}.") for one in known)]
    mended = {other: found for other in inner if other != name and (found := find_definition(answer, other))}
    first = {name: new}
    ways = [first, *({**first, other: found} for other, found in mended.items()), {**first, **mended}]
    texts = (_replace_guessed_lines(base, code, way) for way in ways)
    made = next((text for text in texts if try_parse(text) is not None), "")
    if not made and all(find_definition(answer, other) for other in known) and _keeps_the_rest(code, base):
        return code
    return made or _replace_guessed_lines(base, code, first)


def _replace_guessed_lines(base: str, code: str, definitions: Mapping[str, Definition]) -> str:
    """A text that does not parse, with definitions of the answer over the lines that they seem to take in it."""
    lines, given, end = split_lines(base), split_lines(code), line_end_of(base)
    places = {name: found for name in definitions if (found := guess_line_span(base, name))}
    for name in sorted(places, key=lambda name: places[name], reverse=True):
        first, last = places[name]
        text = reindent(given, definitions[name], indent_of(lines[first]), "")
        lines[first:last] = [with_line_ends(text, end) + end]
    return "".join(lines)


def _keeps_the_rest(code: str, base: str) -> bool:
    """Whether a whole answer has all that stands outside functions and classes; one line may be the mistake."""
    inside = {number for name in guess_names(base) for number in range(*(guess_line_span(base, name) or (0, 0)))}
    known = {"", *(line.strip() for line in split_lines(code))}
    lost = [number for number, line in enumerate(split_lines(base)) if line.strip() not in known]
    return len([number for number in lost if number not in inside]) <= 1
