"""Sums of slices become running sums; only where every bound is known to lie in order, and no rounding can differ."""

import ast
import sys
from collections.abc import Iterator

from burnish.agent.mending.searching import changes
from burnish.agent.mending.source import Change, Source

ADDS_FROM_THE_LEFT = sys.version_info < (3, 12)
"""Later, `sum` carries what rounding loses, and no running sum of fractions is the same to the last digit."""
OF_INTEGERS = ("list[int]", "tuple[int, ...]", "Sequence[int]", "List[int]")


def sums(source: Source) -> Iterator[Change]:
    """`sum(items[a:b])` in a loop: the difference of two running sums. And the same for `max(items[:b])`."""
    seen: set[tuple[str, ast.stmt]] = set()
    for call in source.calls("builtins.sum", "builtins.max", "builtins.min"):
        loop = source.repeated_from(call)
        match call:
            case ast.Call(
                func=ast.Name(id=word),
                args=[ast.Subscript(value=ast.Name(id=name), slice=ast.Slice(step=None) as part)],
                keywords=[],
            ) if loop is not None and not changes(source, name, loop):
                new, before = _running(source, word, name, part) or ("", "")
                if new and (before, loop) not in seen:
                    seen.add((before, loop))
                    yield source.before(loop, [before], "itertools")
                if new:
                    yield source.instead(call, new)


def _running(source: Source, word: str, name: str, part: ast.Slice) -> tuple[str, str] | None:
    """What stands for one slice, and the line that makes the running values; None where it could be another value."""
    low, high = _Bound(source, part.lower), _Bound(source, part.upper)
    if not part.lower and word != "sum":
        made = source.fresh(f"{name}_{word}_so_far")
        line = f"{made} = list(itertools.accumulate({name}, {word}))"
        return (f"{made}[{high.within(name)} - 1]", line) if high.least > 0 and high.counts(name) else None
    made = source.fresh(f"{name}_sums")
    line = f"{made} = list(itertools.accumulate({name}, initial=0))"
    if word != "sum" or min(low.least, high.least) < 0:
        return None
    if not part.lower and part.upper and (ADDS_FROM_THE_LEFT or _are_integers(source, part, name)):
        return f"{made}[{high.within(name)}]", line
    if part.lower and _are_integers(source, part, name) and (not part.upper or high.is_after(low)):
        return f"({made}[{high.within(name)}] - {made}[{low.within(name)}])", line
    return None


class _Bound:
    """One end of a slice: a number, or the variable of a loop over places and a number. `least` is -1 where unknown."""

    def __init__(self, source: Source, node: ast.expr | None) -> None:
        self.variable, self.more, self.least, self._items = "", 0, -1, ""
        self._text = source.of(node) if node else ""
        match node:
            case None:
                self.least = 0
            case ast.Constant(value=int(number)):
                self.more = self.least = number
            case ast.Name(id=name):
                self._learn(source, node, name, 0)
            case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.Constant(value=int(number))) if number >= 0:
                self._learn(source, node, name, number)

    def _learn(self, source: Source, node: ast.expr, name: str, more: int) -> None:
        places = _places(source, node, name)
        if places is not None:
            self.variable, self.more, self.least, self._items = name, more, places[0] + more, places[1]

    def within(self, name: str) -> str:
        """The bound as text, never beyond the end."""
        return f"min({self._text}, len({name}))" if self._text else f"len({name})"

    def counts(self, name: str) -> bool:
        """Whether it goes over the places of this list, so that there is at least one element."""
        return self._items == name

    def is_after(self, low: "_Bound") -> bool:
        """Whether it is the same variable and never less."""
        return self.variable == low.variable and self.more >= low.more


def _places(source: Source, node: ast.AST, name: str) -> tuple[int, str] | None:
    """The least value that a loop around a node gives to a variable, and the list whose places it goes over, if any.

    None where the variable can get a value elsewhere, or the loop is not known to count up from 0 or more.
    """
    function = source.function_of(node)
    if function is None:
        return None
    bound = [n for n in source.each(ast.Name, function) if isinstance(n, ast.Name) and n.id == name]
    stored = [one for one in bound if not isinstance(one.ctx, ast.Load)]
    mine = [upper for upper in source.above(node) if isinstance(upper, ast.For | ast.ListComp | ast.GeneratorExp)]
    for upper in mine if len(stored) == 1 else []:
        loops = [upper] if isinstance(upper, ast.For) else upper.generators
        for loop in loops:
            if any(one is stored[0] for one in ast.walk(loop.target)):
                return _counted(loop.target, loop.iter, name)
    return None


def _counted(target: ast.expr, items: ast.expr, name: str) -> tuple[int, str] | None:
    match target, items:
        case ast.Name(), ast.Call(func=ast.Name(id="range"), args=[ast.Call() as stop], keywords=[]):
            return 0, _measured(stop)
        case ast.Name(), ast.Call(func=ast.Name(id="range"), args=[_], keywords=[]):
            return 0, ""
        case ast.Name(), ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(first)), _], keywords=[]):
            return (first, "") if first >= 0 else None
        case (
            ast.Tuple(elts=[ast.Name(id=one), *_]),
            ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name(id=known)], keywords=[]),
        ) if one == name:
            return 0, known
    return None


def _measured(stop: ast.Call) -> str:
    match stop:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=items)], keywords=[]):
            return items
    return ""


def _are_integers(source: Source, node: ast.AST, name: str) -> bool:
    """Whether the function says that a parameter holds whole numbers, and nothing else has its name."""
    function = source.function_of(node)
    if function is None or any(n.id == name and isinstance(n.ctx, ast.Store) for n in _names(source, function)):
        return False
    told = [one for one in function.args.args if one.arg == name and one.annotation is not None]
    return any(ast.unparse(one.annotation) in OF_INTEGERS for one in told if one.annotation)


def _names(source: Source, function: ast.AST) -> Iterator[ast.Name]:
    return (node for node in source.each(ast.Name, function) if isinstance(node, ast.Name))
