"""What sort of value an expression has, as far as its own words tell: a guess that saves senseless tries.

"number", "text", "list" (anything to go through that is not text), "flag", or "" where nothing is known.
"""

import ast
from collections.abc import Iterator

FUNCTIONS = {
    "number": "len sum abs int round float ord pow count index find rfind floor ceil sqrt gcd factorial log log2 log10",
    "text": "str chr join upper lower title capitalize strip lstrip rstrip replace format bin hex oct zfill repr",
    "list": "list sorted set tuple dict range split reversed zip enumerate map filter keys values items findall "
    "Counter defaultdict deque combinations permutations product",
    "flag": "any all bool isinstance startswith endswith isdigit isalpha isupper islower isalnum isspace issubset",
}
SHAPE_OF = {name: shape for shape, names in FUNCTIONS.items() for name in names.split()}
LISTS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def shape(node: ast.expr, known: dict[str, str]) -> str:
    """The sort of value of an expression, when the variables have the sorts given."""
    match node:
        case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return "flag"
        case ast.Constant(value=int() | float()) | ast.UnaryOp():
            return "number"
        case ast.Constant(value=str()) | ast.JoinedStr():
            return "text"
        case ast.Name(id=name):
            return known.get(name, "")
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return SHAPE_OF.get(name, "")
        case ast.BinOp():
            return _of_operation(node, known)
        case ast.Subscript(slice=ast.Slice()):
            return shape(node.value, known)
    return "list" if isinstance(node, LISTS) else ""


def _of_operation(node: ast.BinOp, known: dict[str, str]) -> str:
    left, right = shape(node.left, known), shape(node.right, known)
    if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Pow):
        return "number"
    if isinstance(node.op, ast.Mult):
        return next((one for one in (left, right) if one in ("list", "text")), "number" if left and right else "")
    if isinstance(node.op, ast.Mod):
        return "text" if left == "text" else "number"
    return left or right


def shapes_of_names(nodes: list[ast.AST]) -> dict[str, str]:
    """The variables whose every assignment is of one sort."""
    seen: dict[str, set[str]] = {}
    known: dict[str, str] = {}
    for name, value in _assignments(nodes):
        seen.setdefault(name, set()).add(value if isinstance(value, str) else shape(value, known))
        known = {one: next(iter(sorts)) for one, sorts in seen.items() if len(sorts) == 1 and "" not in sorts}
    return known


def _assignments(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr | str]]:
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    for part in ast.walk(target) if isinstance(target, ast.Tuple) else [target]:
                        if isinstance(part, ast.Name):
                            yield part.id, value if part is target else ""
            case (
                ast.For(target=ast.Name(id=name), iter=source)
                | ast.comprehension(target=ast.Name(id=name), iter=source)
            ):
                yield name, "number" if _is_range(source) else ""
            case ast.For(target=target) | ast.comprehension(target=target):
                yield from ((part.id, "") for part in ast.walk(target) if isinstance(part, ast.Name))
            case ast.arg():
                yield node.arg, ""


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
