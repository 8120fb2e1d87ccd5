"""Which functions can be measured: those of the sources that a test, or an example in a docstring, calls with data.

Nothing is run to find out. A call counts when all its arguments are plain data, written down where it is made, in a
variable of the test, or in the rows of `parametrize`, and at least one of them can be made larger.
"""

import ast
import contextlib
import doctest
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from burnish.checks.bench.project_finder import python_files
from burnish.checks.performance.inside import inputs
from burnish.checks.project import Project
from burnish.events import Frozen
from burnish.parsing import PARSE_ERRORS, parse, try_parse

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


def find_called_functions(project: Project) -> list[CalledFunction]:
    """Every function that can be measured, in the order of the sources, with its largest calls: they say most."""
    trees = {source: _parse_file(project, source) for source in project.sources}
    functions = {source: list(_list_functions(project, source, tree)) for source, tree in trees.items()}
    known: dict[str, list[CalledFunction]] = defaultdict(list)
    for function in (function for group in functions.values() for function in group):
        known[function.name].append(function)
    # What may hold calls, with the dotted names behind the names in it: test files, then examples in docstrings.
    places = [project.root / path for path in project.tests]
    files = [file for place in places for file in (python_files(place) if place.is_dir() else [place])][:MOST_FILES]
    tests = [_parse_file(project, file.relative_to(project.root)) for file in files]
    programs = [(tree, _read_imports(tree)) for tree in tests]
    for source, tree in islice(trees.items(), MOST_FILES):
        own = {function.name: f"{function.module}.{function.name}" for function in functions[source]}
        programs += [(example, own) for example in _read_examples(tree)]
    calls: dict[CalledFunction, dict[str, SampleCall]] = defaultdict(dict)
    for tree, names in programs:
        for node, values in _list_calls(tree):
            found = _resolve(node.func, known, names)
            if found and (call := _read_call(node, values)):
                calls[found][call.given] = call
    return [
        function.model_copy(update={"calls": tuple(sorted(of_one, key=lambda call: -call.size)[:MOST_CALLS])})
        for group in functions.values()
        for function in group
        if (of_one := calls[function].values())
    ]


def _parse_file(project: Project, file: Path) -> ast.Module:
    """A file as a tree; one that cannot be read has nothing in it."""
    try:
        return parse(project.text(file))
    except (OSError, *PARSE_ERRORS):
        return ast.Module([], [])


def _list_functions(project: Project, source: Path, tree: ast.Module) -> Iterator[CalledFunction]:
    """The plain functions that a module defines at its top."""
    folder = source.parent
    while folder != Path() and (project.root / folder / "__init__.py").exists():
        folder = folder.parent
    module = ".".join(source.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield CalledFunction(
                name=node.name,
                module=module,
                folder=folder.as_posix(),
                file=source.as_posix(),
                line=node.lineno,
                parameters=tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args)),
            )


def _read_imports(tree: ast.Module) -> dict[str, str]:
    """From a name in this file to the dotted name behind it."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            home = f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
            names |= {alias.asname or alias.name: (home + alias.name).strip(".") for alias in node.names}
    return names


def _read_examples(tree: ast.Module) -> Iterator[ast.Module]:
    """The examples of all docstrings, each docstring as one small program."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            with contextlib.suppress(ValueError):
                parts = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
                if example := try_parse("".join(part.source for part in parts)):
                    yield example


def _list_calls(tree: ast.Module) -> Iterator[tuple[ast.Call, Mapping[str, Any]]]:
    """Every call with the variables around it that are plain data, once for each row of data."""
    shared = _read_variables(tree.body)
    scopes = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.FunctionDef)]
    for scope in scopes:
        values = shared | _read_variables(scope.body)
        rows = _read_rows(scope.decorator_list) if isinstance(scope, ast.FunctionDef) else [{}]
        calls = [node for node in ast.walk(scope) if isinstance(node, ast.Call)]
        yield from ((call, values | row) for row in rows for call in calls)


