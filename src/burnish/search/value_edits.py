"""Edits of what a value is made of: other operators and sides, other constants, other names."""

import ast
import re
from collections.abc import Iterator

from burnish.search.editable import ATOM, COMPARED, LEVELS, NOT, SIGN, EditableFunction, Rules, level_of
from burnish.tasks.source import Edit

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
MOST_BORROWED = 6
"""Constants of the function that are tried in the place of another; a table of hundreds would drown the rest."""
MOST_NAMES = 12
"""Names that are tried in the place of one; where there are more, those that are bound nearest."""


def edit_assignment(code: EditableFunction, node: ast.Assign | ast.AugAssign) -> Iterator[Edit]:
    """`-=` for `+=`, a plain assignment, or one that adds to what was there."""
    target: ast.expr
    if isinstance(node, ast.AugAssign):
        sign, target, kind = SIGN_OF.get(type(node.op), ""), node.target, "augmented"
        others = AUGMENTED.get(sign, ())
    else:
        sign, target, kind = "", node.targets[0], "gathered"
        gap = code.between(code.end(target), code.start(node.value)).strip("( ")
        is_plain = gap == "=" and not isinstance(target, ast.Tuple | ast.List)
        others = ("+", "*", "-") if len(node.targets) == 1 and is_plain else ()
    span = _sign_span(code, target, node.value, f"{sign}=")
    yield from (code.edit(kind, node, span, f"{new}=") for new in others if span)


def drop_sign(code: EditableFunction, node: ast.UnaryOp) -> Iterator[Edit]:
    """Without the minus or the `not`."""
    yield code.replace("sign", node, code.text(node.operand), level_of(node.operand))


def _sign_span(code: EditableFunction, left: ast.expr, right: ast.expr, sign: str) -> tuple[int, int] | None:
    """Where a sign stands between two expressions; None where it is not found."""
    start = code.end(left)
    at = code.between(start, code.start(right)).find(sign)
    return (start + at, start + at + len(sign)) if at >= 0 else None


def edit_comparison(code: EditableFunction, node: ast.Compare) -> Iterator[Edit]:
    """Another comparison; with `in` the other way round; of a chain one side less."""
    sides = [node.left, *node.comparators]
    for left, right in zip(sides, sides[1:], strict=False):
        gap = code.between(code.end(left), code.start(right))
        found = COMPARISON.search(gap)
        if found is None or "#" in gap:
            continue
        start = code.end(left) + len(gap[: found.start()].encode())
        for new in COMPARISONS[" ".join(found[0].split())]:
            yield code.edit("comparison", node, (start, start + len(found[0])), new)
        if len(sides) == 2 and found[0].endswith("in"):
            swapped = f"{code.operand(right, COMPARED + 1)} {found[0]} {code.operand(left, COMPARED + 1)}"
            yield code.replace("sides", node, swapped, COMPARED)
    if len(sides) > 2:
        yield code.edit("less", node, (code.end(sides[-2]), code.end(node)), "")
        yield code.edit("less", node, (code.start(node), code.start(sides[1])), "")


def edit_arithmetic(code: EditableFunction, node: ast.BinOp) -> Iterator[Edit]:
    """Another sign, the sides exchanged, or one side alone.

    Another sign comes once with the same two sides, and once as a slip of the pen, which may group things anew.
    """
    sign = SIGN_OF.get(type(node.op), "")
    span = _sign_span(code, node.left, node.right, sign)
    is_clear = "#" not in code.between(code.end(node.left), code.start(node.right))
    for new in ARITHMETIC.get(sign, ()) if is_clear else ():
        if span is None:
            break
        level = LEVELS[SIGNS[new]]
        slip = code.edit("arithmetic", node, span, new)
        grouped = f"{code.operand(node.left, level)} {new} {code.operand(node.right, level + 1)}"
        whole = code.replace("arithmetic", node, grouped, level)
        yield slip if level == level_of(node) else whole
        if level != level_of(node) and code.apply(slip).replace(" ", "") != code.apply(whole).replace(" ", ""):
            yield code.edit("regrouped", node, span, new)
    level = level_of(node)
    if sign in ORDERED and not (sign == "+" and code.value_kind(node) == "number"):
        swapped = f"{code.operand(node.right, level)} {sign} {code.operand(node.left, level + 1)}"
        yield code.replace("sides", node, swapped, level)
    yield from (code.replace("less", node, code.text(one), level_of(one)) for one in (node.left, node.right) if sign)


