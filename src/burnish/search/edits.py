"""Every module one small edit away from a given one, likeliest repair first.

The rule: bytes outside the edited span stay as they are. What comes out is text to be tried in a sandbox; nothing here
knows whether it is right.
"""

import ast
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from burnish.search.call_edits import BOUNDS, CALLS, WRAPS
from burnish.search.editable import EditableFunction, read_function
from burnish.search.statement_edits import ADDITIONS, GUARDS, MOVES, STATEMENTS
from burnish.search.value_edits import CONSTANTS, EMPTY, NAMES, OPERATORS
from burnish.tasks.source import Edit

FAMILIES = (OPERATORS, CONSTANTS, EMPTY, BOUNDS, NAMES, CALLS, WRAPS, STATEMENTS, MOVES, ADDITIONS, GUARDS)
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
WEIGHTS = {kind: weight for weight, kinds in LIKELY.items() for kind in kinds.split(", ")}
FOR_UNREAD = 4.0
"""How much likelier a swap is when it reads what nothing read before."""
DEPTH = 0.5
"""How much of the share of a kind is spread evenly over its edits; the rest goes to the first ones."""
DECISIVE = ("value", "test", "ifs")
"""As what a part stands in a condition or a result."""
MOST_KEPT = 4096

SearchKey = tuple[str, str, str]
"""Code, function and tests."""
SearchResult = tuple[list[str], int]
"""The edits that pass every given test, and how many were tried."""


@dataclass(frozen=True)
class EditedModule:
    """A module that differs from another by one small edit. It is a module like any other: it can be edited again."""

    code: str
    """The whole module."""
    what: str
    """The edit in one line: "line 7: `<` becomes `<=`"."""
    line: int
    """Where the edit begins, counted from 1 in the module as it was."""
    kind: str
    """Which kind of edit it is, as `LIKELY` names them."""


def propose_edits(module: str, entry_point: str, most: int = 400) -> list[EditedModule]:
    """The likeliest single edits of one function ("name" or "Class.method"), no two alike, all of which parse.

    Empty when the module does not parse, has no such function, or one that is nested too deep to walk.
    """
    try:
        code = read_function(module, entry_point)
        if code is None:
            return []
        edits = _rank(code)
    except RecursionError:  # a sum of a thousand parts
        return []
    found: dict[str, EditedModule] = {}
    for edit in edits:
        if len(found) >= most:
            break
        text = code.apply(edit)
        if text != module and text not in found and code.still_parses(edit):
            line = code.line_at(edit.start)
            found[text] = EditedModule(code=text, what=f"line {line}: {edit.what}", line=line, kind=edit.kind)
    return list(found.values())


def _rank(code: EditableFunction) -> list[Edit]:
    """All edits, likeliest first: how often a kind mends a bug, shared among its edits, and where each sits."""
    rules = [(node, rule) for family in FAMILIES for node in code.nodes for rule in family]
    edits = [edit for node, (kind, propose) in rules if isinstance(node, kind) for edit in propose(code, node)]
    placed = sorted(((_weigh_place(code, edit.node), edit) for edit in edits), key=lambda one: -one[0])
    count = Counter(edit.kind for edit in edits)
    met: Counter[str] = Counter()
    scored = []
    for place, edit in placed:
        share = WEIGHTS[edit.kind] / (count[edit.kind] ** DEPTH * (met[edit.kind] + 1) ** (1 - DEPTH))
        hint = FOR_UNREAD if edit.new in code.unread and edit.kind != "target" else 1
        scored.append((share * hint * place, edit))
        met[edit.kind] += 1
    return [edit for _, edit in sorted(scored, key=lambda one: -one[0])]


def _weigh_place(code: EditableFunction, node: ast.AST) -> float:
    """How likely a bug is where an edit sits: conditions, results, and where something begins or ends come first."""
    for parent, field in code.ancestors(node) if not isinstance(node, ast.stmt) else ():
        match parent:
            case ast.Return() | ast.If() | ast.While() | ast.IfExp() | ast.comprehension() if field in DECISIVE:
                return 1.25
            case ast.Subscript() if field == "slice":
                return 1.1
            case ast.For() | ast.comprehension() | ast.Call() if field != "target":
                return 1.0
            case ast.stmt():
                break
    return 1.25 if isinstance(node, ast.Return) else 0.9


class EditCache:
    """Small edits that were searched for already: attempts at one task begin with the same code and the same tests.

    One for a run; the attempts of an evaluation share one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[SearchKey, SearchResult] = {}
        self._searching: defaultdict[SearchKey, threading.Lock] = defaultdict(threading.Lock)

    def find_or_search(self, key: SearchKey, search: Callable[[], tuple[SearchResult, bool]]) -> SearchResult:
        """What is known, or what `search` finds; kept if it says that nothing cut it short.

        Who wants the same at the same time waits: it is searched for once.
        """
        with self._lock:
            own = self._searching[key]
        with own:
            if key in self._known:
                return self._known[key]
            found, is_complete = search()
            if is_complete and len(self._known) < MOST_KEPT:
                self._known[key] = found
        return found
