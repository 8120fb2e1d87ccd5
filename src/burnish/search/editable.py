"""One function of a module, ready to be edited: which nodes may change, what surrounds them, what their values are.

Left alone are docstrings, annotations, decorators, and f-strings, whose parts have no true place before Python 3.12.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from burnish.parsing import try_parse
from burnish.tasks.source import Definition, Edit, SourceText, find_definition, find_docstring, shift_line, split_lines

MOST_UNREAD = 3
"""Unread names that are looked at: where there are many, being unread says little."""
LEFT_ALONE = {"annotation", "returns", "decorator_list", "type_params", "ctx"}
LOOPS = (ast.For, ast.AsyncFor, ast.While)

OR, AND, NOT, COMPARED, SUM, PRODUCT, SIGN, POWER, ATOM = 1, 2, 3, 4, 9, 10, 11, 12, 20
"""How tightly expressions hold together; ATOM is what nothing tears apart."""
LEVELS: dict[type, int] = {
    **dict.fromkeys((ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Yield, ast.YieldFrom), 0),
    **dict.fromkeys((ast.Starred, ast.Tuple, ast.Slice), 0),
    **{ast.Or: OR, ast.And: AND, ast.Not: NOT, ast.Compare: COMPARED},
    **{ast.BitOr: 5, ast.BitXor: 6, ast.BitAnd: 7, ast.LShift: 8, ast.RShift: 8, ast.Add: SUM, ast.Sub: SUM},
    **dict.fromkeys((ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult), PRODUCT),
    **{ast.USub: SIGN, ast.UAdd: SIGN, ast.Invert: SIGN, ast.Pow: POWER, ast.Await: ATOM - 1},
}
"""By operator, or by the node itself where it has none; whatever is not here is an ATOM."""

FUNCTIONS_BY_KIND = {
    "number": "len sum abs int round float ord pow count index find rfind floor ceil sqrt gcd factorial log log2 log10",
    "text": "str chr join upper lower title capitalize strip lstrip rstrip replace format bin hex oct zfill repr",
    "list": "list sorted set tuple dict range split reversed zip enumerate map filter keys values items findall "
    "Counter defaultdict deque combinations permutations product",
    "flag": "any all bool isinstance startswith endswith isdigit isalpha isupper islower isalnum isspace issubset",
}
KIND_OF = {name: kind for kind, names in FUNCTIONS_BY_KIND.items() for name in names.split()}
LISTS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class EditableFunction(SourceText):
    """One function (or class) of a module and all that may be edited in it."""

    def __init__(self, module: str, root: Definition, helpers: list[str]) -> None:
        super().__init__(module)
        self.root = root
        self.nodes: list[ast.AST] = []
        """All nodes that may be edited, in the order they are written."""
        self.parents: dict[ast.AST, tuple[ast.AST, str]] = {}
        waiting: list[ast.AST] = [root]
        while waiting:  # a long sum is nested too deep for recursion
            node = waiting.pop()
            self.nodes.append(node)
            children = list(_editable_children(node))
            self.parents.update((child, (node, field)) for field, child in children)
            waiting += (child for _, child in reversed(children))
        self.bound_on: dict[str, int] = {}
        """Parameters and variables, and the line of each."""
        self.scopes: dict[ast.AST, dict[str, None]] = {}
        """The names that each function, lambda and comprehension binds; a name of a class binds nothing inside."""
        for node in self.nodes:
            match node:
                case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                    self.bound_on.setdefault(name, node.lineno)
                    scope = self.scope_of(node)
                    if scope is not None and name not in ("self", "cls", "_"):
                        self.scopes.setdefault(scope, {})[name] = None
        read = {node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        unread = [name for name in self.bound_on if name not in read | {"self", "cls", "_"}]
        self.unread = unread[:MOST_UNREAD]
        """Parameters and variables that nothing reads: somebody meant to use them."""
        self.unread_helpers = [name for name in helpers if name not in read][:MOST_UNREAD]
        """Functions of the module that this one does not use."""
        self.kinds: dict[str, str] = {}
        """Variables whose every assignment is of one known kind."""
        seen: dict[str, set[str]] = defaultdict(set)
        for name, value in _assignments(self.nodes):
            seen[name].add(value if isinstance(value, str) else self.value_kind(value))
            self.kinds = {one: next(iter(kinds)) for one, kinds in seen.items() if len(kinds) == 1 and "" not in kinds}

    def parent(self, node: ast.AST) -> tuple[ast.AST | None, str]:
        """What a node is part of, and as what."""
        return self.parents.get(node, (None, ""))

    def ancestors(self, node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
        """All that a node is part of, and as what, from the inside out."""
        while node in self.parents:
            node, field = self.parents[node]
            yield node, field

    def scope_of(self, node: ast.AST) -> ast.AST | None:
        """Where a name that is bound here is known."""
        inside_target = False
        for parent, field in self.ancestors(node):
            inside_target = inside_target or (isinstance(parent, ast.comprehension) and field == "target")
            if isinstance(parent, SCOPES) or (inside_target and isinstance(parent, COMPREHENSIONS)):
                return parent
        return None

    def value_kind(self, node: ast.expr) -> str:
        """What kind of value an expression has, as far as its own words tell: a guess that saves senseless tries.

        "number", "text", "list" (anything to go through that is not text), "flag", or "" where nothing is known.
        """
        match node:
            case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return "flag"
            case ast.Constant(value=str()) | ast.JoinedStr():
                return "text"
            case ast.Name(id=name):
                return self.kinds.get(name, "")
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                return KIND_OF.get(name, "")
            case (
                ast.Constant(value=int() | float())
                | ast.UnaryOp()
                | ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Pow())
            ):
                return "number"
            case ast.BinOp(op=ast.Mult()):
                sides = self.value_kind(node.left), self.value_kind(node.right)
                repeated = next((one for one in sides if one in ("list", "text")), "")
                return repeated or ("number" if all(sides) else "")
            case ast.BinOp(op=ast.Mod()):
                return "text" if self.value_kind(node.left) == "text" else "number"
            case ast.BinOp():
                return self.value_kind(node.left) or self.value_kind(node.right)
            case ast.Subscript(slice=ast.Slice()):
                return self.value_kind(node.value)
        return "list" if isinstance(node, LISTS) else ""

    def operand(self, node: ast.expr, level: int = ATOM) -> str:
        """A node as written, in parentheses where an operator of this level would tear it apart."""
        return self.text(node) if level_of(node) >= level else f"({self.text(node)})"

    def replace(self, kind: str, node: ast.expr, new: str, level: int = ATOM) -> Edit:
        """The edit that puts an expression of some level in the place of another."""
        parent, field = self.parent(node)
        start, end = self.start(node), self.end(node)
        around = self.data[start - 1 : start] + self.data[end : end + 1]
        shares_parentheses = isinstance(node, ast.GeneratorExp) and parent and self.end(parent) == end
        if shares_parentheses or (around != b"()" and level < level_of_slot(parent, field)):
            new = f"({new})"
        return self.edit(kind, node, (start, end), new)

    def edit(self, kind: str, node: ast.AST, span: tuple[int, int], new: str, words: str = "") -> Edit:
        """The edit of any span; new lines end as the module's lines do."""
        if b"\r\n" in self.data:
            new = re.sub(r"(?<!\r)\n", "\r\n", new)
        return Edit(kind, *span, self.between(*span), new, node, words)

    def still_parses(self, edit: Edit) -> bool:
        """Whether the smallest piece around an edit is still Python: a statement, or its head alone."""
        piece = edit.node
        first = 0 if isinstance(edit.node, ast.expr) else 1  # its first word is the statement itself
        while piece is not self.root:
            if isinstance(piece, ast.stmt) and self.start(piece) + first <= edit.start and edit.end <= self.end(piece):
                break
            piece = self.parents[piece][0]
        start, end = self.start(piece), self.end(piece)
        inner = [*getattr(piece, "body", []), piece][0]
        is_head = edit.end < self.start(inner) and not getattr(inner, "decorator_list", [])
        rest = self.data[edit.end : self.start(inner)] + b"pass" if is_head else self.data[edit.end : end]
        margin = self.between(self.line_start(start), start)
        within = f"if 1:\n{margin}" if margin and not margin.strip() else ""
        start += 2 * self.data.startswith(b"elif", start)
        return try_parse(within + (self.data[start : edit.start] + edit.new.encode() + rest).decode()) is not None

    def blocks(self, node: ast.AST) -> Iterator[list[ast.stmt]]:
        """Every block of a statement that can be edited."""
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            found = [one for one in block if one in self.parents] if isinstance(block, list) else []
            if found:
                yield found

    def whole_lines(self, first: ast.stmt, last: ast.stmt | None = None) -> tuple[int, int] | None:
        """The span of whole lines that statements fill, with the line's end; None when they share a line."""
        top = [*getattr(first, "decorator_list", []), first][0]
        start = self.start(top) - isinstance(top, ast.expr)  # the `@` stands before the decorator
        end = self.end(last or first)
        span = self.line_start(start), self.line_end(end)
        rest = self.between(end, span[1]).strip()
        return None if self.between(span[0], start).strip() or (rest and not rest.startswith("#")) else span

    def margin(self, node: ast.stmt) -> str:
        """The white space before a statement that begins its line."""
        start = self.start(node)
        return self.between(self.line_start(start), start)

    def is_in_loop(self, node: ast.AST) -> bool:
        """Whether `break` may stand here."""
        for parent, field in self.ancestors(node):
            if isinstance(parent, (*SCOPES, ast.ClassDef)):
                return False
            if isinstance(parent, LOOPS) and field == "body":
                return True
        return False

    def is_elif(self, node: ast.AST) -> bool:
        """Whether an `if` is the `elif` of another."""
        return isinstance(node, ast.If) and self.data.startswith(b"elif", self.start(node))


