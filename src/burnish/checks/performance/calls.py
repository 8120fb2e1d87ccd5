"""Which functions can be measured: those of the sources that a test, or an example in a docstring, calls with data.

Nothing is run to find out. A call counts when all its arguments are plain data, written down where it is made, in a
variable of the test, or in the rows of `parametrize`, and at least one of them can be made larger.
"""

import ast
import contextlib
import doctest
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from burnish.checks.performance.inside import inputs
from burnish.checks.project import Project
from burnish.events import Frozen
from burnish.parsing import parse

MOST_FILES = 300
MOST_CALLS = 2
"""Of one function that are grown: those with the largest arguments."""
MOST_BYTES = 20_000
MOST_ITEMS = 10_000
MOST_ROWS = 50
MAKERS: dict[str, Callable[[Any], Any]] = {"list": list, "tuple": tuple, "set": set, "sorted": sorted}


class SampleCall(Frozen):
    """One call with plain data: arguments named by their place ("0", "1") or their keyword."""

    given: str
    """As Python writes it."""
    places: int
    size: int
    line: int


class CalledFunction(Frozen):
    """A function of the sources, where it is and how it is called."""

    name: str
    module: str
    folder: str
    """From which the module is imported, relative to the root."""
    file: str
    line: int
    parameters: tuple[str, ...]
    calls: tuple[SampleCall, ...] = ()


Known = Mapping[str, list[CalledFunction]]
"""Functions by name."""


def find_called_functions(project: Project) -> list[CalledFunction]:
    """Every function that can be measured, in the order of the sources, with its largest calls: they say most."""
    known = [function for source in project.sources for function in _find_functions(project, source)]
    by_name: dict[str, list[CalledFunction]] = {}
    for function in known:
        by_name.setdefault(function.name, []).append(function)
    calls: dict[CalledFunction, dict[str, SampleCall]] = {}
    for function, call in _find_calls(project, by_name):
        calls.setdefault(function, {})[call.given] = call
    found = []
    for function in known:
        if function in calls:
            largest = sorted(calls[function].values(), key=lambda call: -call.size)[:MOST_CALLS]
            found.append(function.model_copy(update={"calls": tuple(largest)}))
    return found


def _parse_file(project: Project, file: Path) -> ast.Module | None:
    """A file as a tree; None for one that cannot be read."""
    try:
        return parse(project.text(file))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _find_functions(project: Project, source: Path) -> Iterator[CalledFunction]:
    """The plain functions that a module defines at its top."""
    tree, folder = _parse_file(project, source), source.parent
    while folder != Path() and (project.root / folder / "__init__.py").exists():
        folder = folder.parent
    parts = source.relative_to(folder).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef):
            yield CalledFunction(
                name=node.name,
                module=module,
                folder=folder.as_posix(),
                file=source.as_posix(),
                line=node.lineno,
                parameters=tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args)),
            )


def _find_calls(project: Project, known: Known) -> Iterator[tuple[CalledFunction, SampleCall]]:
    """Calls in test files, then those in the examples of docstrings."""
    files: list[Path] = []
    for path in project.tests:
        whole = project.root / path
        found = sorted(whole.rglob("*.py"))[:MOST_FILES] if whole.is_dir() else [whole]
        files += [file.relative_to(project.root) for file in found]
    for file in files[:MOST_FILES]:
        if tree := _parse_file(project, file):
            yield from _calls_in(tree, known, _read_imports(tree))
    for source in project.sources[:MOST_FILES]:
        names = {one.name: f"{one.module}.{one.name}" for one in _find_functions(project, source)}
        tree = _parse_file(project, source)
        for example in _read_examples(tree) if tree else ():
            yield from _calls_in(example, known, names)


def _read_imports(tree: ast.Module) -> dict[str, str]:
    """From a name in this file to the dotted name behind it."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            home = f"{node.module or ''}."
            names |= {alias.asname or alias.name: (home + alias.name).strip(".") for alias in node.names}
    return names


def _read_examples(tree: ast.Module) -> Iterator[ast.Module]:
    """The examples of all docstrings, each docstring as one small program."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            with contextlib.suppress(ValueError, SyntaxError, RecursionError):
                parts = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
                yield parse("".join(part.source for part in parts))


