"""Rewrites for what the quality check finds: ruff's own, and a few that it leaves to people."""

import ast
import builtins
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

from burnish.agent.mending.source import COMPREHENSIONS, Change, Source, bound_by, names_in
from burnish.checks.quality.dead import ENDS, references
from burnish.checks.quality.lint import IGNORE, SELECT, TARGET
from burnish.checks.quality.module import Function, blocks

SECONDS = 20.0
INNER = (*COMPREHENSIONS, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.JoinedStr)
"""What has names of its own, or no places."""
OPTIONS = (
    *("check", "--fix", "--isolated", "--no-cache", "--ignore-noqa", "--quiet", "--exit-zero"),
    *("--target-version", TARGET, "--line-length", "120"),
    *("--select", ",".join(SELECT), "--ignore", ",".join(IGNORE)),
)


def what_ruff_mends(source: Source) -> Iterator[Change]:
    """What ruff calls safe."""
    return _fixed(source)


def more_that_ruff_mends(source: Source) -> Iterator[Change]:
    """What ruff cannot vouch for; the tests must."""
    return _fixed(source, "--unsafe-fixes")


def _fixed(source: Source, *more: str) -> Iterator[Change]:
    command = [sys.executable, "-I", "-m", "ruff", *OPTIONS, *more, "--stdin-filename", "solution.py", "-"]
    try:
        done = subprocess.run(command, input=source.text, capture_output=True, text=True, timeout=SECONDS, cwd="/")
    except (OSError, subprocess.TimeoutExpired, UnicodeError):
        return
    if done.returncode == 0 and done.stdout.strip():
        yield source.whole(done.stdout)


def named_exceptions(source: Source) -> Iterator[Change]:
    """A bare `except:`, which also catches the wish to stop."""
    for node in source.each(ast.ExceptHandler):
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield source.head(node, "except", "except Exception")


def unreached(source: Source) -> Iterator[Change]:
    """Statements after one that always leaves."""
    for node in source.nodes:
        for block in blocks(node):
            ended = next((place for place, one in enumerate(block) if isinstance(one, ENDS)), len(block))
            after = block[ended + 1 :]
            if any(isinstance(inner, ast.Yield | ast.YieldFrom) for one in after for inner in ast.walk(one)):
                continue
            yield from map(source.without, after)


def unused(source: Source) -> Iterator[Change]:
    """Private functions that nothing uses."""
    uses = references(source.tree)
    for node in source.tree.body:
        if not isinstance(node, Function) or not node.name.startswith("_") or node.decorator_list:
            continue
        if uses[node.name] <= references(node)[node.name]:
            yield source.without(node)


def unhidden(source: Source) -> Iterator[Change]:
    """Variables of one function that are called as a builtin is, where no other function or text can name them."""
    for function in source.each(ast.FunctionDef):
        stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for name in sorted(stored & {*dir(builtins)} - {"_"} - _seen_elsewhere(function)):
            for node in source.each(ast.Name, function):
                if isinstance(node, ast.Name) and node.id == name:
                    yield source.instead(node, source.fresh(f"{name}_"))


def _seen_elsewhere(function: ast.AST) -> set[str]:
    """Names that stand in a place of their own below a function, or are bound by something else than a variable."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, INNER) and node is not function:
            found |= names_in(node)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found |= {*node.names}
        elif not isinstance(node, ast.Name):
            found |= bound_by(node)
    return found


QUALITY: dict[str, Callable[[Source], Iterable[Change]]] = {
    "what ruff mends by itself": what_ruff_mends,
    "what ruff mends where tests vouch for it": more_that_ruff_mends,
    "a bare `except:` becomes `except Exception:`": named_exceptions,
    "statements that nothing reaches are taken out": unreached,
    "private functions that nothing uses are taken out": unused,
    "variables that hide a builtin get another name": unhidden,
}
