"""Python source as text and tree: where a node stands, how a definition is found, cut out and moved to another place.

Every edit of source goes through here. Lines and columns are Python's own: columns count bytes, and neither a form feed
nor a Unicode separator ends a line. Strings keep what they hold; only docstrings move with their function.
"""

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from burnish.text import one_line

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
_LINE_END = re.compile(r"\r\n|\r|\n")
_HEAD = re.compile(r"(?P<indent>[ \t\f]*)(?:(?:async[ \t]+)?def|class)[ \t]+(?P<name>\w+)")
_CLOSERS = re.compile(r"[ \t\f]*[)\]}]")
_LONGEST_QUOTE = 40


@dataclass(frozen=True)
class Edit:
    """The bytes from `start` to `end` of a source become `new`."""

    kind: str
    start: int
    end: int
    old: str
    new: str
    node: ast.AST
    """Where it happens, for judging how likely it is."""
    words: str = ""
    """How to describe it where "this becomes that" would not tell."""

    @property
    def what(self) -> str:
        """The edit in one line: "`<` becomes `<=`"."""
        return self.words or f"{quote_code(self.old)} becomes {quote_code(self.new)}"


def quote_code(text: str) -> str:
    """Code inside a sentence: on one line, and short."""
    return f"`{one_line(text, _LONGEST_QUOTE)}`"


class SourceText:
    """The text of a module as bytes, and the span of bytes that each node of its tree fills."""

    def __init__(self, text: str) -> None:
        self.module = text
        self.data = text.encode()
        self._lines = [0, *(found.end() for found in re.finditer(_LINE_END.pattern.encode(), self.data))]

    def start(self, node: ast.AST) -> int:
        """The byte at which a node begins."""
        return self._lines[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined, no-any-return]

    def end(self, node: ast.AST) -> int:
        """The byte after a node."""
        return self._lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined, no-any-return]

    def line_at(self, byte: int) -> int:
        """The number of the line that a byte is in, from 1."""
        return bisect_right(self._lines, byte)

    def line_start(self, byte: int) -> int:
        """The first byte of the line that a byte is in."""
        return self._lines[self.line_at(byte) - 1]

    def line_end(self, byte: int) -> int:
        """The first byte of the next line, or the end of the module."""
        line = self.line_at(byte)
        return self._lines[line] if line < len(self._lines) else len(self.data)

    def between(self, start: int, end: int) -> str:
        """The text of a span."""
        return self.data[start:end].decode()

    def text(self, node: ast.AST) -> str:
        """A node as written, without parentheses around it."""
        return self.between(self.start(node), self.end(node))

    def apply(self, edit: Edit) -> str:
        """The whole module after an edit."""
        return (self.data[: edit.start] + edit.new.encode() + self.data[edit.end :]).decode()


