"""Bugs to plant: every small change of a function that could make it wrong, in an order that a name decides.

The same task gives the same candidates in the same order on every machine: the order comes from a hash of its name.
"""

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from burnish.parsing import parse
from burnish.tasks.edits import edits_of
from burnish.tasks.syntax import parsed

PLANT_VERSION = 1
"""Raise it when the same task would get another bug."""
SHARES = {
    "value misuse": 44,
    "missing logic": 33,
    "excess logic": 31,
    "operator misuse": 25,
    "variable misuse": 23,
    "function misuse": 8,
}
"""How often each kind of bug should come first: as often as in HumanEvalPack."""
A_TURN = 6
"""Candidates of one kind that are tried before the next kind has its turn."""


Spot = tuple[int, int, str]
"""The node's number, the edit's number at that node, and the kind of bug it makes."""


@dataclass(frozen=True)
class Mutant:
    """A module with one change in its function."""

    code: str
    bug: str


def mutants(code: str, entry_point: str, name: str) -> Iterator[Mutant]:
    """Every distinct mutant of a module, the kinds of bug in turns, in the order that belongs to `name`."""
    tree = parse(code)
    seen = {tidy(code), ""}
    for place, number, bug in _in_turns(_spots(function_of(tree, entry_point)), name):
        text = _changed(tree, entry_point, place, number)
        if text not in seen:
            seen.add(text)
            yield Mutant(text, bug)


def tidy(code: str) -> str:
    """The module as Python itself would write it, so that a planted bug is the only difference."""
    return ast.unparse(parse(code)) + "\n"


def chosen(name: str, of: int) -> int:
    """A number below `of` that belongs to a name."""
    return int(_chance(name, "place") * of)


def _spots(function: ast.FunctionDef) -> list[Spot]:
    """All edits there are."""
    variables = _variables(function)
    nodes = enumerate(ast.walk(function))
    return [(at, number, edit.bug) for at, node in nodes for number, edit in enumerate(edits_of(node, variables))]


def _in_turns(spots: list[Spot], name: str) -> list[Spot]:
    """A few of the first kind, a few of the next, and so on; which kind is first is drawn by the shares."""
    kinds = sorted(SHARES, key=lambda bug: _chance(name, bug) ** (1 / SHARES[bug]), reverse=True)
    turns = []
    for rank, bug in enumerate(kinds):
        own = sorted((spot for spot in spots if spot[2] == bug), key=lambda spot: _chance(name, repr(spot)))
        turns += [((place // A_TURN, rank, place), spot) for place, spot in enumerate(own)]
    return [spot for _, spot in sorted(turns)]


def _changed(tree: ast.Module, entry_point: str, place: int, number: int) -> str:
    """The text of a copy of the module with one edit made in it."""
    changed = copy.deepcopy(tree)
    function = function_of(changed, entry_point)
    variables = _variables(function)
    target = next(node for at, node in enumerate(ast.walk(function)) if at == place)
    list(edits_of(target, variables))[number].change(target)
    return _text(changed)


def function_of(tree: ast.Module, name: str) -> ast.FunctionDef:
    """The last definition of a function: the one that counts."""
    return [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name][-1]


def _variables(function: ast.FunctionDef) -> list[str]:
    """Parameters and local names, in alphabetical order."""
    names = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    stored = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return sorted(names | {node.id for node in stored})


def _text(tree: ast.Module) -> str:
    """The module's text, or "" when the change made something that is no Python."""
    try:
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except (ValueError, TypeError, AttributeError):
        return ""
    return text if parsed(text) else ""


def _chance(*parts: str) -> float:
    """A number from 0 to 1 that belongs to these texts."""
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:8], "big") / 2**64