def edit_logic(code: EditableFunction, node: ast.BoolOp) -> Iterator[Edit]:
    """`or` for `and`, one condition less, or the same words grouped in another way."""
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    level = level_of(node)
    other = 3 - level
    yield code.replace("logic", node, f" {new} ".join(code.operand(one, other + 1) for one in node.values), other)
    for value in node.values:
        rest = [one for one in node.values if one is not value]
        words = f" {old} ".join(code.operand(one, level + 1) for one in rest)
        yield code.replace("less", node, words, level if len(rest) > 1 else level_of(rest[0]))
    for left, right in zip(node.values, node.values[1:], strict=False):
        gap = code.between(code.end(left), code.start(right))
        if gap.strip("() \n\\") == old:
            start = code.end(left) + gap.index(old)
            yield code.edit("regrouped", node, (start, start + len(old)), new)


def negate(code: EditableFunction, node: ast.expr) -> Iterator[Edit]:
    """`not` or a minus in front."""
    parent, field = code.parent(node)
    decides = field in ("test", "ifs") or isinstance(parent, ast.BoolOp)
    answers = isinstance(parent, ast.Return | ast.Lambda) and field in ("value", "body")
    is_truth = isinstance(node, ast.Name | ast.Call | ast.BoolOp | ast.Compare | ast.Subscript)
    if (decides and not isinstance(node, ast.UnaryOp)) or (answers and is_truth):
        yield code.replace("not", node, f"not {code.operand(node, NOT)}", NOT)
    given = isinstance(parent, ast.Call) and field == "args"
    numeric = isinstance(node, ast.Name | ast.BinOp | ast.Subscript) or (answers and isinstance(node, ast.Call))
    if (answers or given or isinstance(parent, ast.BinOp)) and numeric:
        yield code.replace("sign", node, f"-{code.operand(node, SIGN if level_of(node) == ATOM else ATOM)}", SIGN)


