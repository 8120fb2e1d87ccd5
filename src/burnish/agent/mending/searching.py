"""What is looked for again and again in a loop is looked up in something that is made before it."""

import ast
from collections.abc import Iterator

from burnish.agent.mending.source import Change, Source

QUICK = {"set", "dict", "frozenset", "range", "Counter", "defaultdict", "deque", "OrderedDict"}
"""What makes something in which looking up is quick already, or which is no list."""
OF_TEXTS = (
    "lower",
    "upper",
    "strip",
    "join",
    "format",
    "replace",
    "startswith",
    "endswith",
    "find",
    "title",
    "casefold",
)
"""Methods that texts have, and lists have not."""
SIMPLE = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript)
"""What can be said twice without doing work twice."""
READERS = ("len", "range", "enumerate", "zip", "reversed", "list", "tuple", "set", "bool", "sum", "max", "min")
"""What is handed a list and does not change it."""


def sets(source: Source) -> Iterator[Change]:
    """`x in items` in a loop; where the loop appends to the list, it adds to the set as well."""
    made: set[tuple[str, ast.stmt]] = set()
    for node in source.each(ast.Compare):
        assert isinstance(node, ast.Compare)
        items, loop = node.comparators[0], source.repeated_from(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.In | ast.NotIn) or not isinstance(items, ast.Name):
            continue
        if loop is None or _is_quick(source, items) or is_text(source, items) or _is_bound_in(items.id, loop):
            continue
        grown = appended(source, items.id, loop)
        if grown is None:
            continue
        name = source.fresh(f"{items.id}_set")
        if (items.id, loop) not in made:
            made.add((items.id, loop))
            yield source.before(loop, [f"{name} = set({items.id})"])
            for call in grown:
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
        if not isinstance(call.args[0], SIMPLE) or any(isinstance(upper, ast.Try) for upper in source.above(call)):
            continue
        made, one = source.fresh(f"{name}_places"), source.of(call.args[0])
        if is_first:
            yield source.before(
                loop, [f"{made} = {{item: place for place, item in reversed(list(enumerate({name})))}}"]
            )
        yield source.instead(call, f"({made}[{one}] if {one} in {made} else {name}.index({one}))")


def _looked_up(source: Source, method: str) -> Iterator[tuple[str, ast.Call, ast.stmt, bool]]:
    """Calls `items.method(x)` in a loop that leaves the items alone; and which is the first for its loop."""
    seen: set[tuple[str, ast.stmt]] = set()
    for call in source.each(ast.Call):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name) as items, attr=word), args=[_], keywords=[]):
                loop = source.repeated_from(call)
                if word != method or loop is None or is_text(source, items):
                    continue
                if not changes(source, name, loop):
                    yield name, call, loop, (name, loop) not in seen
                    seen.add((name, loop))


def is_text(source: Source, items: ast.Name) -> bool:
    """Whether something is known to be a text, in which more than single letters can be looked for."""
    function = source.function_of(items)
    for node in source.each(ast.AST, function):
        match node:
            case ast.arg(arg=name, annotation=ast.Name(id="str" | "bytes")) if name == items.id:
                return True
            case ast.Attribute(value=ast.Name(id=name), attr=method) if name == items.id and method in OF_TEXTS:
                return True
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == items.id and _makes_text(value):
                return True
    return False


def _makes_text(value: ast.expr) -> bool:
    match value:
        case ast.JoinedStr() | ast.Constant(value=str() | bytes()) | ast.Call(func=ast.Name(id="str")):
            return True
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in OF_TEXTS or method in ("read", "read_text")
    return False


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


def appended(source: Source, name: str, loop: ast.stmt) -> list[ast.Call] | None:
    """The calls of `name.append(x)` in a loop, x being no work; None where the list may change in another way."""
    found = []
    for node in source.each(ast.Name, loop):
        assert isinstance(node, ast.Name)
        if node.id != name:
            continue
        upper = source.parent(node)
        if not isinstance(node.ctx, ast.Load) or (isinstance(upper, ast.Subscript) and _is_stored(upper)):
            return None
        if isinstance(upper, ast.Call | ast.Starred | ast.keyword) and not _is_reader(upper):
            return None
        if isinstance(upper, ast.Attribute):
            call = source.parent(upper)
            if not isinstance(call, ast.Call) or call.func is not upper:
                return None
            if upper.attr == "append" and _adds_one(call) and isinstance(source.parent(call), ast.Expr):
                found.append(call)
            elif upper.attr not in ("count", "index", "copy"):
                return None
    return found


def _adds_one(call: ast.Call) -> bool:
    return len(call.args) == 1 and not call.keywords and isinstance(call.args[0], SIMPLE)


def _is_reader(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READERS


def _is_stored(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store | ast.Del)


def changes(source: Source, name: str, loop: ast.stmt) -> bool:
    """Whether a loop may change what a name stands for."""
    return _is_bound_in(name, loop) or appended(source, name, loop) != []


def _is_bound_in(name: str, loop: ast.stmt) -> bool:
    """Whether the name is given its value inside the loop, so that nothing can be made of it before."""
    return any(isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load) for n in ast.walk(loop))
