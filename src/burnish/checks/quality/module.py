"""One file of the project as the parts of the score see it: its tree, never its layout; and what one part says."""

import ast
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from burnish.checks.check import Finding, Severity
from burnish.checks.project import Project
from burnish.errors import CheckError
from burnish.parsing import parse
from burnish.text import one_line

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef | ast.Module
SMALLEST = 20
"""Statements that a project is taken to have at least, so that one slip in a short function is a slip."""
SCALE = 20.0
"""This many points against the code in 100 statements leave 37 of 100; a quarter as many leave 78."""


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
