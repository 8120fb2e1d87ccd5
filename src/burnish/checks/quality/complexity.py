"""How hard the code is to follow: radon's cyclomatic complexity of each function, and its maintainability index.

The index is taken of the code as Python itself would write it, without docstrings, because radon's counts lines.
"""

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import fmean

from radon.metrics import mi_visit
from radon.visitors import ComplexityVisitor

from burnish.checks.finding import Finding, Severity
from burnish.checks.quality.module import Documented, Module, count_statements, docstring
from burnish.checks.quality.part import Part
from burnish.errors import CheckError
from burnish.parsing import parse
from burnish.text import counted, one_line

STEPS = ((5.0, 100.0), (10.0, 75.0), (20.0, 30.0), (30.0, 0.0))
"""Complexity and its score, straight lines between: radon's rank A is fine, C is hard, E is lost."""
MOST = 10
"""The end of radon's rank B; a function above it is a finding."""
GOOD_INDEX = 40.0
"""A maintainability index that deserves all the points; radon's rank A begins at 20."""


def complexity(modules: Sequence[Module]) -> Part:
    """Each function by its paths, long ones weighing more."""
    scores, sizes, findings = [], [], []
    for module in modules:
        for name, function in module.functions:
            with naming(module):
                paths = int(ComplexityVisitor.from_ast(function).functions[0].complexity)
            scores.append(along(STEPS, paths))
            sizes.append(count_statements(function))
            if paths > MOST:
                findings.append(_finding(module, name, function.lineno, paths))
    if not scores:
        return Part("complexity", None, "there is no function")
    said = f"{counted(len(findings), 'function')} above {MOST}" if findings else f"no function above {MOST}"
    return Part("complexity", fmean(scores, sizes), f"cyclomatic complexity: {said}", tuple(findings))


def maintainability(modules: Sequence[Module]) -> Part:
    """Each file by radon's index, long ones weighing more."""
    counted_modules = [module for module in modules if module.statements]
    if not counted_modules:
        return Part("maintainability", None, "there is no code")
    indexes = [index(module) for module in counted_modules]
    worst = min(range(len(indexes)), key=indexes.__getitem__)
    scores = [min(100.0, 100.0 * one / GOOD_INDEX) for one in indexes]
    why = f"maintainability index: lowest {indexes[worst]:.0f}, {one_line(counted_modules[worst].file)}"
    return Part("maintainability", fmean(scores, [module.statements for module in counted_modules]), why)


def index(module: Module) -> float:
    """Radon's maintainability index of a file, 0 to 100."""
    with naming(module):
        return float(mi_visit(canonical(module.text), multi=False))


@contextmanager
def naming(module: Module) -> Iterator[None]:
    """Raises CheckError that names the file when its code is nested too deeply, or a number too long, to be read."""
    try:
        yield
    except (RecursionError, ValueError) as error:
        raise CheckError(f"{one_line(module.file)} cannot be measured: {one_line(str(error))}") from error


def canonical(text: str) -> str:
    """The code as Python writes it, without docstrings: the same text for every layout of it."""
    tree = parse(text)
    for node in ast.walk(tree):
        if isinstance(node, Documented) and docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(tree))


def along(steps: Sequence[tuple[float, float]], place: float) -> float:
    """The height of a line through the steps; level before the first and after the last."""
    for (left, high), (right, low) in zip(steps, steps[1:], strict=False):
        if place <= right:
            return high + (low - high) * max(0.0, place - left) / (right - left)
    return steps[-1][1]


def _finding(module: Module, name: str, line: int, paths: int) -> Finding:
    what = f"{name} has a cyclomatic complexity of {paths}; above {MOST} a function is hard to follow and to test."
    severity: Severity = "medium" if paths > 2 * MOST else "low"
    return Finding(file=module.file, line=line, what=what, rule="complexity", severity=severity)