Rules = tuple[tuple[type[ast.AST] | tuple[type[ast.AST], ...], Callable[[EditableFunction, Any], Iterator[Edit]]], ...]
"""A family of edits: for nodes of some types, the function that proposes edits of such a node."""


def read_function(module: str, name: str) -> EditableFunction | None:
    """The function to edit, in its module; None when there is none."""
    tree = try_parse(module)
    found = find_definition(tree, name)
    if tree is None or found is None:
        return None
    helpers = [one.name for one in tree.body if isinstance(one, ast.FunctionDef) and one is not found]
    return EditableFunction(module, found, helpers)


def _editable_children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    docstring = find_docstring(node)
    for field, value in ast.iter_fields(node) if not isinstance(node, ast.JoinedStr) else ():
        for child in value if isinstance(value, list) else [value]:
            is_docstring = docstring is not None and getattr(child, "value", None) is docstring
            if isinstance(child, ast.AST) and field not in LEFT_ALONE and not is_docstring:
                yield field, child


def level_of(node: ast.expr) -> int:
    """How tightly an expression holds together; ATOM for one that nothing tears apart."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return ATOM - 1  # nothing tears it apart, but `1.real` is no Python
    return LEVELS.get(type(getattr(node, "op", node)), ATOM)


def level_of_slot(parent: ast.AST | None, field: str) -> int:
    """How tightly an expression must hold together to stand in a place without parentheses."""
    match parent:
        case ast.BinOp() | ast.BoolOp() | ast.UnaryOp():
            return level_of(parent) + (field in ("right", "values"))
        case ast.Compare() | ast.Starred():
            return COMPARED + 1
        case ast.IfExp() | ast.comprehension():
            return OR
    return ATOM if field in ("value", "func") and isinstance(parent, ast.Attribute | ast.Subscript | ast.Call) else 0


def _assignments(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr | str]]:
    """Each variable with the expression that it is set to, or with the kind of value that it takes."""
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    for part in ast.walk(target) if isinstance(target, ast.Tuple) else [target]:
                        if isinstance(part, ast.Name):
                            yield part.id, value if part is target else ""
            case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
                ranges = isinstance(source, ast.Call) and getattr(source.func, "id", "") == "range"
                kind = "number" if ranges and isinstance(target, ast.Name) else ""
                yield from ((one.id, kind) for one in ast.walk(target) if isinstance(one, ast.Name))
            case ast.arg(arg=name):
                yield name, ""


def shift_lines(text: str, old: str = "", new: str = "") -> str:
    """Whole lines with another margin, and a line's end after the last."""
    changed = "".join(shift_line(line, old, new) for line in split_lines(text))
    return changed if changed.endswith(("\n", "\r")) else changed + "\n"


def has_long_string(nodes: list[ast.stmt]) -> bool:
    """Whether a string runs over several lines: another margin would change what it says."""
    parts = (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Constant | ast.JoinedStr))
    return any(part.lineno != part.end_lineno for part in parts)


def leaves_a_loop(node: ast.AST) -> bool:
    """Whether there is a `break` or `continue` somewhere inside."""
    return any(isinstance(part, ast.Break | ast.Continue) for part in ast.walk(node))
