"""Functions and classes in a text, by the names people give them: "total", "Cart.total". Also where nothing parses."""

import ast
import re
from collections.abc import Iterator, Sequence

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HEAD = re.compile(r"(?P<indent>[ \t\f]*)(?:(?:async[ \t]+)?def|class)[ \t]+(?P<name>\w+)")
_CLOSERS = re.compile(r"[ \t\f]*[)\]}]")


def find(module: ast.AST | None, name: str) -> Definition | None:
    """The definition that counts when the module is run: the last of its name; of a property, the one that reads."""
    found = module
    for part in name.split(".") if name else []:
        found = _inside(found, part)
    return found if isinstance(found, DEFINITIONS) else None


def all_functions(module: ast.Module) -> dict[str, Definition]:
    """Every function and method by its dotted name, in the order of the text; those inside functions are not told."""
    found: dict[str, Definition] = {}
    for name, _ in _walk(module, ""):
        node = find(module, name)
        if node is not None:
            found[name] = node
    return found


def lines_of(node: ast.stmt) -> tuple[int, int]:
    """First line (from 0) and the line after the last, decorators included."""
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]) - 1
    return first, node.end_lineno or node.lineno


def split(text: str) -> list[str]:
    """Lines with their ends, as Python counts them; `str.splitlines` also breaks at form feeds and separators."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def guessed_names(text: str) -> list[str]:
    """Dotted names of what a text that does not parse seems to define, by its lines alone."""
    return [name for name, _, _ in _guesses(split(text))]


def guessed_lines(text: str, name: str) -> tuple[int, int] | None:
    """The lines that a definition seems to take in a text that does not parse; None when it cannot be told."""
    lines = split(text)
    found = [(first, last) for known, first, last in _guesses(lines) if known == name]
    return found[-1] if found else None


def _inside(node: ast.AST | None, name: str) -> Definition | None:
    if node is None or isinstance(node, FUNCTIONS):
        return None
    named = [child for child in _members(node) if child.name == name]
    readers = [child for child in named if any(_says(item, "property") for item in child.decorator_list)]
    best = readers or named
    return best[-1] if best else None


def _members(node: ast.AST) -> Iterator[Definition]:
    """What a module or a class defines, in branches and `try` blocks too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITIONS):
            yield child
        elif isinstance(child, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            yield from _members(child)


def _walk(node: ast.AST, above: str) -> Iterator[tuple[str, Definition]]:
    for child in _members(node):
        name = f"{above}{child.name}"
        if isinstance(child, ast.ClassDef):
            yield from _walk(child, f"{name}.")
        else:
            yield name, child


def _says(decorator: ast.expr, word: str) -> bool:
    return word in ast.unparse(decorator).rsplit(".", 1)[-1]


def _guesses(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    above: list[tuple[int, str]] = []
    for place, line in enumerate(lines):
        match = _HEAD.match(line)
        if not match:
            continue
        depth = _depth(line)
        above = [(indent, name) for indent, name in above if indent < depth]
        above.append((depth, match["name"]))
        yield ".".join(name for _, name in above), _with_decorators(lines, place, depth), _end(lines, place, depth)


def _with_decorators(lines: Sequence[str], place: int, depth: int) -> int:
    while place and lines[place - 1].lstrip().startswith("@") and _depth(lines[place - 1]) == depth:
        place -= 1
    return place


def _end(lines: Sequence[str], place: int, depth: int) -> int:
    """The line after the last that is indented more; blank lines and comments at the end belong to nobody."""
    end = place + 1
    for number in range(place + 1, len(lines)):
        line = lines[number]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if _depth(line) <= depth and not _CLOSERS.match(line):
            break
        end = number + 1
    return end


def _depth(line: str) -> int:
    head = line[: len(line) - len(line.lstrip(" \t\f"))].replace("\f", "")
    return len(head.expandtabs(8))
