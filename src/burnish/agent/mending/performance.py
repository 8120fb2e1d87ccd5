"""Rewrites for time that grows too fast: what is looked for again and again is looked up in something made before.

They take for granted that elements can be hashed, and that what they compare equal is equal: the tests know better.
"""

import ast
from collections.abc import Callable, Iterable, Iterator

from burnish.agent.mending.pairs import pairs
from burnish.agent.mending.source import CannotMendError, Change, Source

QUICK = {"set", "dict", "frozenset", "range", "Counter", "defaultdict", "deque", "OrderedDict"}
"""What makes something in which looking up is quick already, or which is no list."""
SIMPLE = (ast.Name, ast.Constant, ast.Attribute)


def sets(source: Source) -> Iterator[Change]:
    """`x in items` in a loop; where the loop appends to the list, it adds to the set as well."""
    made: set[tuple[str, ast.stmt]] = set()
    for node in source.each(ast.Compare):
        assert isinstance(node, ast.Compare)
        items, loop = node.comparators[0], source.repeated_from(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.In | ast.NotIn) or not isinstance(items, ast.Name):
            continue
        if loop is None or _is_quick(source, items) or _is_bound_in(items.id, loop):
            continue
        appended = _appended(source, items.id, loop)
        if appended is None:
            continue
        name = source.fresh(f"{items.id}_set")
        if (items.id, loop) not in made:
            made.add((items.id, loop))
            yield source.before(loop, [f"{name} = set({items.id})"])
            for call in appended:
                yield source.after(source.statement_of(call), [f"{name}.add({source.of(call.args[0])})"])
        yield source.instead(items, name)


def counts(source: Source) -> Iterator[Change]:
    """`items.count(x)` in a loop."""
    for name, call, loop, is_first in _looked_up(source, "count"):
        made = source.fresh(f"{name}_counts")
        if is_first:
            yield source.before(loop, [f"{made} = collections.Counter({name})"], "collections")
        yield source.instead(call, f"{made}[{source.of(call.args[0])}]")


def places(source: Source) -> Iterator[Change]:
    """`items.index(x)` in a loop: the first place of each."""
    for name, call, loop, is_first in _looked_up(source, "index"):
        if any(isinstance(upper, ast.Try) for upper in source.above(call)):
            continue
        made = source.fresh(f"{name}_places")
        if is_first:
            yield source.before(
                loop, [f"{made} = {{item: place for place, item in reversed(list(enumerate({name})))}}"]
            )
        yield source.instead(call, f"{made}[{source.of(call.args[0])}]")


def sums(source: Source) -> Iterator[Change]:
    """`sum(items[a:b])` in a loop: the difference of two running sums. And the same for `max(items[:b])`."""
    seen: set[str] = set()
    for call in source.calls("builtins.sum", "builtins.max", "builtins.min"):
        assert isinstance(call.func, ast.Name)
        word, part, loop = call.func.id, call.args[0] if len(call.args) == 1 else None, source.repeated_from(call)
        if loop is None or not isinstance(part, ast.Subscript) or not isinstance(part.slice, ast.Slice):
            continue
        if not isinstance(part.value, ast.Name) or part.slice.step or _changes(source, part.value.id, loop):
            continue
        new, before = _running(source, word, part.value.id, part.slice)
        if before not in seen:
            seen.add(before)
            yield source.before(loop, [before], "itertools")
        yield source.instead(call, new)


def _running(source: Source, word: str, name: str, part: ast.Slice) -> tuple[str, str]:
    """What stands for one slice, and the line that makes the running values."""
    low = source.of(part.lower) if part.lower else "0"
    high = f"min({source.of(part.upper)}, len({name}))" if part.upper else f"len({name})"
    if word == "sum":
        made = source.fresh(f"{name}_sums")
        return f"({made}[{high}] - {made}[{low}])", f"{made} = [0, *itertools.accumulate({name})]"
    if part.lower or not part.upper:
        raise CannotMendError
    made = source.fresh(f"{name}_{word}_so_far")
    return f"{made}[{high} - 1]", f"{made} = list(itertools.accumulate({name}, {word}))"


