"""Weak hashes: another one where nobody sees the digest, and else the same digest with a word on what it is for."""

import ast
import re
from collections.abc import Iterator

from burnish.agent.mending.source import Change, Source

WEAK_HASHES = ("hashlib.md5", "hashlib.sha1")
PROTECTED = re.compile(r"pass_?(word|wd|phrase)|token|secret|credential|salt|hmac|sign|session|api_?key", re.IGNORECASE)
"""Words around a hash that has to withstand somebody."""


def compared_hash(source: Source) -> Iterator[Change]:
    """Two digests of one function that are only compared with each other: only what was forged is told apart now."""
    by_function: dict[ast.AST, list[ast.Call]] = {}
    for call in _weak(source):
        function = source.function_of(call)
        if function is not None:
            by_function.setdefault(function, []).append(call)
    for calls in by_function.values():
        if len(calls) == 2 and len({source.of(call.func) for call in calls}) == 1 and _meet(source, *calls):
            yield from (source.instead(call.func, "hashlib.sha256", "hashlib") for call in calls)


def _meet(source: Source, first: ast.Call, second: ast.Call) -> bool:
    """Whether both digests go into one comparison for being equal, and nowhere else."""
    places = [_only_place(source, call) for call in (first, second)]
    uppers = [source.parent(place) if place else None for place in places]
    compared = uppers[0]
    if not isinstance(compared, ast.Compare) or uppers[1] is not compared:
        return False
    return len(compared.ops) == 1 and isinstance(compared.ops[0], ast.Eq | ast.NotEq)


def _only_place(source: Source, call: ast.Call) -> ast.AST | None:
    """Where a digest is used: where it is made, or where the one variable that it goes into stands; None if unknown."""
    method = source.parent(call)
    digest = source.parent(method) if isinstance(method, ast.Attribute) else None
    if not isinstance(method, ast.Attribute) or method.attr not in ("digest", "hexdigest") or digest is None:
        return None
    if len(call.args) != 1 or call.keywords or not isinstance(digest, ast.Call):
        return None
    match source.parent(digest):
        case ast.Assign(targets=[ast.Name(id=name)]):
            function = source.function_of(call)
            named = [node for node in ast.walk(function or source.tree) if isinstance(node, ast.Name)]
            read = [node for node in named if node.id == name and isinstance(node.ctx, ast.Load)]
            stored = [node for node in named if node.id == name and not isinstance(node.ctx, ast.Load)]
            return read[0] if len(read) == len(stored) == 1 else None
        case ast.Compare():
            return digest
    return None


def plain_hash(source: Source) -> Iterator[Change]:
    """A weak hash that tells things apart says so, and gives the digest it gave. One that keeps a secret is left."""
    by_name = [call for call in source.calls("hashlib.new") if call.args and _is_weak(call.args[0])]
    for call in (*_weak(source), *by_name):
        if any(keyword.arg in ("usedforsecurity", None) for keyword in call.keywords) or _is_secret(source, call):
            continue
        given = [source.of(one) for one in (*call.args, *call.keywords)]
        new = ", ".join([*given, "usedforsecurity=False"])
        yield source.instead(call, f"{source.of(call.func)}({new})")


def _weak(source: Source) -> Iterator[ast.Call]:
    return source.calls(*WEAK_HASHES)


def _is_weak(name: ast.expr) -> bool:
    return isinstance(name, ast.Constant) and str(name.value).lower() in ("md5", "sha1")


def _is_secret(source: Source, call: ast.Call) -> bool:
    """Whether the words of the function around speak of something secret."""
    function = source.function_of(call)
    return bool(PROTECTED.search(source.of(function) if function else source.text))
