"""Code that does nothing: unused imports and variables, statements after a return, private names that nobody uses."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from burnish.checks.finding import Finding
from burnish.checks.quality.lint import DEAD
from burnish.checks.quality.module import Function, Module, blocks, count_statements
from burnish.checks.quality.part import Part, falling
from burnish.text import counted

ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_WORD = re.compile(r"[^\W\d]\w*")
LONGEST_NAME_TEXT = 200
"""A text up to this long may name things: `getattr`'s, `__all__`'s, an annotation's in quotes."""


def dead_code(modules: Sequence[Module], ruff: Sequence[Finding]) -> Part:
    """Dead statements in 100. What only looks unused from here, public names and decorated ones, is left alone."""
    unused = [finding for finding in ruff if finding.rule in DEAD]
    uses = sum((references(module.tree) for module in modules), Counter[str]())
    found = [pair for module in modules for pair in (*_unreachable(module), *_unused(module, uses))]
    dead = len(unused) + sum(size for size, _ in found)
    why = f"{counted(dead, 'statement')} of no use" if dead else "nothing unused was found"
    return Part("dead code", falling(dead, modules), why, tuple(finding for _, finding in found))


def references(node: ast.AST) -> Counter[str]:
    """How often each name is used in and below a node, in short texts too."""
    found: Counter[str] = Counter()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            found[inner.id] += 1
        elif isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Load):
            found[inner.attr] += 1
        elif isinstance(inner, ast.ImportFrom):
            found.update(alias.name for alias in inner.names)
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and len(inner.value) <= LONGEST_NAME_TEXT:
            found.update(_WORD.findall(inner.value) if "_" in inner.value else ())
    return found


def _unreachable(module: Module) -> Iterator[tuple[int, Finding]]:
    for node in ast.walk(module.tree):
        for block in blocks(node):
            ended = next((place for place, one in enumerate(block) if isinstance(one, ENDS)), len(block))
            after = block[ended + 1 :]
            if after and not _makes_a_generator(after):
                what = "Nothing reaches this line: the statement before it always leaves."
                yield sum(map(count_statements, after)), _finding(module, after[0].lineno, what)


def _makes_a_generator(after: Sequence[ast.stmt]) -> bool:
    """`return` and then `yield` is how an empty generator is written."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for one in after for node in ast.walk(one))


def _unused(module: Module, uses: Counter[str]) -> Iterator[tuple[int, Finding]]:
    for name, node in _private(module.tree):
        own = references(node)[name] if isinstance(node, Function | ast.ClassDef) else 0
        if uses[name] <= own:
            yield count_statements(node), _finding(module, node.lineno, f"{name} is private and nothing uses it.")


def _private(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Private functions, classes and variables of a file, and private methods of classes that stand alone."""
    by_name = any(_chooses_by_name(node) for node in ast.walk(tree))
    for node in tree.body:
        yield from _definition(node)
        if isinstance(node, ast.ClassDef) and not node.bases and not node.decorator_list and not by_name:
            for inner in node.body:
                yield from _definition(inner)
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(target, ast.Name) and _is_private(target.id):
            yield target.id, node


def _chooses_by_name(node: ast.AST) -> bool:
    """`getattr` with a name that is put together: any method may be meant."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "getattr":
        return False
    return len(node.args) > 1 and not isinstance(node.args[1], ast.Constant)


def _definition(node: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    if isinstance(node, Function | ast.ClassDef) and _is_private(node.name) and not node.decorator_list:
        yield node.name, node


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("_")


def _finding(module: Module, line: int, what: str) -> Finding:
    return Finding(file=module.file, line=line, what=what, rule="dead-code", severity="low")