def queues(source: Source) -> Iterator[Change]:
    """`pop(0)` and `insert(0, x)` of a list that the function made: a deque, and a list again where it is returned."""
    for name, made, uses in _own_lists(source):
        slow = [use for use in uses if _is_call(source, use, "pop", 1) or _is_call(source, use, "insert", 2)]
        if not slow or not all(_suits_a_queue(source, use) for use in uses):
            continue
        yield source.instead(made, f"collections.deque({source.of(made)})", "collections")
        for use in uses:
            yield from _queued(source, name, use)


def _queued(source: Source, name: str, use: ast.Name) -> Iterator[Change]:
    attribute, upper = source.parent(use), source.parent(source.parent(use) or use)
    if isinstance(attribute, ast.Return):
        yield source.instead(use, f"list({name})")
    elif isinstance(attribute, ast.Attribute) and isinstance(upper, ast.Call):
        if attribute.attr == "pop" and upper.args:
            yield source.instead(upper, f"{name}.popleft()")
        elif attribute.attr == "insert":
            yield source.instead(upper, f"{name}.appendleft({source.of(upper.args[1])})")


def _suits_a_queue(source: Source, use: ast.Name) -> bool:
    upper = source.parent(use)
    if isinstance(upper, ast.Attribute):
        at_front = _is_call(source, use, "pop", 1) or _is_call(source, use, "insert", 2)
        return at_front or upper.attr in ("append", "extend", "clear", "popleft") or _is_call(source, use, "pop", 0)
    if isinstance(upper, ast.Call):
        return isinstance(upper.func, ast.Name) and upper.func.id in ("len", "list", "bool", "sum", "max", "min")
    if isinstance(upper, ast.Subscript):
        return not isinstance(upper.slice, ast.Slice)
    return isinstance(upper, ast.Return | ast.While | ast.If | ast.For | ast.UnaryOp | ast.BoolOp | ast.Compare)


def _is_call(source: Source, use: ast.Name, method: str, arguments: int) -> bool:
    """Whether this is `items.method(0, …)`, or `items.method()` where it takes nothing."""
    attribute = source.parent(use)
    call = source.parent(attribute) if isinstance(attribute, ast.Attribute) and attribute.attr == method else None
    if not isinstance(call, ast.Call) or call.func is not attribute or len(call.args) != arguments:
        return False
    first = call.args[0] if call.args else None
    return first is None or (isinstance(first, ast.Constant) and first.value == 0)


def appends(source: Source) -> Iterator[Change]:
    """`items = items + [x]` in a loop copies the list each time."""
    for node in source.each(ast.Assign):
        assert isinstance(node, ast.Assign)
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.BinOp(left=ast.Name(id=same), op=ast.Add(), right=ast.List(elts=[one])),
            ) if name == same and source.repeated_from(node) is not None and not isinstance(one, ast.Starred):
                yield source.instead(node, f"{name}.append({source.of(one)})")


def joins(source: Source) -> Iterator[Change]:
    """A text that is put together piece by piece, at its end or at its front."""
    for node in source.each(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value="")):
                yield from _joined(source, name, node)


def _joined(source: Source, name: str, start: ast.stmt) -> Iterator[Change]:
    function = source.function_of(start)
    growing = [node for node in source.nodes if source.function_of(node) is function and _piece(node, name)]
    loops = {source.repeated_from(node) for node in growing}
    loop = loops.pop() if len(loops) == 1 else None
    sides = {(_piece(node, name) or ("", None))[0] for node in growing}
    if loop is None or len(sides) != 1:
        return
    mentions = [node for node in ast.walk(loop) if isinstance(node, ast.Name) and node.id == name]
    if len(mentions) != sum(1 + isinstance(node, ast.Assign) for node in growing):
        return
    parts = source.fresh(f"{name}_parts")
    order = f"reversed({parts})" if sides == {"front"} else parts
    yield source.before(loop, [f"{parts} = [{name}]"])
    for node in growing:
        _, piece = _piece(node, name) or ("", None)
        if piece is not None:
            yield source.instead(node, f"{parts}.append({source.of(piece)})")
    yield source.after(loop, [f'{name} = "".join({order})'])


