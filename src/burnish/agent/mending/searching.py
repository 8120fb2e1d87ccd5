"""What is looked for again and again in a loop is looked up in something that is made before it."""

import ast
from collections.abc import Iterator

from burnish.agent.mending.source import CannotMendError, Change, Source

QUICK = {"set", "dict", "frozenset", "range", "Counter", "defaultdict", "deque", "OrderedDict"}
"""What makes something in which looking up is quick already, or which is no list."""
SIMPLE = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript)
"""What can be said twice without doing work twice."""


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
            if attribute.attr == "append" and isinstance(call.args[0], SIMPLE):
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
