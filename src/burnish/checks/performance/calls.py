"""Which functions can be measured: those of the sources that a test, or an example in a docstring, calls with data.

Nothing is run to find out. A call counts when all its arguments are plain data, written down where it is made, in a
variable of the test, or in the rows of `parametrize`, and at least one of them can be made larger.
"""

import ast
import doctest
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from burnish.checks.performance.inside import inputs
from burnish.checks.performance.literals import rows, value_of
from burnish.checks.project import Project
from burnish.events import Frozen
from burnish.parsing import parse

MOST_FILES = 300
MOST_CALLS = 2
"""Of one function that are grown: those with the largest arguments."""
MOST_BYTES = 20_000


class Called(Frozen):
    """One call with plain data: arguments named by their place ("0", "1") or their keyword."""

    given: str
    """As Python writes it."""
    places: int
    size: int
    line: int


class Function(Frozen):
    """A function of the sources, where it is and how it is called."""

    name: str
    module: str
    folder: str
    """From which the module is imported, relative to the root."""
    file: str
    line: int
    parameters: tuple[str, ...]
    calls: tuple[Called, ...] = ()


def find(project: Project) -> list[Function]:
    """Every function that can be measured, in the order of the sources."""
    known = [function for source in project.sources for function in defined(project, source)]
    by_name: dict[str, list[Function]] = {}
    for function in known:
        by_name.setdefault(function.name, []).append(function)
    calls: dict[Function, list[Called]] = {}
    for function, call in all_calls(project, by_name):
        calls.setdefault(function, []).append(call)
    return [f.model_copy(update={"calls": chosen(calls[f])}) for f in known if f in calls]


def chosen(calls: list[Called]) -> tuple[Called, ...]:
    """The largest calls, one of each shape, for they say most about what the function takes."""
    different = {call.given: call for call in calls}.values()
    return tuple(sorted(different, key=lambda call: -call.size)[:MOST_CALLS])


def tree_of(project: Project, file: Path) -> ast.Module | None:
    """A file as a tree; None for one that cannot be read."""
    try:
        return parse(project.text(file))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def defined(project: Project, source: Path) -> Iterator[Function]:
    """The plain functions that a module defines at its top."""
    tree = tree_of(project, source)
    folder, module = imported_as(project.root, source)
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            yield Function(
                name=node.name,
                module=module,
                folder=folder,
                file=source.as_posix(),
                line=node.lineno,
                parameters=tuple(names),
            )


def imported_as(root: Path, source: Path) -> tuple[str, str]:
    """The folder from which a file is imported, and its name there."""
    folder = source.parent
    while folder != Path() and (root / folder / "__init__.py").exists():
        folder = folder.parent
    parts = source.relative_to(folder).with_suffix("").parts
    return folder.as_posix(), ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def all_calls(project: Project, known: Mapping[str, list[Function]]) -> Iterator[tuple[Function, Called]]:
    """Calls in test files, then those in the examples of docstrings."""
    for file in test_files(project):
        tree = tree_of(project, file)
        if tree is not None:
            yield from calls_in(tree, known, imports(tree))
    for source in project.sources[:MOST_FILES]:
        tree = tree_of(project, source)
        if tree is not None:
            module = imported_as(project.root, source)[1]
            names = {function.name: f"{module}.{function.name}" for function in defined(project, source)}
            for example in examples(tree):
                yield from calls_in(example, known, names)


def test_files(project: Project) -> list[Path]:
    """Python files among the tests, folders looked through."""
    found: list[Path] = []
    for path in project.tests:
        whole = project.root / path
        files = sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]
        found += [file.relative_to(project.root) for file in files[:MOST_FILES]]
    return found[:MOST_FILES]


def imports(tree: ast.Module) -> dict[str, str]:
    """From a name in this file to the dotted name behind it."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name] = alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}".strip(".")
    return names


def examples(tree: ast.Module) -> Iterator[ast.Module]:
    """The examples of all docstrings, each docstring as one small program."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            try:
                parts = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
                yield parse("".join(part.source for part in parts))
            except (ValueError, SyntaxError, RecursionError):
                continue


def calls_in(
    tree: ast.Module, known: Mapping[str, list[Function]], names: Mapping[str, str]
) -> Iterator[tuple[Function, Called]]:
    """The calls of known functions with plain data, once for each row of data."""
    shared = assigned(tree.body)
    scopes: list[ast.Module | ast.FunctionDef] = [tree]
    scopes += [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for scope in scopes:
        own = {**shared, **assigned(scope.body)}
        for row in rows(scope) if isinstance(scope, ast.FunctionDef) else [{}]:
            for node in directly_in(scope):
                function = meant(node.func, known, names)
                call = called(node, {**own, **row}) if function else None
                if function and call:
                    yield function, call


def directly_in(scope: ast.Module | ast.FunctionDef) -> Iterator[ast.Call]:
    """Calls of a scope without those of functions inside it."""
    waiting: list[ast.AST] = list(scope.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef):
            continue
        if isinstance(node, ast.Call):
            yield node
        waiting.extend(ast.iter_child_nodes(node))


def assigned(body: list[ast.stmt]) -> dict[str, Any]:
    """Variables that are given plain data once, at the top of a scope."""
    values: dict[str, Any] = {}
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                values[node.targets[0].id] = value_of(node.value, values)
            except ValueError:
                continue
    return values


def meant(node: ast.expr, known: Mapping[str, list[Function]], names: Mapping[str, str]) -> Function | None:
    """The function of the sources that a call's name stands for."""
    module, _, name = origin(node, names).rpartition(".")
    group = known.get(name, []) if module else []
    exact = [function for function in group if same(function.module, module)]
    handed_on = [function for function in group if function.module.startswith(module + ".")]
    return next(iter(exact or handed_on[:1]), None)


def origin(node: ast.expr, names: Mapping[str, str]) -> str:
    """The full dotted name behind a name, by the imports of its file; nothing where they do not say."""
    dotted = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    head = dotted
    while head and head not in names:
        head = head.rpartition(".")[0]
    if head:
        return names[head] + dotted[len(head) :]
    return names["*"].removesuffix("*") + dotted if "*" in names and isinstance(node, ast.Name) else ""


def same(module: str, other: str) -> bool:
    """Whether two dotted names can mean one module: a test may see it from a folder further up or down."""
    return module == other or module.endswith("." + other) or other.endswith("." + module)


def called(node: ast.Call, values: Mapping[str, Any]) -> Called | None:
    """The call as data; None when it is not plain, or has nothing to grow."""
    try:
        given = {str(place): value_of(argument, values) for place, argument in enumerate(node.args)}
        given |= {keyword.arg or "**": value_of(keyword.value, values) for keyword in node.keywords}
    except ValueError:
        return None
    growable = [value for value in given.values() if inputs.has_size(value) or inputs.has_value(value)]
    written = repr(given)
    if not growable or "**" in given or len(written) > MOST_BYTES:
        return None
    size = sum(1000 + inputs.size(value) for value in growable if inputs.has_size(value))
    return Called(given=written, places=len(node.args), size=size, line=node.lineno)