def _piece(node: ast.AST, name: str) -> tuple[str, ast.expr] | None:
    """Where and with what a statement makes a text longer."""
    match node:
        case ast.AugAssign(target=ast.Name(id=one), op=ast.Add(), value=value) if one == name:
            return "end", value
        case ast.Assign(targets=[ast.Name(id=one)], value=ast.BinOp(left=left, op=ast.Add(), right=right)):
            if one == name and isinstance(left, ast.Name) and left.id == name:
                return "end", right
            if one == name and isinstance(right, ast.Name) and right.id == name:
                return "front", left
    return None


def _looked_up(source: Source, method: str) -> Iterator[tuple[str, ast.Call, ast.stmt, bool]]:
    """Calls `items.method(x)` in a loop that leaves the items alone; and which is the first for its loop."""
    seen: set[tuple[str, ast.stmt]] = set()
    for call in source.each(ast.Call):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=word), args=[_], keywords=[]):
                loop = source.repeated_from(call)
                if word == method and loop is not None and not _changes(source, name, loop):
                    yield name, call, loop, (name, loop) not in seen
                    seen.add((name, loop))


def _own_lists(source: Source) -> Iterator[tuple[str, ast.expr, list[ast.Name]]]:
    """Lists that a function makes once: the name, the expression, and every other place where the name stands."""
    for node in source.each(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_list(value):
                function = source.function_of(node)
                named = [one for one in source.each(ast.Name, function) if isinstance(one, ast.Name) and one.id == name]
                if function and sum(isinstance(one.ctx, ast.Store) for one in named) == 1:
                    yield name, value, [one for one in named if isinstance(one.ctx, ast.Load)]


def _is_list(node: ast.expr) -> bool:
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return isinstance(node, ast.List | ast.ListComp) or called in ("list", "sorted")


def _is_quick(source: Source, items: ast.Name) -> bool:
    """Whether something with this name is made as a set, a dictionary or the like."""
    function = source.function_of(items)
    for node in source.each(ast.Assign, function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == items.id:
                called = ast.unparse(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
                if isinstance(value, ast.Set | ast.Dict | ast.SetComp | ast.DictComp) or called in QUICK:
                    return True
    return False


def _appended(source: Source, name: str, loop: ast.stmt) -> list[ast.Call] | None:
    """The calls of `name.append(x)` in a loop, x being no work; None where the list changes in another way."""
    found = []
    for node in source.each(ast.Name, loop):
        assert isinstance(node, ast.Name)
        if node.id != name:
            continue
        attribute = source.parent(node)
        call = source.parent(attribute) if isinstance(attribute, ast.Attribute) else None
        if isinstance(node.ctx, ast.Store) or (isinstance(attribute, ast.Subscript) and _is_stored(attribute)):
            return None
        if isinstance(attribute, ast.Attribute) and isinstance(call, ast.Call):
            if attribute.attr == "append" and isinstance(call.args[0], (*SIMPLE, ast.Subscript)):
                found.append(call)
            elif attribute.attr not in ("count", "index", "copy"):
                return None
    return found


def _is_stored(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store | ast.Del)


def _changes(source: Source, name: str, loop: ast.stmt) -> bool:
    """Whether a loop may change what a name stands for."""
    return _is_bound_in(name, loop) or _appended(source, name, loop) != []


def _is_bound_in(name: str, loop: ast.stmt) -> bool:
    """Whether the name is given its value inside the loop, so that nothing can be made of it before."""
    return any(isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load) for n in ast.walk(loop))


PERFORMANCE: dict[str, Callable[[Source], Iterable[Change]]] = {
    "what is searched in a loop becomes a set": sets,
    "counting in a loop is done once before it": counts,
    "places looked for in a loop are noted before it": places,
    "sums of slices become differences of running sums": sums,
    "a loop over all pairs looks up its partner": pairs,
    "a list that is used at its front becomes a deque": queues,
    "a list that is copied to grow is appended to": appends,
    "a text put together in a loop is joined at its end": joins,
}