def _read_variables(body: list[ast.stmt]) -> dict[str, Any]:
    """Variables that are given plain data once, at the top of a scope."""
    values: dict[str, Any] = {}
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                with contextlib.suppress(ValueError):
                    values[name] = _evaluate(value, values)
    return values


def _resolve(
    node: ast.expr, known: Mapping[str, list[CalledFunction]], names: Mapping[str, str]
) -> CalledFunction | None:
    """The function of the sources that a call's name stands for, by the imports of its file.

    A test may see a module from a folder further up or down, or through a package that hands its function on.
    """
    dotted = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    head = dotted
    while head and head not in names:
        head = head.rpartition(".")[0]
    origin = names[head] + dotted[len(head) :] if head else names.get("*", "*").replace("*", dotted)
    module, _, name = origin.rpartition(".")
    group = known.get(name, []) if module and (head or "*" in names) else []
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
    sizes = [inputs.size(value) for value in given.values() if inputs.has_size(value)]
    written = repr(given)
    if "**" in given or len(written) > MOST_BYTES or not (sizes or any(map(inputs.has_value, given.values()))):
        return None
    return SampleCall(given=written, places=len(node.args), size=1000 * len(sizes) + sum(sizes), line=node.lineno)


def _evaluate(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of an expression that only holds data, `[1] * 5` and `list(range(5))` too, within bounds.

    Raises ValueError for any other.
    """
    try:
        match node:
            case ast.Name(id=name) if name in values:
                return values[name]
            case ast.BinOp(left=one, op=ast.Mult(), right=other):
                pair = (_evaluate(one, values), _evaluate(other, values))
                value, times = sorted(pair, key=lambda item: isinstance(item, int))
                _refuse_long(times * (abs(value) if isinstance(value, int) else len(value)))
                return value * times
            case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]):
                numbers = range(*(_evaluate(argument, values) for argument in arguments))
                _refuse_long(len(numbers))
                return list(numbers)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in MAKERS:
                return MAKERS[name](_evaluate(argument, values))
        value = ast.literal_eval(node)
    except (TypeError, OverflowError, *PARSE_ERRORS) as error:
        raise ValueError("not plain data") from error
    if value is Ellipsis or isinstance(value, complex):  # `repr` would not give it back
        raise ValueError("not plain data")
    return value


def _refuse_long(length: int) -> None:
    if length > MOST_ITEMS:
        raise ValueError("too long")


def _read_rows(decorators: list[ast.expr]) -> list[dict[str, Any]]:
    """The values that `parametrize` gives a test's arguments, row by row; one empty row where it gives none.

    Anything but data is left out of a row.
    """
    found: list[dict[str, Any]] = [{}]
    for decorator in decorators:
        match decorator:
            case ast.Call(
                func=ast.Attribute(attr="parametrize") | ast.Name(id="parametrize"),
                args=[named, ast.List() | ast.Tuple() as rows, *_],
            ):
                with contextlib.suppress(ValueError):
                    listed = _evaluate(named, {})
                    names = [name.strip() for name in listed.split(",")] if isinstance(listed, str) else list(listed)
                    own = [_read_row(names, row) for row in rows.elts[:MOST_ROWS]] or [{}]
                    found = [old | new for old in found for new in own][:MOST_ROWS]
    return found


def _read_row(names: list[str], row: ast.expr) -> dict[str, Any]:
    """The data in one row by the names of its columns."""
    cells = row.elts if len(names) > 1 and isinstance(row, ast.List | ast.Tuple) else [row]
    if isinstance(row, ast.Call) and ast.unparse(row.func).endswith("param"):
        cells = row.args
    values: dict[str, Any] = {}
    for name, cell in zip(names, cells, strict=False):
        with contextlib.suppress(ValueError):
            values[name] = _evaluate(cell, {})
    return values
