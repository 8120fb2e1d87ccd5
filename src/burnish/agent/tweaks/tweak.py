"""Every module one small step away from a given one, likeliest repair first.

The rule: bytes outside the edited span stay as they are. What comes out is text to be tried in a sandbox; nothing here
knows whether it is right.
"""

from collections.abc import Callable, Iterable, Iterator

from burnish.agent.tweaks.additions import additions
from burnish.agent.tweaks.bounds import bounds
from burnish.agent.tweaks.calls import calls
from burnish.agent.tweaks.code import Code, read
from burnish.agent.tweaks.constants import constants
from burnish.agent.tweaks.edit import Edit
from burnish.agent.tweaks.guards import guards
from burnish.agent.tweaks.moves import moves
from burnish.agent.tweaks.names import names
from burnish.agent.tweaks.operators import operators
from burnish.agent.tweaks.order import ordered
from burnish.agent.tweaks.statements import statements
from burnish.agent.tweaks.wraps import wraps
from burnish.events import Frozen

KINDS: tuple[Callable[[Code], Iterator[Edit]], ...] = (
    operators,
    constants,
    bounds,
    names,
    calls,
    wraps,
    statements,
    moves,
    additions,
    guards,
)


class Tweak(Frozen):
    """A module that differs from another by one small edit. It is a module like any other: it can be tweaked again."""

    code: str
    """The whole module."""
    what: str
    """The edit in one line: "line 7: `<` becomes `<=`"."""
    line: int
    """Where the edit begins, counted from 1 in the module as it was."""
    kind: str
    """Which sort of edit it is, as the table in `order.py` names them."""


def tweaks_of(module: str, entry_point: str, most: int = 400) -> list[Tweak]:
    """The likeliest single edits of one function ("name" or "Class.method"), no two alike, all of which parse.

    Empty when the module does not parse, has no such function, or one that is nested too deep to walk.
    """
    try:
        code = read(module, entry_point)
        edits = ordered(code, (edit for kind in KINDS for edit in kind(code))) if code else []
    except RecursionError:  # a sum of a thousand parts
        return []
    return list(_first(code, edits, most)) if code else []


def _first(code: Code, edits: Iterable[Edit], most: int) -> Iterator[Tweak]:
    seen = {code.module}
    for edit in edits:
        if len(seen) > most:
            return
        text = code.with_edit(edit)
        if text not in seen and code.still_parses(edit):
            seen.add(text)
            line = code.line_at(edit.start)
            yield Tweak(code=text, what=f"line {line}: {edit.what}", line=line, kind=edit.kind)
