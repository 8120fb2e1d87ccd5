"""Examples that do not begin with the call: after "e.g." also `'7' in render(x)`, `not f(3)`, `isinstance(f(2), int)`.

In the middle of a sentence such words may be prose, so they count only where an example is announced or follows one.
"""

import ast
import builtins
import re

from burnish.tasks.examples_pieces import arguments_are_values, expression, longest, own_names_only
from burnish.text import one_line

ANNOUNCED = re.compile(r"(?<!\w)(?:e\.\s?g\.|(?:for|an) (?:example|instance)\b|examples?:)[:,]?\s*`?", re.IGNORECASE)
JOINT = re.compile(r"`?\s*(?:[,;]\s*(?:and\s+)?|and\s+)`?")
_ENDS = re.compile(r"\s*(?:$|\n|\.(?!\w)|[,;:)`—–]|(?:and|as|because|since|while|whereas)\b)")
_QUESTIONS = ("isinstance", "all", "any", "callable", "issubclass")
"""Functions of Python that answer yes or no."""
_LONGEST = 400


def claim_at(text: str, start: int) -> tuple[str, int] | None:
    """The test that an announced expression states, and where it ends."""
    piece = text[start : start + _LONGEST]
    said = longest(piece, lambda begun: _ENDS.match(piece, len(begun)) is not None and _is_claim(begun))
    return (f"assert {_call_first(said)}", start + len(said)) if said else None


def not_understood(text: str, names: set[str]) -> str:
    """What a sentence announces as an example of one of the functions, in short; empty where it announces none."""
    for mark in ANNOUNCED.finditer(text):
        line = text[mark.end() : mark.end() + _LONGEST].split("\n", 1)[0]
        if any(re.search(rf"(?<![\w.]){re.escape(name)}\(", line) for name in names if name):
            return one_line(line.rstrip("` ."), 80)
    return ""


def _is_claim(piece: str) -> bool:
    node = expression(piece)
    if node is None or not (own_names_only(node) and arguments_are_values(node) and _calls_a_stranger(node)):
        return False
    parts = node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else [node]
    return all(_is_yes_or_no(part) for part in parts)


def _is_yes_or_no(node: ast.expr) -> bool:
    """Whether it can only be meant as true or false; a bare call of the function says nothing."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return isinstance(node.operand, ast.Call) or _is_yes_or_no(node.operand)
    if isinstance(node, ast.Compare):
        return not any(isinstance(kind, ast.Is | ast.IsNot) for kind in node.ops) or _compares_with_one(node)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _QUESTIONS


def _compares_with_one(node: ast.Compare) -> bool:
    """Whether every side but the first is None, True or False: of other things `is` is prose."""
    return all(isinstance(side, ast.Constant) and side.value in (None, True, False) for side in node.comparators)


def _calls_a_stranger(node: ast.expr) -> bool:
    """Whether something is called that Python itself does not have."""
    heads = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    return any(isinstance(head, ast.Name) and not hasattr(builtins, head.id) for head in heads)


def _call_first(said: str) -> str:
    """`4 == f(2)` as `f(2) == 4`, the way in which every other example is stated."""
    node = expression(said)
    if not isinstance(node, ast.Compare) or len(node.ops) > 1 or not isinstance(node.ops[0], ast.Eq):
        return said
    left, right = node.left, node.comparators[0]
    turned = isinstance(right, ast.Call) and not any(isinstance(part, ast.Call) for part in ast.walk(left))
    return f"{ast.get_source_segment(said, right)} == {ast.get_source_segment(said, left)}" if turned else said
