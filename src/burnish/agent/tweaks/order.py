"""Which edit is tried first: how often a kind mends a bug, shared among the edits of that kind, and where they sit."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit

KINDS = {
    "comparison": 10,
    "variable": 10,
    "number": 8,
    "arithmetic": 6,
    "less": 6,
    "sides": 5,
    "bound": 5,
    "range": 4,
    "returned": 5,
    "delete": 5,
    "level": 5,
    "twin": 5,
    "not": 4,
    "logic": 4,
    "flag": 3,
    "augmented": 4,
    "shift": 4,
    "value": 3,
    "borrowed": 3,
    "text": 2,
    "unwrap": 4,
    "wrap": 3,
    "slice": 3,
    "keyword": 3,
    "sign": 2,
    "open": 3,
    "argument": 2,
    "reversed": 2,
    "missing return": 3,
    "target": 2,
    "unlike": 1,
    "odd keyword": 0.5,
    "attribute": 3,
    "exchange": 2,
    "regrouped": 1,
    "gathered": 2,
    "added": 1,
    "far shift": 1,
    "far wrap": 1,
    "part": 1,
    "method": 1,
    "guard": 1,
    "unread": 5,
    "helper": 1,
    "growth": 2,
    "joined": 1,
    "gathering": 1,
}
"""Of a hundred bugs, about how many are mended by an edit of each kind."""
PLACES = {"condition": 1.5, "return": 1.5, "bound": 1.2, "loop": 1.0, "call": 1.0, "other": 0.9}
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
