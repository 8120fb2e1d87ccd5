"""Other operators, other sides, one side less; `not` and minus put in front or taken away."""

import ast
import re
from collections.abc import Iterator

from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit
from burnish.agent.tweaks.levels import ATOM, BINARY, COMPARED, NOT, PRODUCT, SIGN, level_of

COMPARISON = re.compile(r"not\s+in\b|is\s+not\b|in\b|is\b|<=|>=|==|!=|<|>")
COMPARISONS = {
    "<": ("<=", ">", ">=", "==", "!="),
    "<=": ("<", ">=", ">", "=="),
    ">": (">=", "<", "<=", "==", "!="),
    ">=": (">", "<=", "<", "=="),
    "==": ("!=", "<=", ">=", "in", ">", "<"),
    "!=": ("==", "<", ">", "not in"),
    "in": ("not in", "=="),
    "not in": ("in", "!="),
    "is": ("is not", "=="),
    "is not": ("is", "!="),
}
ARITHMETIC = {
    "+": ("-", "*", "%", "//"),
    "-": ("+", "*", "//", "%"),
    "*": ("+", "**", "/", "//", "-", "%"),
    "/": ("//", "*", "%", "-"),
    "//": ("/", "%", "*", "-"),
    "%": ("//", "/", "*", "-"),
    "**": ("*", "//"),
    "&": ("|", "^", "-"),
    "|": ("&", "^"),
    "^": ("&", "|", "**"),
    "<<": (">>",),
    ">>": ("<<",),
}
AUGMENTED = {**ARITHMETIC, "+": ("-", "*", "", "|"), "-": ("+", "", "//"), "*": ("+", "**", "", "//")}
SIGNS: dict[str, type[ast.operator]] = {
    **{"+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow},
    **{"&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor, "<<": ast.LShift, ">>": ast.RShift},
}
SIGN_OF = {kind: sign for sign, kind in SIGNS.items()}
ORDERED = ("-", "/", "//", "%", "**", "+", "<<", ">>")
"""Signs whose two sides matter; of sums only those of texts and lists."""


def operators(code: Code) -> Iterator[Edit]:
    """Every edit of an operator."""
    for node in code.nodes:
        match node:
            case ast.Compare():
                yield from _compared(code, node)
            case ast.BinOp():
                yield from _computed(code, node)
            case ast.BoolOp():
                yield from _joined(code, node)
            case ast.AugAssign():
                yield from _augmented(code, node)
            case ast.Assign():
                yield from _gathered(code, node)
            case ast.UnaryOp():
                yield code.instead("sign", node, code.text(node.operand), level_of(node.operand))
        if isinstance(node, ast.expr):
            yield from _turned(code, node)


def _compared(code: Code, node: ast.Compare) -> Iterator[Edit]:
    sides = [node.left, *node.comparators]
    for left, right in zip(sides, sides[1:], strict=False):
        gap = code.between(code.end(left), code.start(right))
        found = COMPARISON.search(gap)
        if found is None or "#" in gap:
            continue
        start = code.end(left) + len(gap[: found.start()].encode())
        for new in COMPARISONS[" ".join(found[0].split())]:
            yield code.span("comparison", node, start, start + len(found[0]), new)
        if len(sides) == 2 and found[0].endswith("in"):
            swapped = f"{code.operand(right, COMPARED + 1)} {found[0]} {code.operand(left, COMPARED + 1)}"
            yield code.instead("sides", node, swapped, COMPARED)
    if len(sides) > 2:
        yield code.span("less", node, code.end(sides[-2]), code.end(node), "")
        yield code.span("less", node, code.start(node), code.start(sides[1]), "")


def _computed(code: Code, node: ast.BinOp) -> Iterator[Edit]:
    sign = SIGN_OF.get(type(node.op))
    if sign is None:
        return
    for new in ARITHMETIC[sign]:
        yield from _with_sign(code, node, sign, new)
    level = level_of(node)
    if sign in ORDERED and not (sign == "+" and code.shape(node) == "number"):
        yield _swapped(code, node, sign, level)
    yield code.instead("less", node, code.text(node.left), level_of(node.left))
    yield code.instead("less", node, code.text(node.right), level_of(node.right))


def _swapped(code: Code, node: ast.BinOp, sign: str, level: int) -> Edit:
    swapped = f"{code.operand(node.right, level)} {sign} {code.operand(node.left, level + 1)}"
    return code.instead("sides", node, swapped, level)


def _with_sign(code: Code, node: ast.BinOp, sign: str, new: str) -> Iterator[Edit]:
    """Another sign: once with the same two sides, and once as a slip of the pen, which may group things anew."""
    start, end = code.end(node.left), code.start(node.right)
    gap = code.between(start, end)
    at = gap.find(sign)
    if at < 0 or "#" in gap:
        return
    slip = code.span("arithmetic", node, start + at, start + at + len(sign), new)
    level = BINARY.get(SIGNS[new], PRODUCT)
    if level == level_of(node):
        yield slip
        return
    grouped = f"{code.operand(node.left, level)} {new} {code.operand(node.right, level + 1)}"
    whole = code.instead("arithmetic", node, grouped, level)
    yield whole
    if code.with_edit(slip).replace(" ", "") != code.with_edit(whole).replace(" ", ""):
        yield code.span("regrouped", node, slip.start, slip.end, new)


def _joined(code: Code, node: ast.BoolOp) -> Iterator[Edit]:
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    level = level_of(node)
    other = 3 - level
    yield code.instead("logic", node, f" {new} ".join(code.operand(one, other + 1) for one in node.values), other)
    for place, value in enumerate(node.values):
        rest = [code.operand(one, level + 1) for one in node.values if one is not value]
        yield code.instead("less", node, f" {old} ".join(rest), level if len(rest) > 1 else _level(code, node, place))
    for left, right in zip(node.values, node.values[1:], strict=False):
        gap = code.between(code.end(left), code.start(right))
        if gap.strip("() \n\\") == old:
            start = code.end(left) + gap.index(old)
            yield code.span("regrouped", node, start, start + len(old), new)


def _level(code: Code, node: ast.BoolOp, dropped: int) -> int:
    return level_of(node.values[1 - dropped])


def _augmented(code: Code, node: ast.AugAssign) -> Iterator[Edit]:
    sign = SIGN_OF.get(type(node.op), "")
    gap = code.between(code.end(node.target), code.start(node.value))
    if f"{sign}=" not in gap or not sign:
        return
    start = code.end(node.target) + gap.index(f"{sign}=")
    for new in AUGMENTED[sign]:
        yield code.span("augmented", node, start, start + len(sign) + 1, f"{new}=")


def _gathered(code: Code, node: ast.Assign) -> Iterator[Edit]:
    """A plain assignment that should have added to what was there."""
    if len(node.targets) != 1 or isinstance(node.targets[0], ast.Tuple | ast.List):
        return
    gap = code.between(code.end(node.targets[0]), code.start(node.value))
    if gap.strip("( ") == "=":
        start = code.end(node.targets[0]) + gap.index("=")
        for new in ("+=", "*=", "-="):
            yield code.span("gathered", node, start, start + 1, new)


def _turned(code: Code, node: ast.expr) -> Iterator[Edit]:
    """`not` or a minus in front."""
    parent, field = code.parent(node)
    decides = field in ("test", "ifs") or isinstance(parent, ast.BoolOp)
    answers = isinstance(parent, ast.Return | ast.Lambda) and field in ("value", "body")
    if decides and not isinstance(node, ast.UnaryOp):
        yield code.instead("not", node, f"not {code.operand(node, NOT)}", NOT)
    if answers and isinstance(node, ast.Name | ast.Call | ast.BoolOp | ast.Compare | ast.Subscript):
        yield code.instead("not", node, f"not {code.operand(node, NOT)}", NOT)
    given = isinstance(parent, ast.Call) and field == "args"
    numeric = isinstance(node, ast.Name | ast.BinOp | ast.Subscript) or (answers and isinstance(node, ast.Call))
    if (answers or given or isinstance(parent, ast.BinOp)) and numeric and not isinstance(node, ast.UnaryOp):
        yield code.instead("sign", node, f"-{code.operand(node, SIGN if level_of(node) == ATOM else ATOM)}", SIGN)
