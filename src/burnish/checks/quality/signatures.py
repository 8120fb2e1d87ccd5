"""What the code says about itself: types in the signatures and docstrings, of public names."""

import ast
from collections.abc import Iterator, Sequence

from burnish.checks.finding import Finding
from burnish.checks.quality.module import Function, Module, docstring
from burnish.checks.quality.part import Part

UNSPOKEN = ("overload", "override", "setter", "deleter")
"""Decorators of functions whose docstring stands elsewhere."""


def types(modules: Sequence[Module]) -> Part:
    """The share of parameters and results of public functions that have a type."""
    said, asked, findings = 0, 0, []
    for module in modules:
        for name, function in module.functions:
            if is_public(name) or (name.endswith(".__init__") and is_public(name.removesuffix(".__init__"))):
                missing, all_of_them = _untyped(name, function), len(_typed_places(name, function))
                said, asked = said + all_of_them - len(missing), asked + all_of_them
                if missing:
                    what = f"{name} does not say the type of {', '.join(missing)}."
                    findings.append(_finding(module, function.lineno, what, "types"))
    if not asked:
        return Part("types", None, "there is no public function")
    why = f"{said} of {asked} parameters and results of public functions have a type"
    return Part("types", 100.0 * said / asked, why, tuple(findings))


def docstrings(modules: Sequence[Module]) -> Part:
    """The share of public functions, methods and classes that say what they do."""
    said, asked, findings = 0, 0, []
    for module in modules:
        for name, node in _public_names(module):
            asked += 1
            found = docstring(node)
            if found and ast.literal_eval(found.value).strip():
                said += 1
            else:
                findings.append(_finding(module, node.lineno, f"{name} has no docstring.", "docstring"))
    if not asked:
        return Part("docstrings", None, "there is no public name")
    why = f"{said} of {asked} public functions and classes have a docstring"
    return Part("docstrings", 100.0 * said / asked, why, tuple(findings))


def is_public(name: str) -> bool:
    """Whether no part of a dotted name begins with an underscore."""
    return not any(part.startswith("_") for part in name.split("."))


def _public_names(module: Module) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    for name, function in module.functions:
        spoken = not any(_decorator(d) in UNSPOKEN for d in function.decorator_list)
        if is_public(name) and spoken and not _is_only_declared(function):
            yield name, function
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and is_public(node.name):
            yield node.name, node


def _is_only_declared(function: Function) -> bool:
    """A body of `...` alone, as in a Protocol: the signature says it."""
    only = function.body[0]
    return len(function.body) == 1 and isinstance(only, ast.Expr) and ast.unparse(only) == "..."


def _decorator(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _typed_places(name: str, function: Function) -> list[tuple[str, bool]]:
    """Each place where a type can stand, and whether one does."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args]
    is_method = "." in name and not any(_decorator(d) == "staticmethod" for d in function.decorator_list)
    found = [*named[is_method:], *arguments.kwonlyargs]
    found += [one for one in (arguments.vararg, arguments.kwarg) if one]
    places = [(one.arg, one.annotation is not None) for one in found]
    if not name.endswith("__init__"):
        places.append(("the result", function.returns is not None))
    return places


def _untyped(name: str, function: Function) -> list[str]:
    return [place for place, is_typed in _typed_places(name, function) if not is_typed]


def _finding(module: Module, line: int, what: str, rule: str) -> Finding:
    return Finding(file=module.file, line=line, what=what, rule=rule, severity="low")
