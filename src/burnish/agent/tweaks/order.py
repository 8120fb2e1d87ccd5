"""Which edit is tried first: how often a kind mends a bug, shared among the edits of that kind, and where they sit."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit

LIKELY = {
    10: "comparison, number, variable",
    6: "arithmetic, less",
    5: "returned, bound, twin, unread",
    4: "sides, delete, level, not, logic, augmented, range, shift, unwrap",
    3: "flag, value, borrowed, wrap, slice, keyword, open, attribute, missing return",
    2: "text, sign, argument, reversed, target, exchange, gathered, growth",
    1: "guard, added, gathering, joined, helper, part, method, regrouped, unlike, far shift, far wrap",
    0.5: "odd keyword",
}
"""How often an edit of each kind mends a bug, roughly: only the ratios matter."""
KINDS = {kind: weight for weight, kinds in LIKELY.items() for kind in kinds.split(", ")}
PLACES = {"condition": 1.25, "return": 1.25, "bound": 1.1, "loop": 1.0, "call": 1.0, "other": 0.9}
FOR_UNREAD = 4.0
"""How much likelier a swap is when it reads what nothing read before."""
DEPTH = 0.5
"""How much of the share of a kind is spread evenly over its edits; the rest goes to the first ones."""


def ordered(code: Code, edits: Iterable[Edit]) -> list[Edit]:
    """The edits, likeliest first."""
    found = [(PLACES[place_of(code, edit.node)], edit) for edit in edits]
    count = Counter(edit.kind for _, edit in found)
    met: Counter[str] = Counter()
    scored = []
    for place, edit in sorted(found, key=lambda one: -one[0]):
        share = KINDS[edit.kind] / (count[edit.kind] ** DEPTH * (met[edit.kind] + 1) ** (1 - DEPTH))
        hint = FOR_UNREAD if edit.new in code.unread and edit.kind != "target" else 1
        scored.append((share * hint * place, edit))
        met[edit.kind] += 1
    return [edit for _, edit in sorted(scored, key=lambda one: -one[0])]


def place_of(code: Code, node: ast.AST) -> str:
    """What an edit touches: a condition, a result, where something begins or ends."""
    for parent, field in _above(code, node):
        match parent:
            case ast.Return():
                return "return"
            case ast.If() | ast.While() | ast.IfExp() | ast.comprehension() if field in ("test", "ifs"):
                return "condition"
            case ast.Subscript() if field == "slice":
                return "bound"
            case ast.For() | ast.comprehension() if field == "iter":
                return "loop"
            case ast.Call():
                return "call"
    return "return" if isinstance(node, ast.Return) else "other"


def _above(code: Code, node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    while node in code.parents and not isinstance(node, ast.stmt):
        parent, field = code.parents[node]
        yield parent, field
        node = parent
