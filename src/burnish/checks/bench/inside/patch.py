"""Puts a version in place of a function, in a live process or while its module is being loaded.

Modules are loaded as they are, but for one call at the start of each function that has versions: it notes that the
function ran. A version is only another code object for the same function object, so every name, table and subclass
that holds the function has the version too, and signatures, line numbers and stack depth stay as they were.
"""

# ruff: noqa: B905, PTH118, UP007

from __future__ import annotations
import __future__

import ast
import builtins
import gc
import os
from collections.abc import Sequence
from types import CodeType, FunctionType
from typing import Any, Union

from .import_override import FileFinder, Loader, real_path

HIT = "__burnish_hit__"
FUTURE = 0
for _name in __future__.all_feature_names:
    FUTURE |= getattr(__future__, _name).compiler_flag

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
Version = dict[str, Any]
Live = dict[tuple[str, str, int], list[FunctionType]]


class Hook(FileFinder):
    """Serves the files that have versions, whatever name they are imported by; knows which functions ran."""

    def __init__(self, functions: Sequence[Version], root: str) -> None:
        self.root = root
        self.hits: set[int] = set()
        self.active: Version | None = None
        self.numbers: dict[str, dict[int, int]] = {}
        """File, line of the `def`, number of the function."""
        for function in functions:
            self.numbers.setdefault(self.path(function), {})[function["line"]] = function["number"]
        self.paths = self.numbers
        setattr(builtins, HIT, self.hits.add)

    def path(self, of: Version) -> str:
        """Where the file lies, links resolved."""
        return str(real_path(os.path.join(self.root, of["file"])))

    def read_source(self, loader: Loader) -> ast.Module:
        """A file's tree, with a note at the start of each function, and the active version in its place."""
        tree: ast.Module = ast.parse(loader.get_data(loader.path), loader.path)
        numbers = self.numbers[str(real_path(loader.path))]
        for node in functions_of(tree):
            number = numbers.get(node.lineno)
            if number is not None:
                if self.active and self.active["number"] == number:
                    version = parse_function(self.active, "text")
                    node.body, node.args = version.body, version.args
                insert_note(node, number)
        return tree


def functions_of(tree: ast.Module) -> list[Function]:
    """Functions, and methods of classes, at the top of a module."""
    found: list[Function] = []
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        found += [member for member in members if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return found


def insert_note(node: Function, number: int) -> None:
    """Begin the function with a note that it ran, after its docstring."""
    after = 1 if ast.get_docstring(node, clean=False) is not None else 0
    call = ast.Call(ast.Name(HIT, ast.Load()), [ast.Constant(number)], [])
    beside = node.body[min(after, len(node.body) - 1)]
    note = ast.copy_location(ast.Expr(call), beside)
    node.body.insert(after, ast.fix_missing_locations(note))


def parse_function(version: Version, which: str) -> Function:
    """The function before ("was") or after ("text") the change, at its lines in the file."""
    node = ast.parse("\n" * (version["first"] - 1) + version[which]).body[0]
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    return node


def live_functions(hook: Hook) -> Live:
    """Every function of the files with versions that is loaded, by file, name and first line; often more than one."""
    found: Live = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType and real_path(thing.__code__.co_filename) in hook.numbers:
            code = thing.__code__
            found.setdefault((str(real_path(code.co_filename)), code.co_name, code.co_firstlineno), []).append(thing)
    return found


def activate(version: Version, hook: Hook, live: Live) -> None:
    """Make the version what runs from now on. Raises ValueError where only loading the module anew would do."""
    node, before = parse_function(version, "text"), parse_function(version, "was")
    first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
    hook.active = version
    for function in live.get((hook.path(version), node.name, first), []):
        function.__defaults__, function.__kwdefaults__ = make_defaults(function, before.args, node.args)
        function.__code__ = make_code(function, node, version["owner"])


def make_code(function: FunctionType, node: Function, owner: str) -> CodeType:
    """The version's code, compiled as the function's was: in its class, with its future, with as many free names."""
    path, flags = function.__code__.co_filename, function.__code__.co_flags & FUTURE
    body: list[ast.stmt] = [node]
    if owner:
        around = ast.parse(f"class {owner}: pass").body[0]
        assert isinstance(around, ast.ClassDef)
        around.body, body = [node], [around]
    code: CodeType = compile(ast.Module(body, []), path, "exec", flags, dont_inherit=True)
    for name in (owner, node.name) if owner else (node.name,):
        code = next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == name)
    free = function.__code__.co_freevars
    return code.replace(co_freevars=free) if len(code.co_freevars) < len(free) else code


def make_defaults(function: FunctionType, before: ast.arguments, after: ast.arguments) -> tuple[Any, Any]:
    """The function's default values, those that the version changes evaluated anew."""
    values = list(function.__defaults__ or ())
    for place, (old, new) in enumerate(zip(before.defaults, after.defaults)):
        if ast.dump(old) != ast.dump(new):
            values[place] = evaluate(new, function)
    named = dict(function.__kwdefaults__ or {})
    for argument, was, now in zip(after.kwonlyargs, before.kw_defaults, after.kw_defaults):
        if was is not None and now is not None and ast.dump(was) != ast.dump(now):
            named[argument.arg] = evaluate(now, function)
    return tuple(values) or None, named or None


def evaluate(node: ast.expr, function: FunctionType) -> Any:
    """What a simple expression is worth in the function's module."""
    return eval(compile(ast.Expression(node), function.__code__.co_filename, "eval"), function.__globals__)
