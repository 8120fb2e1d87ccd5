"""A loop over all pairs that only wants those that match: the partner is looked up, in the same order as before."""

import ast
from collections.abc import Iterator

from burnish.agent.mending.source import Change, Source


def pairs(source: Source) -> Iterator[Change]:
    """`for j in range(…, len(items)): if items[i] + items[j] == total: …`, and `for y in items: if x == y: …`."""
    for inner in source.each(ast.For):
        assert isinstance(inner, ast.For)
        outer = source.repeated_from(inner)
        if outer is None or outer is inner or len(inner.body) != 1 or inner.orelse:
            continue
        only = inner.body[0]
        over = _over(inner)
        if not isinstance(only, ast.If) or only.orelse or over is None or _changes(over.items, outer):
            continue
        key = _key(source, only.test, over)
        if key:
            yield from _looked_up(source, inner, outer, over, key)


class _Over:
    """What the inner loop goes over: places of a list, or its elements."""

    def __init__(self, items: str, variable: str, start: ast.expr | None, by_place: bool) -> None:
        self.items, self.variable, self.start, self.by_place = items, variable, start, by_place

    def is_element(self, node: ast.AST) -> bool:
        """Whether an expression is the element that the loop is at."""
        match node:
            case ast.Name(id=name):
                return not self.by_place and name == self.variable
            case ast.Subscript(value=ast.Name(id=items), slice=ast.Name(id=place)):
                return self.by_place and (items, place) == (self.items, self.variable)
        return False

    def is_free(self, node: ast.AST) -> bool:
        """Whether an expression has nothing to do with where the loop is."""
        return not any(isinstance(part, ast.Name) and part.id == self.variable for part in ast.walk(node))


def _over(loop: ast.For) -> _Over | None:
    match loop:
        case ast.For(target=ast.Name(id=variable), iter=ast.Name(id=items)):
            return _Over(items, variable, None, by_place=False)
        case ast.For(
            target=ast.Name(id=variable),
            iter=ast.Call(
                func=ast.Name(id="range"),
                args=[*start, ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=items)])],
                keywords=[],
            ),
        ) if len(start) < 2:
            return _Over(items, variable, start[0] if start else None, by_place=True)
    return None


def _key(source: Source, test: ast.expr, over: _Over) -> str:
    """What the element must be equal to, as an expression without it; empty where that cannot be said."""
    for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
        match part:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                for side, other in ((left, right), (right, left)):
                    key = _solved(source, side, other, over) if over.is_free(other) else ""
                    if key:
                        return key
    return ""


def _solved(source: Source, side: ast.expr, other: ast.expr, over: _Over) -> str:
    """`side == other`, solved for the element that `side` has in it."""
    if over.is_element(side):
        return source.of(other)
    match side:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            for one, rest in ((left, right), (right, left)):
                if over.is_element(one) and over.is_free(rest):
                    return f"({source.of(other)}) - ({source.of(rest)})"
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            if over.is_element(left) and over.is_free(right):
                return f"({source.of(other)}) + ({source.of(right)})"
            if over.is_element(right) and over.is_free(left):
                return f"({source.of(left)}) - ({source.of(other)})"
    return ""


def _looked_up(source: Source, inner: ast.For, outer: ast.stmt, over: _Over, key: str) -> Iterator[Change]:
    name = source.fresh(f"{over.items}_{'places' if over.by_place else 'alike'}")
    value, place = source.fresh("value"), source.fresh("place")
    head = f"for {place}, {value} in enumerate({over.items}):" if over.by_place else f"for {value} in {over.items}:"
    kept = place if over.by_place else value
    yield source.before(outer, [f"{name} = {{}}", head, f"    {name}.setdefault({value}, []).append({kept})"])
    found = f"{name}.get({key}, [])"
    if over.start is None:
        yield source.instead(inner.iter, found)
        return
    matches = source.fresh("matches")
    yield source.before(inner, [f"{matches} = {found}"])
    first = f"bisect.bisect_left({matches}, {source.of(over.start)})"
    yield source.instead(inner.iter, f"{matches}[{first}:]", "bisect")


def _changes(items: str, loop: ast.stmt) -> bool:
    """Whether the loop may change the list."""
    for node in ast.walk(loop):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name == items:
                return True
            case ast.Attribute(value=ast.Name(id=name)) if name == items:
                return True
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name == items:
                return True
    return False