def _calls_in(tree: ast.Module, known: Known, names: Mapping[str, str]) -> Iterator[tuple[CalledFunction, SampleCall]]:
    """The calls of known functions with plain data, once for each row of data."""
    shared = _read_variables(tree.body)
    scopes: list[ast.Module | ast.FunctionDef] = [tree]
    scopes += [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for scope in scopes:
        own = {**shared, **_read_variables(scope.body)}
        for row in _read_rows(scope) if isinstance(scope, ast.FunctionDef) else [{}]:
            for node in _calls_directly_in(scope):
                function = _resolve(node.func, known, names)
                call = _read_call(node, {**own, **row}) if function else None
                if function and call:
                    yield function, call


def _calls_directly_in(scope: ast.Module | ast.FunctionDef) -> Iterator[ast.Call]:
    """Calls of a scope without those of functions inside it."""
    waiting: list[ast.AST] = list(scope.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef):
            continue
        if isinstance(node, ast.Call):
            yield node
        waiting.extend(ast.iter_child_nodes(node))


def _read_variables(body: list[ast.stmt]) -> dict[str, Any]:
    """Variables that are given plain data once, at the top of a scope."""
    values: dict[str, Any] = {}
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            with contextlib.suppress(ValueError):
                values[node.targets[0].id] = _evaluate(node.value, values)
    return values


def _resolve(node: ast.expr, known: Known, names: Mapping[str, str]) -> CalledFunction | None:
    """The function of the sources that a call's name stands for, by the imports of its file.

    A test may see a module from a folder further up or down, or through a package that hands its function on.
    """
    dotted = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    head = dotted
    while head and head not in names:
        head = head.rpartition(".")[0]
    origin = names[head] + dotted[len(head) :] if head else ""
    if not head and "*" in names and isinstance(node, ast.Name):
        origin = names["*"].removesuffix("*") + dotted
    module, _, name = origin.rpartition(".")
    group = known.get(name, []) if module else []
    exact = [one for one in group if f".{one.module}".endswith(f".{module}") or f".{module}".endswith(f".{one.module}")]
    handed_on = [one for one in group if one.module.startswith(module + ".")]
    return next(iter(exact or handed_on), None)


def _read_call(node: ast.Call, values: Mapping[str, Any]) -> SampleCall | None:
    """The call as data; None when it is not plain, or has nothing to grow."""
    try:
        given = {str(place): _evaluate(argument, values) for place, argument in enumerate(node.args)}
        given |= {keyword.arg or "**": _evaluate(keyword.value, values) for keyword in node.keywords}
    except ValueError:
        return None
    growable = [value for value in given.values() if inputs.has_size(value) or inputs.has_value(value)]
    written = repr(given)
    if not growable or "**" in given or len(written) > MOST_BYTES:
        return None
    size = sum(1000 + inputs.size(value) for value in growable if inputs.has_size(value))
    return SampleCall(given=written, places=len(node.args), size=size, line=node.lineno)


def _evaluate(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of an expression that only holds data, `[1] * 5` and `list(range(5))` too, within bounds.

    Raises ValueError for any other.
    """
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _multiply(_evaluate(node.left, values), _evaluate(node.right, values))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _make(node.func.id, [_evaluate(argument, values) for argument in node.args])
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError("not plain data") from error
    if value is Ellipsis or isinstance(value, complex):  # `repr` would not give it back
        raise ValueError("not plain data")
    return value


def _multiply(left: Any, right: Any) -> Any:
    if isinstance(left, int) and not isinstance(right, int):
        left, right = right, left
    if not isinstance(left, int | str | list | tuple | bytes) or not isinstance(right, int):
        raise ValueError("not plain data")
    if abs(right) * (abs(left) if isinstance(left, int) else len(left)) > MOST_ITEMS:
        raise ValueError("too long")
    return left * right


def _make(name: str, arguments: list[Any]) -> Any:
    if name == "range" and arguments and all(isinstance(argument, int) for argument in arguments):
        numbers = range(*arguments[:3])
        if len(numbers) > MOST_ITEMS:
            raise ValueError("too long")
        return list(numbers)
    if name in MAKERS and len(arguments) == 1:
        try:
            return MAKERS[name](arguments[0])
        except TypeError as error:
            raise ValueError("not plain data") from error
    raise ValueError("not plain data")


def _read_rows(function: ast.FunctionDef) -> list[dict[str, Any]]:
    """The values that `parametrize` gives a test's arguments, row by row; one empty row where it gives none."""
    found: list[dict[str, Any]] = [{}]
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize"):
            own = list(islice(_rows_of(decorator), MOST_ROWS)) or [{}]
            found = [{**old, **new} for old in found for new in own][:MOST_ROWS]
    return found


def _rows_of(decorator: ast.Call) -> Iterator[dict[str, Any]]:
    """The rows of one `parametrize`; anything but data is left out of a row."""
    if len(decorator.args) < 2 or not isinstance(decorator.args[1], ast.List | ast.Tuple):
        return
    try:
        named = _evaluate(decorator.args[0], {})
    except ValueError:
        return
    names = [name.strip() for name in named.split(",")] if isinstance(named, str) else list(named)
    for row in decorator.args[1].elts:
        cells = row.elts if len(names) > 1 and isinstance(row, ast.List | ast.Tuple) else [row]
        if isinstance(row, ast.Call) and ast.unparse(row.func).endswith("param"):
            cells = row.args
        values: dict[str, Any] = {}
        for name, cell in zip(names, cells, strict=False):
            with contextlib.suppress(ValueError):
                values[name] = _evaluate(cell, {})
        yield values
