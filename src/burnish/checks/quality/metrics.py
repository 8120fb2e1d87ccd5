"""The files of a project as the parts of the score see them, how hard they are to follow, and what they say.

A file is its tree, never its layout. Radon's cyclomatic complexity of each function and its maintainability index;
types and docstrings of public names. The index is taken of the code as Python itself would write it, without
docstrings, because radon's counts lines.
"""

import ast
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

from radon.metrics import mi_visit
from radon.visitors import ComplexityVisitor

from burnish.checks.check import Finding, Severity
from burnish.checks.project import Project
from burnish.errors import CheckError
from burnish.parsing import parse
from burnish.text import one_line, plural

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef | ast.Module
SMALLEST = 20
"""Statements that a project is taken to have at least, so that one slip in a short function is a slip."""
DEAD = ("F401", "F811", "F841")
"""Ruff's rules for unused imports, definitions and variables: the part for dead code counts these, lint does not."""
SCALE = 20.0
"""This many points against the code in 100 statements leave 37 of 100; a quarter as many leave 78."""
STEPS = ((5.0, 100.0), (10.0, 75.0), (20.0, 30.0), (30.0, 0.0))
"""Complexity and its score, straight lines between: radon's rank A is fine, C is hard, E is lost."""
MOST = 10
"""The end of radon's rank B; a function above it is a finding."""
GOOD_INDEX = 40.0
"""A maintainability index that deserves all the points; radon's rank A begins at 20."""
DOCUMENTED_ELSEWHERE = ("overload", "override", "setter", "deleter")
"""Decorators of functions whose docstring stands at another one."""


class Module:
    """A parsed file. Nothing here depends on line breaks, comments, quotes or the text of docstrings."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.tree = parse(text)

    @cached_property
    def statements(self) -> int:
        """How much there is: statements, docstrings not among them."""
        return count_statements(self.tree)

    @cached_property
    def functions(self) -> tuple[tuple[str, Function], ...]:
        """Functions and methods with their dotted names; those inside a function belong to it."""
        return tuple(_list_functions(self.tree, ""))

    def finding(self, line: int, what: str, rule: str, severity: Severity = "low") -> Finding:
        """Something to look at in this file."""
        return Finding(file=self.file, line=line, what=what, rule=rule, severity=severity)


class Part(NamedTuple):
    """What one part of the score says."""

    name: str
    score: float | None
    """None where there was nothing that it could judge; the others then weigh more."""
    why: str
    findings: tuple[Finding, ...] = ()


def read_modules(project: Project) -> list[Module]:
    """Every source of the project. Raises CheckError that names the first file that is no Python."""
    modules = []
    for source in project.sources:
        try:
            modules.append(Module(str(source), project.text(source)))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
            place = f" line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            raise CheckError(f"{one_line(str(source))}{place} could not be read: {one_line(str(error))}") from error
    return modules


def score_points(points: float, modules: Sequence[Module]) -> float:
    """A score that falls with the points against the code in 100 statements, fast at first and never below 0."""
    size = max(SMALLEST, sum(module.statements for module in modules))
    return 100.0 * math.exp(-100.0 * points / size / SCALE)


def find_docstring(node: Documented) -> ast.Expr | None:
    """The statement that is the docstring."""
    match node.body[:1]:
        case [ast.Expr(value=ast.Constant(value=str())) as first]:
            return first
    return None


def count_statements(node: ast.AST) -> int:
    """Statements in and below a node, itself too if it is one; docstrings do not count."""
    found = 0
    for inner in ast.walk(node):
        found += isinstance(inner, ast.stmt)
        if isinstance(inner, Documented) and find_docstring(inner):
            found -= 1
    return found


def list_blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    """The lists of statements directly in a node: a body, an else, a finally, the cases of a match."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def _list_functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for block in list_blocks(node):
        for statement in block:
            if isinstance(statement, Function):
                yield prefix + statement.name, statement
            elif isinstance(statement, ast.ClassDef):
                yield from _list_functions(statement, f"{prefix}{statement.name}.")
            else:
                yield from _list_functions(statement, prefix)


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
                arguments, decorators = function.args, map(_name_decorator, function.decorator_list)
                is_method = "." in name and "staticmethod" not in decorators
                places = [*[*arguments.posonlyargs, *arguments.args][is_method:], *arguments.kwonlyargs]
                places += [one for one in (arguments.vararg, arguments.kwarg) if one]
                types = {one.arg: one.annotation for one in places}
                if not name.endswith("__init__"):
                    types["the result"] = function.returns
                missing = [place for place, annotation in types.items() if annotation is None]
                typed, asked = typed + len(types) - len(missing), asked + len(types)
                if missing:
                    what = f"{name} does not say the type of {', '.join(missing)}."
                    findings.append(module.finding(function.lineno, what, "types"))
    if not asked:
        return Part("types", None, "there is no public function")
    why = f"{typed} of {asked} parameters and results of public functions have a type"
    return Part("types", 100.0 * typed / asked, why, tuple(findings))


def score_docstrings(modules: Sequence[Module]) -> Part:
    """The share of public functions, methods and classes that say what they do."""
    asked, findings = 0, []
    for module in modules:
        public: list[tuple[str, Function | ast.ClassDef]] = []
        for name, function in module.functions:
            elsewhere = any(_name_decorator(one) in DOCUMENTED_ELSEWHERE for one in function.decorator_list)
            # A body of `...` alone, as in a Protocol: the signature says it.
            match function.body:
                case [ast.Expr(value=ast.Constant(value=only))]:
                    elsewhere = elsewhere or only is ...
            if is_public(name) and not elsewhere:
                public.append((name, function))
        classes = [node for node in module.tree.body if isinstance(node, ast.ClassDef)]
        public += [(node.name, node) for node in classes if is_public(node.name)]
        asked += len(public)
        for name, node in public:
            found = find_docstring(node)
            if not found or not ast.literal_eval(found.value).strip():
                findings.append(module.finding(node.lineno, f"{name} has no docstring.", "docstring"))
    if not asked:
        return Part("docstrings", None, "there is no public name")
    documented = asked - len(findings)
    why = f"{documented} of {asked} public functions and classes have a docstring"
    return Part("docstrings", 100.0 * documented / asked, why, tuple(findings))


def is_public(name: str) -> bool:
    """Whether no part of a dotted name begins with an underscore."""
    return not any(part.startswith("_") for part in name.split("."))


def _name_decorator(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
