"""What is copied each time it grows or shrinks becomes something that is not."""

import ast
from collections.abc import Iterator

from burnish.agent.mending.source import Change, Source


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
