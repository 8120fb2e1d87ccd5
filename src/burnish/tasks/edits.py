"""Small ways to break code, each at one node of a syntax tree. The kinds are named as HumanEvalPack names its bugs.

An edit changes the node it is given. Whether the result is a bug is not decided here: only running it tells.
"""

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from burnish.parsing import parse_expression

Change = Callable[[ast.AST], None]


class Edit(NamedTuple):
    """One way to change one node: the kind of bug it makes, and the change itself."""

    bug: str
    change: Change


COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
COMPUTED: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.Pow),
    ast.Div: (ast.FloorDiv, ast.Mult),
    ast.FloorDiv: (ast.Div, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitAnd, ast.BitOr),
}
CONFUSED = (
    "min max|any all|upper lower|startswith endswith|lstrip rstrip|floor ceil|sin cos|find rfind|isdigit isalpha|"
    "isupper islower|match search|union intersection|keys values|sum len|nlargest nsmallest|append extend|set list|"
    "combinations permutations|int round|abs int|sorted list|heappush heappop|bisect_left bisect_right|"
    "remove discard|index count|join split|capitalize title|degrees radians|search fullmatch|divmod pow|zip product"
)
"""Functions that people take for one another."""
TWINS: dict[str, list[str]] = {}
for _pair in CONFUSED.split("|"):
    _one, _other = _pair.split()
    TWINS.setdefault(_one, []).append(_other)
    TWINS.setdefault(_other, []).append(_one)
WRAPPERS = {"abs", "set", "sorted", "list", "int", "str", "float", "round", "tuple", "sum", "reversed"}


def edits_of(node: ast.AST, variables: list[str]) -> Iterator[Edit]:
    """Every edit that fits a node; `variables` are the names that could be taken for one another."""
    yield from _operators(node)
    yield from _values(node)
    yield from _variables(node, variables)
    yield from _functions(node)
    yield from _missing(node)
    yield from _excess(node)


def _operators(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for other in COMPARED[type(operator)]:
                yield Edit("operator misuse", _set_item("ops", place, other()))
    if isinstance(node, ast.BinOp | ast.AugAssign):
        for changed in COMPUTED.get(type(node.op), ()):
            yield Edit("operator misuse", _set("op", changed()))
    if isinstance(node, ast.BoolOp):
        yield Edit("operator misuse", _set("op", ast.Or() if isinstance(node.op, ast.And) else ast.And()))


def _values(node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield Edit("value misuse", _set("value", not value))
    elif isinstance(value, int | float):
        yield Edit("value misuse", _set("value", value + 1))
        if value >= 1:
            yield Edit("value misuse", _set("value", value - 1))
    elif isinstance(value, str):
        for other in (value[:-1], value[1:]) if value else (" ",):
            yield Edit("value misuse", _set("value", other))


def _variables(node: ast.AST, variables: list[str]) -> Iterator[Edit]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in variables:
        for other in variables:
            if other != node.id:
                yield Edit("variable misuse", _set("id", other))


def _functions(node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Call):
        return
    field, name = ("attr", node.func.attr) if isinstance(node.func, ast.Attribute) else ("id", _called(node))
    for twin in TWINS.get(name, []):
        yield Edit("function misuse", _on("func", _set(field, twin)))
    if name in ("sorted", "sort"):
        others = [word for word in node.keywords if word.arg != "reverse"]
        flipped = [] if len(others) < len(node.keywords) else [ast.keyword("reverse", ast.Constant(True))]
        yield Edit("function misuse", _set("keywords", [*others, *flipped]))


def _missing(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield Edit("missing logic", _become(node.operand))
    if isinstance(node, ast.Call) and _called(node) in WRAPPERS and len(node.args) == 1:
        yield Edit("missing logic", _become(node.args[0]))
    if isinstance(node, ast.BoolOp):
        for place in range(len(node.values)):
            rest = node.values[:place] + node.values[place + 1 :]
            yield Edit("missing logic", _become(rest[0]) if len(rest) == 1 else _set("values", rest))
    if isinstance(node, ast.BinOp):
        yield Edit("missing logic", _become(node.left))
    if isinstance(node, ast.Slice):
        for part in ("lower", "upper", "step"):
            yield Edit("missing logic", _set(part, None))
    if isinstance(node, ast.If) and node.orelse:
        yield Edit("missing logic", _set("orelse", []))
    for field in ("body", "orelse"):
        yield from _drops(node, field)


def _drops(node: ast.AST, field: str) -> Iterator[Edit]:
    """Each statement of a block left out; the last return of a function stays, without it nothing is asked of it."""
    block = getattr(node, field, None)
    if not isinstance(block, list):
        return
    for place, statement in enumerate(block):
        is_last_return = isinstance(statement, ast.Return) and isinstance(node, ast.FunctionDef)
        if not is_last_return and not isinstance(statement, ast.FunctionDef | ast.Import | ast.ImportFrom | ast.Pass):
            rest = block[:place] + block[place + 1 :]
            yield Edit("missing logic", _set(field, rest or [ast.Pass()]))


def _excess(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.Call) and _called(node) in ("range", "len"):
        for step in (ast.Sub(), ast.Add()):
            more = _shifted(
                node if _called(node) == "len" else node.args[-1] if len(node.args) < 3 else node.args[1], step
            )
            place = min(len(node.args), 2) - 1
            yield Edit("excess logic", _become(more) if _called(node) == "len" else _set_item("args", place, more))
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield Edit("excess logic", _set("test", ast.UnaryOp(ast.Not(), node.test)))
    if isinstance(node, ast.For):
        yield Edit("excess logic", _set("body", [*node.body, ast.Break()]))
        yield Edit("excess logic", _set("iter", _sliced(node.iter)))
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Compare | ast.BoolOp):
        yield Edit("excess logic", _set("value", ast.UnaryOp(ast.Not(), node.value)))
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.BinOp | ast.Call):
        yield Edit("excess logic", _set("value", _shifted(node.value, ast.Add())))


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _shifted(node: ast.expr, step: ast.operator) -> ast.expr:
    return ast.BinOp(node, step, ast.Constant(1))


def _sliced(node: ast.expr) -> ast.expr:
    return ast.Subscript(node, ast.Slice(ast.Constant(1), None, None), ast.Load())


def _set(field: str, value: object) -> Change:
    return lambda node: setattr(node, field, value)


def _set_item(field: str, place: int, value: object) -> Change:
    return lambda node: getattr(node, field).__setitem__(place, value)


def _on(field: str, change: Change) -> Change:
    return lambda node: change(getattr(node, field))


def _become(other: ast.expr) -> Change:
    """Put another expression in the place of a node, which keeps its identity."""

    def change(node: ast.AST) -> None:
        replacement = parse_expression(ast.unparse(other))
        node.__class__ = replacement.__class__
        node.__dict__.clear()
        node.__dict__.update(replacement.__dict__)

    return change
