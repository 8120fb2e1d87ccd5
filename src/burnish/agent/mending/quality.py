"""Rewrites for what the quality check finds: ruff's own, and a few that it leaves to people."""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

from burnish.agent.mending.source import Change, Source
from burnish.checks.quality.dead import ENDS, references
from burnish.checks.quality.lint import IGNORE, SELECT, TARGET
from burnish.checks.quality.module import Function, blocks

SECONDS = 20.0
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
        done = subprocess.run(command, input=source.text, capture_output=True, text=True, timeout=SECONDS)
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
    """Variables that are called as a builtin is."""
    import builtins

    for function in source.each(ast.FunctionDef):
        assert isinstance(function, ast.FunctionDef)
        stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        given = {argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg)}
        for name in (stored - given) & {*dir(builtins)} - {"_"}:
            if any(isinstance(n, ast.JoinedStr) and name in ast.unparse(n) for n in ast.walk(function)):
                continue
            for node in source.each(ast.Name, function):
                if isinstance(node, ast.Name) and node.id == name:
                    yield source.instead(node, source.fresh(f"{name}_"))


QUALITY: dict[str, Callable[[Source], Iterable[Change]]] = {
    "what ruff mends by itself": what_ruff_mends,
    "what ruff mends where tests vouch for it": more_that_ruff_mends,
    "a bare `except:` becomes `except Exception:`": named_exceptions,
    "statements that nothing reaches are taken out": unreached,
    "private functions that nothing uses are taken out": unused,
    "variables that hide a builtin get another name": unhidden,
}
