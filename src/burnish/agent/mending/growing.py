"""A list that is copied each time it grows or shrinks becomes something that is not."""

import ast
from collections.abc import Iterator

from burnish.agent.mending.source import Change, Source, names_in

READERS = ("len", "list", "tuple", "bool", "sum", "max", "min", "sorted", "any", "all")
"""What looks at a list, or copies it, and keeps no hold of it."""


def queues(source: Source) -> Iterator[Change]:
    """`pop(0)` and `insert(0, x)` of a list that the function made: a deque, and a list again where it is returned."""
    for name, made, uses in _own_lists(source):
        slow = [use for use in uses if _is_call(source, use, "pop", 1) or _is_call(source, use, "insert", 2)]
        if not slow or not all(_suits_a_queue(source, use) for use in uses):
            continue
        if any(_is_within(source, use, other) for use in uses for other in slow):
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
    """Whether a deque does here what a list does. It is equal to no list, looks otherwise, and has no slices."""
    upper = source.parent(use)
    if isinstance(upper, ast.Attribute):
        at_front = _is_call(source, use, "pop", 1) or _is_call(source, use, "insert", 2)
        grows = upper.attr in ("append", "extend", "clear") and _is_called(source, upper)
        return at_front or grows or _is_call(source, use, "pop", 0)
    if isinstance(upper, ast.Subscript):
        return not isinstance(upper.slice, ast.Slice)
    return isinstance(upper, ast.Return) or _only_reads(source, use)


def _only_reads(source: Source, use: ast.Name) -> bool:
    """Whether a list is looked at here in a way that keeps no hold of it."""
    upper = source.parent(use)
    match upper:
        case ast.Call(func=ast.Name(id=called)):
            return called in READERS
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[other]):
            return other is use
        case ast.For(target=target, iter=items, body=body):
            named = [part for one in (target, *body) for part in ast.walk(one) if isinstance(part, ast.Name)]
            return items is use and all(part.id != use.id for part in named)
    return _is_asked(source, use)


def _is_asked(source: Source, use: ast.expr) -> bool:
    """Whether nothing but being empty or not matters: `while items and …`, `if not items`."""
    upper = source.parent(use)
    if isinstance(upper, ast.UnaryOp):
        return isinstance(upper.op, ast.Not)
    if isinstance(upper, ast.BoolOp):
        return _is_asked(source, upper)
    return isinstance(upper, ast.While | ast.If | ast.IfExp) and upper.test is use


def _is_within(source: Source, use: ast.Name, other: ast.Name) -> bool:
    """Whether one use is part of the call that another begins."""
    call = source.parent(source.parent(other) or other)
    return use is not other and any(upper is call for upper in source.above(use))


def _is_called(source: Source, attribute: ast.Attribute) -> bool:
    call = source.parent(attribute)
    return isinstance(call, ast.Call) and call.func is attribute


def _is_call(source: Source, use: ast.Name, method: str, arguments: int) -> bool:
    """Whether this is `items.method(0, …)`, or `items.method()` where it takes nothing."""
    attribute = source.parent(use)
    call = source.parent(attribute) if isinstance(attribute, ast.Attribute) and attribute.attr == method else None
    if not isinstance(call, ast.Call) or call.func is not attribute or len(call.args) != arguments or call.keywords:
        return False
    first = call.args[0] if call.args else None
    return first is None or (isinstance(first, ast.Constant) and first.value == 0)


def appends(source: Source) -> Iterator[Change]:
    """`items = items + [x]` in a loop copies the list each time. Only where nothing else can hold the list."""
    for name, grown, uses in _own_grown_lists(source):
        lefts = [node.value.left for node in grown if isinstance(node.value, ast.BinOp)]
        if all(any(use is left for left in lefts) or _is_free_to_grow(source, use) for use in uses):
            for node in grown:
                match node.value:
                    case ast.BinOp(right=ast.List(elts=[one])):
                        yield source.instead(node, f"{name}.append({source.of(one)})")


def _is_free_to_grow(source: Source, use: ast.Name) -> bool:
    upper = source.parent(use)
    return isinstance(upper, ast.Return | ast.Subscript) or _only_reads(source, use)


def _own_grown_lists(source: Source) -> Iterator[tuple[str, list[ast.Assign], list[ast.Name]]]:
    """Lists that a function makes once and then only makes longer in loops: where it does, and where else it reads."""
    for name, node, named in _lists_made(source):
        stored = [source.parent(one) for one in named if not isinstance(one.ctx, ast.Load)]
        grown = [one for one in stored if isinstance(one, ast.Assign) and _grows(source, one, name)]
        if grown and len(grown) + 1 == len(stored) and source.repeated_from(node) is None:
            yield name, grown, [one for one in named if isinstance(one.ctx, ast.Load)]


def _grows(source: Source, node: ast.Assign, name: str) -> bool:
    match node:
        case ast.Assign(
            targets=[ast.Name(id=one)],
            value=ast.BinOp(left=ast.Name(id=same), op=ast.Add(), right=ast.List(elts=[more])),
        ):
            return one == same == name and source.repeated_from(node) is not None and not isinstance(more, ast.Starred)
    return False


def _own_lists(source: Source) -> Iterator[tuple[str, ast.expr, list[ast.Name]]]:
    """Lists that a function makes once: the name, the expression, and every other place where the name stands."""
    for name, node, named in _lists_made(source):
        if sum(not isinstance(one.ctx, ast.Load) for one in named) == 1:
            yield name, node.value, [one for one in named if isinstance(one.ctx, ast.Load)]


def _lists_made(source: Source) -> Iterator[tuple[str, ast.Assign, list[ast.Name]]]:
    """Where a function makes a list of its own under a name, and every place in it where the name stands.

    Not where another function may see the name, nor where it stands inside of an f-string, which has no places.
    """
    for node in source.each(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_list(value):
                function = source.function_of(node)
                if function is None or _is_shared(function, name):
                    continue
                named = [one for one in source.each(ast.Name, function) if isinstance(one, ast.Name) and one.id == name]
                if all(source.function_of(one) is function for one in named):
                    yield name, node, named


def _is_shared(function: ast.AST, name: str) -> bool:
    """Whether a name is that of the module or of a function around, or stands in an f-string or a lambda."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal) and name in node.names:
            return True
        if isinstance(node, ast.JoinedStr | ast.Lambda | ast.ClassDef) and name in names_in(node):
            return True
    return False


def _is_list(node: ast.expr) -> bool:
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return isinstance(node, ast.List | ast.ListComp) or called in ("list", "sorted")
