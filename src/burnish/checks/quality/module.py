"""One file of the project as the parts of the score see it: its tree, never its layout."""

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from burnish.checks.project import Project
from burnish.errors import CheckError
from burnish.parsing import parse
from burnish.text import one_line

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef | ast.Module


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
        return tuple(_functions(self.tree, ""))


def read(project: Project) -> list[Module]:
    """Every source of the project. Raises CheckError that names the first file that is no Python."""
    modules = []
    for source in project.sources:
        try:
            modules.append(Module(str(source), project.text(source)))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
            place = f" line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            raise CheckError(f"{one_line(str(source))}{place} could not be read: {one_line(str(error))}") from error
    return modules


def docstring(node: Documented) -> ast.Expr | None:
    """The statement that is the docstring."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first
    return None


def count_statements(node: ast.AST) -> int:
    """Statements in and below a node, itself too if it is one."""
    found = 0
    for inner in ast.walk(node):
        found += isinstance(inner, ast.stmt)
        if isinstance(inner, Documented) and docstring(inner):
            found -= 1
    return found


def blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    """The lists of statements directly in a node: a body, an else, a finally, the cases of a match."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def path_of(project: Project, name: str) -> str:
    """A file that a tool named by its whole path, as the project's root sees it."""
    for root in (project.root, project.root.resolve(), project.root.absolute()):
        if Path(name).is_relative_to(root):
            return str(Path(name).relative_to(root))
    return str(Path(name))


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for block in blocks(node):
        for statement in block:
            if isinstance(statement, Function):
                yield prefix + statement.name, statement
            elif isinstance(statement, ast.ClassDef):
                yield from _functions(statement, f"{prefix}{statement.name}.")
            else:
                yield from _functions(statement, prefix)
