"""A value put through one more function, or one less; one branch of a conditional value; a filter less."""

import ast
from collections.abc import Iterator

from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit
from burnish.agent.tweaks.levels import level_of

FUNCTIONS = ("len", "sum", "abs", "int", "str", "sorted", "set", "list", "round", "max", "min", "tuple", "float")
METHODS = ("lower()", "strip()", "upper()", "copy()", "items()", "split()")
FITTING = {
    "number": ("abs", "int", "str", "round", "float"),
    "text": ("len", "int", "sorted", "set", "list", "float"),
    "list": ("len", "sum", "sorted", "set", "list", "max", "min", "tuple"),
    "flag": ("int", "str"),
}
"""What makes sense around a value of a known sort."""
UNWRAPPED = {"reversed", "enumerate", "dict", "iter", "next", "any", "all", "ord", "chr", "frozenset", *FUNCTIONS}
UNCHAINED = {"upper", "title", "capitalize", "swapcase", "lstrip", "rstrip", "keys", "values", "casefold", "lower"}
UNCHAINED |= {"strip", "copy", "items", "replace", "sort", "reverse", "split"}


def wraps(code: Code) -> Iterator[Edit]:
    """Every edit that adds or takes a step around a value."""
    for node in code.nodes:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[ast.expr() as inner]) if name in UNWRAPPED:
                if not isinstance(inner, ast.Starred):
                    yield code.instead("unwrap", node, code.text(inner), level_of(inner))
            case ast.Call(func=ast.Attribute(attr=name, value=value)) if name in UNCHAINED:
                yield code.instead("unwrap", node, code.text(value), level_of(value))
            case ast.IfExp():
                yield from _conditional(code, node)
            case ast.comprehension():
                yield from (_unfiltered(code, node, one) for one in node.ifs)
        if isinstance(node, ast.expr):
            yield from _wrapped(code, node)


def _conditional(code: Code, node: ast.IfExp) -> Iterator[Edit]:
    yes, no, test = code.operand(node.body, 1), code.operand(node.orelse, 0), code.operand(node.test, 1)
    yield code.instead("sides", node, f"{no} if {test} else {yes}", 0)
    yield code.instead("less", node, code.text(node.body), level_of(node.body))
    yield code.instead("less", node, code.text(node.orelse), level_of(node.orelse))


def _unfiltered(code: Code, node: ast.comprehension, test: ast.expr) -> Edit:
    start = code.data.rfind(b"if", code.end(node.iter), code.start(test))
    return code.span("less", node.iter, start, code.end(test), "")


def _wrapped(code: Code, node: ast.expr) -> Iterator[Edit]:
    kind = _wrap_kind(code, node)
    if not kind or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    sort = code.shape(node)
    for name in FITTING.get(sort, FUNCTIONS):
        yield code.instead(kind, node, f"{name}({code.text(node)})")
    for method in METHODS if sort in ("", "text") else ():
        yield code.instead("method", node, f"{code.operand(node)}.{method}")


def _wrap_kind(code: Code, node: ast.expr) -> str:
    if isinstance(node, ast.Constant | ast.Compare | ast.BoolOp | ast.Starred | ast.JoinedStr | ast.Lambda):
        return ""
    parent, field = code.parent(node)
    match parent:
        case ast.Return() | ast.Compare() | ast.For() | ast.comprehension() if field != "target":
            return "wrap"
        case ast.Call() if field == "args":
            return "wrap"
        case ast.Assign() | ast.AugAssign() | ast.BinOp() if field != "targets":
            return "far wrap"
    return ""
