"""Repairs that please the tests without doing what the function is for, as far as that can be read from the code.

A repair is compared with the code that was there, function by function: what was there before is nobody's shortcut. It
is a reason for doubt and no proof, so a version that takes one ranks behind those that do not.
"""

import ast
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

from burnish.parsing import PARSE_ERRORS, try_parse
from burnish.tasks.source import FUNCTIONS, Function, all_functions

SMALL = 2
"""Numbers up to this one, and texts of one letter, are singled out by honest code as well."""
LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
PLAIN_READS = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple)
EQUALITY = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)


class Shortcut(StrEnum):
    """What is suspicious about a repair, in words that follow "it"."""

    UNREACHABLE = "leaves code that can never run"
    CONSTANT = "always returns the same constant"
    IGNORED = "ignores a parameter that the code used"
    SPECIAL_CASE = "singles out a value that a test uses"


@lru_cache(maxsize=512)
def find_shortcuts(old: str, new: str, tests: tuple[str, ...] = (), words: str = "") -> tuple[Shortcut, ...]:
    """The shortcuts that `new` takes and `old` does not.

    Values in `tests` (asserts, or calls that tests make) are not to be singled out, unless `words` names them. None
    where either module does not parse.
    """
    before, after = try_parse(old), try_parse(new)
    if before is None or after is None:
        return ()
    trees = [tree for test in tests if (tree := try_parse(test))]
    known, values = all_functions(before), set(map(repr, _read_literals(*trees)))
    found: set[Shortcut] = set()
    for name, node in all_functions(after).items():
        was = known.get(name)
        if isinstance(was, FUNCTIONS) and isinstance(node, FUNCTIONS) and ast.dump(was) != ast.dump(node):
            found.update(_compare_functions(was, node))
        if isinstance(node, FUNCTIONS) and (was is None or isinstance(was, FUNCTIONS)):
            fresh = _find_special_values(node) - ({*_read_literals(was)} if was else set())
            if any(repr(value) in values and str(value) not in words for value in fresh if _is_telling(value)):
                found.add(Shortcut.SPECIAL_CASE)
    return tuple(sorted(found))


def _compare_functions(was: Function, now: Function) -> Iterator[Shortcut]:
    """What two versions of a function differ in. Code that never runs reads no parameter and returns nothing."""
    live_was, live_now = _live_nodes(was.body), _live_nodes(now.body)
    if _count_dead(now, live_now) > _count_dead(was, live_was):
        yield Shortcut.UNREACHABLE
    if _is_constant(live_now) and not _is_constant(live_was):
        yield Shortcut.CONSTANT
    kept = _parameters(was) & _parameters(now)
    if (_names_read(live_was) & kept) - _names_read(live_now):
        yield Shortcut.IGNORED


def _live_nodes(body: Sequence[ast.stmt]) -> list[ast.AST]:
    """All nodes of these statements that can run, as far as their order tells."""
    found: list[ast.AST] = []
    for statement in body:
        found.append(statement)
        never_run = ""
        match statement:  # a condition that is written out, as in `if False:`
            case ast.If(test=ast.Constant(value=value)) | ast.While(test=ast.Constant(value=value)):
                never_run = "orelse" if value else "body"
        for name, value in ast.iter_fields(statement):
            parts = value if isinstance(value, list) else [value]
            if parts and isinstance(parts[0], ast.stmt):
                found += [] if name == never_run else _live_nodes(parts)
                continue
            for part in parts:
                match part:
                    case ast.ExceptHandler(body=inside) | ast.match_case(body=inside):
                        head = [child for child in ast.iter_child_nodes(part) if child not in inside]
                        found += [part, *(node for child in head for node in ast.walk(child)), *_live_nodes(inside)]
                    case ast.AST():
                        found += ast.walk(part)
        if _always_leaves(statement):
            break
    return found


def _always_leaves(statement: ast.stmt) -> bool:
    """Whether what stands behind it in its block is never reached."""
    match statement:
        case ast.If(test=ast.Constant(value=value), body=body) if value:
            return any(map(_always_leaves, body))
        case ast.If(body=body, orelse=orelse) if orelse:
            return any(map(_always_leaves, body)) and any(map(_always_leaves, orelse))
        case ast.While(test=ast.Constant(value=value)) if value:
            return not any(isinstance(node, ast.Break) for node in ast.walk(statement))
    return isinstance(statement, LEAVING)


def _count_dead(function: Function, live: Sequence[ast.AST]) -> int:
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    return sum(isinstance(node, ast.stmt) for node in nodes) - sum(isinstance(node, ast.stmt) for node in live)


def _is_constant(live: Sequence[ast.AST]) -> bool:
    """Whether every result is the same literal."""
    results = [node.value for node in live if isinstance(node, ast.Return)]
    if not results or any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Lambda | ast.FunctionDef) for node in live):
        return False
    texts = {ast.dump(value) for value in results if value is not None and _read_literal(value) is not _NOTHING}
    return len(texts) == 1 and all(value is not None and ast.dump(value) in texts for value in results)


def _parameters(function: Function) -> set[str]:
    own = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    return own - {"self", "cls"}


def _names_read(live: Sequence[ast.AST]) -> set[str]:
    return {node.id for node in live if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load | ast.Del)}


def _find_special_values(function: Function) -> set[Any]:
    """The values that what is read is compared with for equality, or looked up by in a table that is written out."""
    found: list[ast.expr] = []
    for node in ast.walk(function):
        match node:
            case ast.Compare(left=left, ops=operators, comparators=right):
                sides = [left, *right]
                plain = any(isinstance(side, PLAIN_READS) and _read_literal(side) is _NOTHING for side in sides)
                if plain and all(isinstance(operator, EQUALITY) for operator in operators):
                    found += sides
            case ast.MatchValue(value=value):
                found.append(value)
            case ast.Subscript(value=ast.Dict(keys=keys)) | ast.Attribute(value=ast.Dict(keys=keys)):
                found += [key for key in keys if key is not None]
    inside = [part for one in found for part in (one, *getattr(one, "elts", ()))]
    return {_freeze(value) for one in inside if (value := _read_literal(one)) is not _NOTHING}


def _read_literals(*trees: ast.AST) -> Iterator[Any]:
    """Every literal in this code, and each part of it."""
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.expr))
    yield from (_freeze(value) for node in nodes if (value := _read_literal(node)) is not _NOTHING)


_NOTHING = object()


def _read_literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (*PARSE_ERRORS, TypeError):
        return _NOTHING


def _freeze(value: Any) -> Any:
    """A literal as something that a set can hold; lists and tuples of equal items are one."""
    match value:
        case list() | tuple():
            return tuple(map(_freeze, value))
        case set() | dict():
            return repr(value)
    return value


def _is_telling(value: Any) -> bool:
    """Whether honest code rarely has this value in a condition."""
    if isinstance(value, str | bytes | tuple):
        return len(value) > 1
    return isinstance(value, int | float) and abs(value) > SMALL