def split_lines(text: str) -> list[str]:
    """Lines with their ends, as Python counts them; `str.splitlines` also breaks at form feeds and separators."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def line_span(node: ast.stmt) -> tuple[int, int]:
    """First line (from 0) and the line after the last, decorators included."""
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]) - 1
    return first, node.end_lineno or node.lineno


def source_of(text: str, node: ast.stmt) -> str:
    """A statement as written, in whole lines, with its decorators."""
    first, last = line_span(node)
    return "".join(split_lines(text)[first:last])


def line_end_of(text: str) -> str:
    """How lines end in a text; its first line decides."""
    match = _LINE_END.search(text)
    return match[0] if match else "\n"


def with_line_ends(text: str, end: str) -> str:
    """The text with these line ends."""
    return _LINE_END.sub(lambda _: end, text)


def find_definition(module: ast.AST | None, name: str) -> Definition | None:
    """The definition of "total" or "Cart.total" that counts when the module is run: the last of its name.

    Of a property it is the one that reads.
    """
    found = module
    for part in name.split(".") if name else []:
        if found is None or isinstance(found, FUNCTIONS):
            return None
        named = [child for child in _members(found) if child.name == part]
        decorators = [[ast.unparse(item).rsplit(".", 1)[-1] for item in child.decorator_list] for child in named]
        readers = [child for child, names in zip(named, decorators, strict=True) if "property" in " ".join(names)]
        found = next(reversed(readers or named), None)
    return found if isinstance(found, DEFINITIONS) else None


def _members(node: ast.AST) -> Iterator[Definition]:
    """What a module or a class defines, in branches and `try` blocks too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITIONS):
            yield child
        elif isinstance(child, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            yield from _members(child)


def all_functions(module: ast.Module) -> dict[str, Definition]:
    """Every function and method by its dotted name, in the order of the text; those inside functions are left out."""
    found = ((name, find_definition(module, name)) for name, _ in list_functions(module))
    return {name: node for name, node in found if node is not None}


def list_functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Every definition of a function or method with its dotted name; several may share one."""
    for child in _members(node):
        if isinstance(child, ast.ClassDef):
            yield from list_functions(child, f"{prefix}{child.name}.")
        else:
            yield f"{prefix}{child.name}", child


def find_bound_names(node: ast.stmt) -> set[str]:
    """The names that a top-level statement gives to its module; what is bound within a function, class, lambda or
    comprehension stays there.
    """
    found: set[str] = set()
    parts: list[ast.AST] = [node]
    for part in parts:  # grows on the way: a tree may be deeper than Python's stack
        match part:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(part.name)
            case ast.Import() | ast.ImportFrom():
                found |= {alias.asname or alias.name.split(".")[0] for alias in part.names}
            case ast.Name(ctx=ast.Store()):
                found.add(part.id)
            case ast.comprehension():
                parts += [part.iter, *part.ifs]
            case ast.Lambda():
                continue
            case _:
                parts += ast.iter_child_nodes(part)
    return found


def find_local_names(node: ast.AST) -> set[str]:
    """The names that a piece of code assigns to, and its parameters."""
    stored = [part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    return {part.id for part in stored} | {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}


def find_docstring(node: ast.AST) -> ast.Constant | None:
    """The docstring of a function or class, as the node in which it is written."""
    if isinstance(node, DEFINITIONS):
        match node.body[0]:
            case ast.Expr(value=ast.Constant(value=str()) as text):
                return text
    return None


def guess_names(text: str) -> list[str]:
    """Dotted names of what a text that does not parse seems to define, by its lines alone."""
    return [name for name, _, _ in _guess_definitions(split_lines(text))]


def guess_line_span(text: str, name: str) -> tuple[int, int] | None:
    """The lines that a definition seems to take in a text that does not parse; None when it cannot be told."""
    found = [(first, last) for known, first, last in _guess_definitions(split_lines(text)) if known == name]
    return found[-1] if found else None


def _guess_definitions(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Name, first line and the line after the last; blank lines and comments at the end belong to nobody."""
    outer: list[tuple[int, str]] = []
    for place, line in enumerate(lines):
        match = _HEAD.match(line)
        if not match:
            continue
        depth = _depth(line)
        outer = [*((indent, name) for indent, name in outer if indent < depth), (depth, match["name"])]
        first = place
        while first and lines[first - 1].lstrip().startswith("@") and _depth(lines[first - 1]) == depth:
            first -= 1
        last = place + 1
        for number in range(place + 1, len(lines)):
            line = lines[number]
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            if _depth(line) <= depth and not _CLOSERS.match(line):
                break
            last = number + 1
        yield ".".join(name for _, name in outer), first, last


def _depth(line: str) -> int:
    """How far a line is indented; a tab reaches to the next multiple of eight, as it does for Python."""
    head = line[: len(line) - len(line.lstrip(" \t\f"))].replace("\f", "")
    return len(head.expandtabs(8))


def indent_of(line: str) -> str:
    """The blanks a line begins with."""
    bare = line.lstrip("\f")
    return bare[: len(bare) - len(bare.lstrip(" \t"))]


def indent_unit(lines: list[str], node: Definition) -> str:
    """What the body is indented with, beyond its definition; "" where it stands on the same line."""
    outer, inner = indent_of(lines[node.lineno - 1]), indent_of(lines[node.body[0].lineno - 1])
    same = node.body[0].lineno == node.lineno
    return inner[len(outer) :] if not same and inner.startswith(outer) else ""


def shift_line(line: str, old: str, new: str) -> str:
    """A line with another margin; one that is blank or does not begin with the old one stays as it is."""
    return new + line[len(old) :] if line.startswith(old) and line.strip() else line


def reindent(lines: list[str], node: Definition, indent: str, unit: str) -> str:
    """The definition, taken from the lines of its module, with another indentation; no line end after its last line.

    `unit` is what one more level looks like at its new place; it is taken over where the text is regular enough.
    """
    first, last = line_span(node)
    old, own = indent_of(lines[first]), indent_unit(lines, node)
    docstrings: dict[int, int] = {}
    strings: set[int] = set()
    for part in ast.walk(node):
        if doc := find_docstring(part):
            docstrings |= dict.fromkeys(range(doc.lineno, doc.end_lineno or doc.lineno), doc.lineno - 1)
        elif isinstance(part, ast.JoinedStr) or isinstance(getattr(part, "value", None), str | bytes):
            strings.update(range(part.lineno, part.end_lineno))  # type: ignore[attr-defined]
    made: list[str] = []
    for number in range(first, last):
        line = lines[number].rstrip("\r\n")
        if number in docstrings:  # it moves as far as its first line did, and keeps its own shape
            begin = docstrings[number]
            line = shift_line(line, indent_of(lines[begin]), indent_of(made[begin - first]))
        elif number not in strings:
            line = _reindent_line(line, old, indent, own, unit)
        made.append(line)
    return "\n".join(made)


def _reindent_line(line: str, old: str, new: str, own: str, unit: str) -> str:
    if not line.strip():
        return line if old == new else ""
    bare = line.lstrip("\f")
    if not bare.startswith(old):
        return new + bare.lstrip(" \t")
    rest = bare[len(old) :]
    inner = indent_of(rest)
    if own and unit and own != unit and inner and inner == own * (len(inner) // len(own)):
        rest = unit * (len(inner) // len(own)) + rest[len(inner) :]
    return new + rest
