"""A text that is copied each time it grows is joined once at the end."""

import ast
from collections.abc import Iterator

from burnish.agent.mending.source import Change, Source


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
    named = [node for node in source.each(ast.Name, function) if isinstance(node, ast.Name) and node.id == name]
    if function is None or sum(not isinstance(node.ctx, ast.Load) for node in named) != 1 + len(growing):
        return
    if any(isinstance(upper, ast.Try) for node in growing for upper in source.above(node)):
        return
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
