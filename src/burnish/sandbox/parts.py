"""Which tests of a file use a package of the layer: only these share a process with the code, the others do not."""

import ast
import sys
from pathlib import Path

from burnish.parsing import parse

SPLITS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.Assert)
"""Statements that the others can do without if they use no name of theirs."""
LOADERS = ("__import__", "importorskip", "import_module")
EVERYWHERE = ("autouse", "pytestmark", "pytest_generate_tests", "conftest")
"""Words of statements that bear on tests which do not name them."""


def without_packages(tests: str, layer: Path) -> str:
    """The text with an empty line for every line that uses a package of the layer; "" where that cannot be told apart.

    No line moves, so each test keeps its name.
    """
    try:
        body = parse(tests).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return tests  # the judge says what is wrong with it
    needing = users(body, layer)
    if any(not isinstance(node, SPLITS) or names_of(node) & {*EVERYWHERE} for node in needing):
        return ""
    lines = tests.split("\n")
    for node in needing:
        first, last = span(node)
        if any(span(other)[0] <= last and first <= span(other)[1] for other in body if other not in needing):
            return ""
        lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(lines) if "".join(lines).strip() else ""


def users(body: list[ast.stmt], layer: Path) -> list[ast.stmt]:
    """The statements that import a package of the layer, and those that use a name which such a statement binds."""
    found = [node for node in body if imported(node) & held(node, layer)]
    while True:
        bound = {name for node in found if not isinstance(node, ast.Assert) for name in binds(node)}
        more = [node for node in body if node in found or names_of(node) & bound]
        if len(more) == len(found):
            return found
        found = more


def held(node: ast.AST, layer: Path) -> set[str]:
    """Those of the imported names that a layer has."""
    others = imported(node) - sys.stdlib_module_names - {"solution", "pytest"}
    return {name for name in others if (layer / name).exists() or any(layer.glob(f"{name}.*"))}


def imported(node: ast.AST) -> set[str]:
    """The first part of every module that is imported somewhere in a statement."""
    found: list[str] = []
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            found += [alias.name for alias in part.names]
        elif isinstance(part, ast.ImportFrom):
            found += [part.module or ""]
        elif isinstance(part, ast.Call) and ast.unparse(part.func).rpartition(".")[2] in LOADERS:
            found += [
                word.value for word in part.args if isinstance(word, ast.Constant) and isinstance(word.value, str)
            ]
    return {name.partition(".")[0] for name in found} - {""}


def binds(node: ast.stmt) -> set[str]:
    """The names that a statement gives to the file."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def names_of(node: ast.stmt) -> set[str]:
    """Every word of a statement that may mean something of the file: names, arguments (fixtures), texts."""
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.arg | ast.keyword):
            found.add(part.arg or "")
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(part.name)
    return found


def span(node: ast.stmt) -> tuple[int, int]:
    """The first line of a statement, with its decorators, and its last."""
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
    return first, node.end_lineno or node.lineno
