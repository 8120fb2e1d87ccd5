"""Puts a mutant in place of a function, in a live process or while its module is being loaded.

Modules are loaded as they are, but for one call at the start of each function that has mutants: it notes that the
function ran. A mutant is only another code object for the same function object, so every name, table and subclass
that holds the function has the mutant too, and signatures, line numbers and stack depth stay as they were.
"""

# ruff: noqa: B905, PTH100, PTH102, PTH103, PTH108, PTH110, PTH109, PTH118, PTH123, SIM115, UP007, UP035, UP045

import __future__

import ast
import builtins
import gc
import os
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any, Optional, Union

HIT = "__burnish_hit__"
FUTURE = 0
for _name in __future__.all_feature_names:
    FUTURE |= getattr(__future__, _name).compiler_flag

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
Mutant = dict[str, Any]
real = lru_cache(maxsize=None)(os.path.realpath)


class Hook(MetaPathFinder):
    """Serves the files that have mutants, whatever name they are imported by; knows which functions ran."""

    def __init__(self, functions: Sequence[Mutant], root: str) -> None:
        self.root = root
        self.hits: set[int] = set()
        self.active: Optional[Mutant] = None
        self.numbers: dict[str, dict[int, int]] = {}
        """File, line of the `def`, number of the function."""
        for function in functions:
            self.numbers.setdefault(self.path(function), {})[function["line"]] = function["number"]
        setattr(builtins, HIT, self.hits.add)

    def path(self, of: Mutant) -> str:
        """Where the file lies, links resolved."""
        return str(real(os.path.join(self.root, of["file"])))

    def be_first(self) -> None:
        """Go before every other finder, those of pytest too."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        """The module's own spec with our loader, for files that have mutants; None for all others."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or real(spec.origin) not in self.numbers:
            return None
        spec.loader = Loader(fullname, spec.origin, self)
        return spec

    def tree(self, data: Any, path: str) -> ast.Module:
        """A file's tree, with a note at the start of each function, and the active mutant in its place."""
        tree: ast.Module = ast.parse(data, path)
        numbers = self.numbers[str(real(path))]
        for node in functions_of(tree):
            number = numbers.get(node.lineno)
            if number is not None:
                if self.active and self.active["number"] == number:
                    replace(node, parsed(self.active, "text"))
                take_note(node, number)
        return tree


class Loader(SourceFileLoader):
    """Loads a file from its text, never from a cache, through the hook."""

    def __init__(self, fullname: str, path: str, hook: Hook) -> None:
        super().__init__(fullname, path)
        self.hook = hook

    def get_code(self, fullname: str) -> CodeType:
        """The module's code."""
        tree = self.hook.tree(self.get_data(self.path), self.path)
        code: CodeType = compile(tree, self.path, "exec", dont_inherit=True)
        return code


def functions_of(tree: ast.Module) -> list[Function]:
    """Functions, and methods of classes, at the top of a module."""
    found: list[Function] = []
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        found += [member for member in members if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return found


def replace(node: Function, by: Function) -> None:
    """Another body and other defaults for the same function."""
    node.body, node.args = by.body, by.args


def take_note(node: Function, number: int) -> None:
    """Begin the function with a note that it ran, after its docstring."""
    after = 1 if ast.get_docstring(node, clean=False) is not None else 0
    call = ast.Call(ast.Name(HIT, ast.Load()), [ast.Constant(number)], [])
    beside = node.body[min(after, len(node.body) - 1)]
    note = ast.copy_location(ast.Expr(call), beside)
    node.body.insert(after, ast.fix_missing_locations(note))


def parsed(mutant: Mutant, which: str) -> Function:
    """The function before ("was") or after ("text") the change, at its lines in the file."""
    node = ast.parse("\n" * (mutant["first"] - 1) + mutant[which]).body[0]
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    return node


def live_functions(hook: Hook) -> dict[tuple[str, str, int], list[FunctionType]]:
    """Every function of the files with mutants that is loaded, by file, name and first line; often more than one."""
    found: dict[tuple[str, str, int], list[FunctionType]] = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType and real(thing.__code__.co_filename) in hook.numbers:
            code = thing.__code__
            found.setdefault((str(real(code.co_filename)), code.co_name, code.co_firstlineno), []).append(thing)
    return found


def activate(mutant: Mutant, hook: Hook, live: dict[tuple[str, str, int], list[FunctionType]]) -> None:
    """Make the mutant what runs from now on. Raises ValueError where only loading the module anew would do."""
    node, before = parsed(mutant, "text"), parsed(mutant, "was")
    first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
    hook.active = mutant
    for function in live.get((hook.path(mutant), node.name, first), []):
        function.__defaults__, function.__kwdefaults__ = defaults(function, before.args, node.args)
        function.__code__ = code_for(function, node, mutant["owner"])


def code_for(function: FunctionType, node: Function, owner: str) -> CodeType:
    """The mutant's code, compiled as the function's was: in its class, with its future, with as many free names."""
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


def defaults(function: FunctionType, before: ast.arguments, after: ast.arguments) -> tuple[Any, Any]:
    """The function's default values, those that the mutant changes evaluated anew."""
    values = list(function.__defaults__ or ())
    for place, (old, new) in enumerate(zip(before.defaults, after.defaults)):
        if ast.dump(old) != ast.dump(new):
            values[place] = value(new, function)
    named = dict(function.__kwdefaults__ or {})
    for argument, was, now in zip(after.kwonlyargs, before.kw_defaults, after.kw_defaults):
        if was is not None and now is not None and ast.dump(was) != ast.dump(now):
            named[argument.arg] = value(now, function)
    return tuple(values) or None, named or None


def value(node: ast.expr, function: FunctionType) -> Any:
    """What a simple expression is worth in the function's module."""
    return eval(compile(ast.Expression(node), function.__code__.co_filename, "eval"), function.__globals__)
