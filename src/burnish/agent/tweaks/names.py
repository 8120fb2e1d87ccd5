"""Other variables: any that is known at that place, in the place of one that is read or set."""

import ast
from collections.abc import Iterator

from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
MOST_NAMES = 12
"""Names that are tried in the place of one; where there are more, those that are bound nearest."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def names(code: Code) -> Iterator[Edit]:
    """Every edit that uses another name."""
    known = bound_in_scopes(code)
    attributes = [node for node in code.nodes if isinstance(node, ast.Attribute)]
    for node in code.nodes:
        match node:
            case ast.Name():
                yield from _others(code, node, known)
                yield from _as_attribute(code, node, attributes)
            case ast.Attribute():
                yield from _attributes(code, node, attributes)
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Name):
                for name in visible_at(code, node, known):
                    yield code.instead("returned", value, name)


def _others(code: Code, node: ast.Name, known: dict[ast.AST, list[str]]) -> Iterator[Edit]:
    visible = visible_at(code, node, known)
    parent, field = code.parent(node)
    if node.id not in visible or (isinstance(parent, ast.Call) and field == "func"):
        return
    kind = _kind(node, parent)
    for name in visible:
        if name != node.id:
            yield code.instead(kind if _alike(code, name, node.id) else "unlike", node, name)


def _alike(code: Code, one: str, other: str) -> bool:
    """False only where the two are known to hold different sorts of value."""
    sorts = {code.shapes.get(one, ""), code.shapes.get(other, "")}
    return len(sorts - {""}) < 2


def _kind(node: ast.Name, parent: ast.AST | None) -> str:
    if not isinstance(node.ctx, ast.Load):
        return "target"
    return "returned" if isinstance(parent, ast.Return) else "variable"


def visible_at(code: Code, node: ast.AST, known: dict[ast.AST, list[str]]) -> list[str]:
    """The variables that can be read at a place, the innermost first; of very many only those bound nearest."""
    found: dict[str, None] = {}
    at: ast.AST | None = node
    while at is not None:
        found.update(dict.fromkeys(known.get(at, ())))
        at = code.parent(at)[0]
    if len(found) <= MOST_NAMES:
        return list(found)
    here: int = getattr(node, "lineno", 0)
    near = sorted(found, key=lambda name: abs(code.bound_on[name] - here))[:MOST_NAMES]
    own = [node.id] if isinstance(node, ast.Name) and node.id in found else []
    return list(dict.fromkeys([*near, *own]))


def bound_in_scopes(code: Code) -> dict[ast.AST, list[str]]:
    """For every function, lambda and comprehension the names that it binds; a name of a class binds nothing inside."""
    known: dict[ast.AST, dict[str, None]] = {}
    for node in code.nodes:
        scope = _scope(code, node)
        match node:
            case ast.Name(ctx=ast.Store()) | ast.arg() if scope is not None:
                name = node.id if isinstance(node, ast.Name) else node.arg
                if name not in ("self", "cls", "_"):
                    known.setdefault(scope, {})[name] = None
    return {scope: list(found) for scope, found in known.items()}


def _scope(code: Code, node: ast.AST) -> ast.AST | None:
    """Where a name that is bound here is known."""
    at: ast.AST | None = node
    inside_target = False
    while at is not None:
        parent, field = code.parent(at)
        inside_target = inside_target or (isinstance(parent, ast.comprehension) and field == "target")
        if isinstance(parent, FUNCTIONS) or (inside_target and isinstance(parent, COMPREHENSIONS)):
            return parent
        at = parent
    return None


def _attributes(code: Code, node: ast.Attribute, known: list[ast.Attribute]) -> Iterator[Edit]:
    """Another attribute that the function uses in the same way."""
    called = _is_called(code, node)
    near = sorted(known, key=lambda one: abs(one.lineno - node.lineno))
    same = dict.fromkeys(one.attr for one in near if _is_called(code, one) == called and one.attr != node.attr)
    start = code.end(node) - len(node.attr.encode())
    for name in list(same)[:MOST_NAMES]:
        yield code.span("attribute", node, start, code.end(node), name)


def _is_called(code: Code, node: ast.AST) -> bool:
    parent, field = code.parent(node)
    return isinstance(parent, ast.Call) and field == "func"


def _as_attribute(code: Code, node: ast.Name, known: list[ast.Attribute]) -> Iterator[Edit]:
    """`self.x`, where a plain `x` stands and both are used."""
    if isinstance(node.ctx, ast.Load):
        same = {one.value.id for one in known if one.attr == node.id and isinstance(one.value, ast.Name)}
        yield from (code.instead("attribute", node, f"{owner}.{node.id}") for owner in sorted(same))