def edit_constant(code: EditableFunction, node: ast.Constant) -> Iterator[Edit]:
    """The other truth, another text, a number next door or far away; or another constant that the function uses."""
    match node.value:
        case bool():
            yield code.replace("flag", node, str(not node.value))
        case str() as value if not isinstance(code.parent(node)[0], ast.Expr):
            others = ["" if value else " ", value.strip() if value else " ", value.swapcase(), value[1:], value[:-1]]
            others = [new for new in others if new != value]
            others += [value + " ", " " + value] if len(value) <= 2 and value != " " else []
            yield from (code.replace("text", node, repr(new)) for new in others)
        case None:
            yield from (code.replace("value", node, new) for new in ("0", "False", "[]", '""', "True"))
        case int() | float() as value:
            far = (0, 1, 2, 10) if isinstance(value, int) else (0.0, 1.0, value * 2, value / 2, int(value))
            if isinstance(value, int) and value > 1:
                far = (*far, value * 2, value // 2, value * 10)
            near, distant = (
                [str(round(new, 12) if isinstance(new, float) else new) for new in numbers]
                for numbers in ((value + 1, value - 1), far)
            )
            near += [f"-{code.text(node)}"] if value else []
            yield from (code.replace("number", node, new, SIGN) for new in near)
            yield from (code.replace("value", node, new, SIGN) for new in distant)
    known = [one for one in code.nodes if isinstance(one, ast.Constant)]
    same = [one for one in known if type(one.value) is type(node.value) and one.value != node.value]
    for written in list(dict.fromkeys(map(code.text, same)))[:MOST_BORROWED]:
        if "\n" not in written:
            yield code.replace("borrowed", node, written)


def edit_empty(code: EditableFunction, node: ast.List | ast.Dict) -> Iterator[Edit]:
    """Something else that is empty."""
    if not code.text(node).strip("[{ }]") and not isinstance(getattr(node, "ctx", None), ast.Store):
        yield from (code.replace("value", node, new) for new in ("[]", "{}", "0", "set()", "None"))


def use_other_name(code: EditableFunction, node: ast.Name) -> Iterator[Edit]:
    """Any variable that is known at that place, in the place of one that is read or set."""
    visible = visible_names(code, node)
    parent, _ = code.parent(node)
    kind = "returned" if isinstance(parent, ast.Return) else "variable"
    kind = kind if isinstance(node.ctx, ast.Load) else "target"
    for name in visible if node.id in visible and not _is_called(code, node) else ():
        if name != node.id:
            kinds = {code.kinds.get(name, ""), code.kinds.get(node.id, "")} - {""}
            yield code.replace(kind if len(kinds) < 2 else "unlike", node, name)
    if isinstance(node.ctx, ast.Load):  # `self.x`, where a plain `x` stands and both are used
        same = [one.value for one in code.nodes if isinstance(one, ast.Attribute) and one.attr == node.id]
        owners = {owner.id for owner in same if isinstance(owner, ast.Name)}
        yield from (code.replace("attribute", node, f"{name}.{node.id}") for name in sorted(owners))


def use_other_attribute(code: EditableFunction, node: ast.Attribute) -> Iterator[Edit]:
    """Another attribute that the function uses in the same way."""
    called = _is_called(code, node)
    known = [one for one in code.nodes if isinstance(one, ast.Attribute)]
    near = sorted(known, key=lambda one: abs(one.lineno - node.lineno))
    same = dict.fromkeys(one.attr for one in near if _is_called(code, one) == called and one.attr != node.attr)
    span = code.end(node) - len(node.attr.encode()), code.end(node)
    yield from (code.edit("attribute", node, span, name) for name in list(same)[:MOST_NAMES])


def return_name(code: EditableFunction, node: ast.Return) -> Iterator[Edit]:
    """A variable returned in the place of an expression."""
    if node.value is not None and not isinstance(node.value, ast.Name):
        yield from (code.replace("returned", node.value, name) for name in visible_names(code, node))


def _is_called(code: EditableFunction, node: ast.AST) -> bool:
    parent, field = code.parent(node)
    return isinstance(parent, ast.Call) and field == "func"


def visible_names(code: EditableFunction, node: ast.AST) -> list[str]:
    """The variables that can be read at a place, the innermost first; of very many only those bound nearest."""
    found: dict[str, None] = dict(code.scopes.get(node, {}))
    for parent, _ in code.ancestors(node):
        found.update(code.scopes.get(parent, {}))
    if len(found) <= MOST_NAMES:
        return list(found)
    here: int = getattr(node, "lineno", 0)
    near = sorted(found, key=lambda name: abs(code.bound_on[name] - here))[:MOST_NAMES]
    own = [node.id] if isinstance(node, ast.Name) and node.id in found else []
    return list(dict.fromkeys([*near, *own]))


OPERATORS: Rules = (
    (ast.Compare, edit_comparison),
    (ast.BinOp, edit_arithmetic),
    (ast.BoolOp, edit_logic),
    ((ast.AugAssign, ast.Assign), edit_assignment),
    (ast.UnaryOp, drop_sign),
    (ast.expr, negate),
)
CONSTANTS: Rules = ((ast.Constant, edit_constant),)
EMPTY: Rules = (((ast.List, ast.Dict), edit_empty),)
NAMES: Rules = ((ast.Name, use_other_name), (ast.Attribute, use_other_attribute), (ast.Return, return_name))
