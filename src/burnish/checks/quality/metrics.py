"""How hard the code is to follow, and what it says about itself.

Radon's cyclomatic complexity of each function and its maintainability index; types and docstrings of public names. The
index is taken of the code as Python itself would write it, without docstrings, because radon's counts lines.
"""

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import fmean

from radon.metrics import mi_visit
from radon.visitors import ComplexityVisitor

from burnish.checks.check import Severity
from burnish.checks.quality.module import Documented, Function, Module, Part, count_statements, find_docstring
from burnish.errors import CheckError
from burnish.parsing import parse
from burnish.text import one_line, plural

STEPS = ((5.0, 100.0), (10.0, 75.0), (20.0, 30.0), (30.0, 0.0))
"""Complexity and its score, straight lines between: radon's rank A is fine, C is hard, E is lost."""
MOST = 10
"""The end of radon's rank B; a function above it is a finding."""
GOOD_INDEX = 40.0
"""A maintainability index that deserves all the points; radon's rank A begins at 20."""
DOCUMENTED_ELSEWHERE = ("overload", "override", "setter", "deleter")
"""Decorators of functions whose docstring stands at another one."""


def score_complexity(modules: Sequence[Module]) -> Part:
    """Each function by its paths, long ones weighing more."""
    scores, sizes, findings = [], [], []
    for module in modules:
        for name, function in module.functions:
            with naming_file(module):
                paths = int(ComplexityVisitor.from_ast(function).functions[0].complexity)
            scores.append(interpolate(STEPS, paths))
            sizes.append(count_statements(function))
            if paths > MOST:
                hard = f"above {MOST} a function is hard to follow and to test"
                what = f"{name} has a cyclomatic complexity of {paths}; {hard}."
                severity: Severity = "medium" if paths > 2 * MOST else "low"
                findings.append(module.finding(function.lineno, what, "complexity", severity))
    if not scores:
        return Part("complexity", None, "there is no function")
    said = f"{plural(len(findings), 'function')} above {MOST}" if findings else f"no function above {MOST}"
    return Part("complexity", fmean(scores, sizes), f"cyclomatic complexity: {said}", tuple(findings))


def interpolate(steps: Sequence[tuple[float, float]], place: float) -> float:
    """The height of a line through the steps; level before the first and after the last."""
    for (left, high), (right, low) in zip(steps, steps[1:], strict=False):
        if place <= right:
            return high + (low - high) * max(0.0, place - left) / (right - left)
    return steps[-1][1]


def score_maintainability(modules: Sequence[Module]) -> Part:
    """Each file by radon's index, long ones weighing more."""
    full = [module for module in modules if module.statements]
    if not full:
        return Part("maintainability", None, "there is no code")
    indexes = [measure_maintainability(module) for module in full]
    worst = min(range(len(indexes)), key=indexes.__getitem__)
    scores = [min(100.0, 100.0 * one / GOOD_INDEX) for one in indexes]
    why = f"maintainability index: lowest {indexes[worst]:.0f}, {one_line(full[worst].file)}"
    return Part("maintainability", fmean(scores, [module.statements for module in full]), why)


def measure_maintainability(module: Module) -> float:
    """Radon's maintainability index of a file, 0 to 100: the same for every layout of the code."""
    with naming_file(module):
        tree = parse(module.text)
        for node in ast.walk(tree):
            if isinstance(node, Documented) and find_docstring(node):
                node.body = node.body[1:] or [ast.Pass()]
        return float(mi_visit(ast.unparse(ast.fix_missing_locations(tree)), multi=False))


@contextmanager
def naming_file(module: Module) -> Iterator[None]:
    """Raises CheckError that names the file when its code is nested too deeply, or a number too long, to be read."""
    try:
        yield
    except (RecursionError, ValueError) as error:
        raise CheckError(f"{one_line(module.file)} cannot be measured: {one_line(str(error))}") from error


def score_types(modules: Sequence[Module]) -> Part:
    """The share of parameters and results of public functions that have a type."""
    typed, asked, findings = 0, 0, []
    for module in modules:
        for name, function in module.functions:
            if is_public(name.removesuffix(".__init__")):
                places = _list_typed_places(name, function)
                missing = [place for place, is_typed in places if not is_typed]
                typed, asked = typed + len(places) - len(missing), asked + len(places)
                if missing:
                    what = f"{name} does not say the type of {', '.join(missing)}."
                    findings.append(module.finding(function.lineno, what, "types"))
    if not asked:
        return Part("types", None, "there is no public function")
    why = f"{typed} of {asked} parameters and results of public functions have a type"
    return Part("types", 100.0 * typed / asked, why, tuple(findings))


def _list_typed_places(name: str, function: Function) -> list[tuple[str, bool]]:
    """Each place where a type can stand, and whether one does."""
    arguments = function.args
    is_method = "." in name and not any(_name_decorator(d) == "staticmethod" for d in function.decorator_list)
    found = [*[*arguments.posonlyargs, *arguments.args][is_method:], *arguments.kwonlyargs]
    found += [one for one in (arguments.vararg, arguments.kwarg) if one]
    places = [(one.arg, one.annotation is not None) for one in found]
    if not name.endswith("__init__"):
        places.append(("the result", function.returns is not None))
    return places


def score_docstrings(modules: Sequence[Module]) -> Part:
    """The share of public functions, methods and classes that say what they do."""
    asked, findings = 0, []
    for module in modules:
        for name, node in _list_public(module):
            asked += 1
            found = find_docstring(node)
            if not found or not ast.literal_eval(found.value).strip():
                findings.append(module.finding(node.lineno, f"{name} has no docstring.", "docstring"))
    if not asked:
        return Part("docstrings", None, "there is no public name")
    documented = asked - len(findings)
    why = f"{documented} of {asked} public functions and classes have a docstring"
    return Part("docstrings", 100.0 * documented / asked, why, tuple(findings))


def _list_public(module: Module) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Public functions and classes of which a docstring can be expected."""
    for name, function in module.functions:
        elsewhere = any(_name_decorator(one) in DOCUMENTED_ELSEWHERE for one in function.decorator_list)
        # A body of `...` alone, as in a Protocol: the signature says it.
        match function.body:
            case [ast.Expr(value=ast.Constant(value=only))]:
                elsewhere = elsewhere or only is ...
        if is_public(name) and not elsewhere:
            yield name, function
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and is_public(node.name):
            yield node.name, node


def is_public(name: str) -> bool:
    """Whether no part of a dotted name begins with an underscore."""
    return not any(part.startswith("_") for part in name.split("."))


def _name_decorator(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
