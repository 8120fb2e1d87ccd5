"""Which names of the code are classes: the task says so, or the tests do. The code does not.

A class that is asked for may answer for itself, its operators included. Code that puts a class where a function is
asked for gains nothing by it.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property

from burnish.sandbox.inside import shapes

CLASS_NAME = re.compile(r"_*[A-Z][A-Za-z0-9]*")
"""How Python writes the names of classes. Where the task says nothing else, tests are taken at this word."""


class Asked:
    """What is known of the code's names before the code is."""

    def __init__(self, tests: str, kinds: Mapping[str, str]) -> None:
        self.tests = tests
        self.kinds = kinds
        """What the task asks for: "function" or "class", by name."""

    @cached_property
    def uses(self) -> "Uses":
        """What the tests take from the code. Most code has no object to ask about, so it is looked up late."""
        return Uses(self.tests)

    @cached_property
    def classes(self) -> frozenset[str]:
        """Names that the task calls classes, or that the tests use as such."""
        found = {name for name in self.uses.names if CLASS_NAME.fullmatch(name)} | self.uses.checked
        asked = {name for name, kind in self.kinds.items() if kind == "class"}
        return frozenset(asked | {name for name in found if self.kinds.get(name) != "function"})


class Uses:
    """What tests take from the code: names that they import from it, or use without binding them themselves."""

    def __init__(self, tests: str) -> None:
        nodes = list(ast.walk(ast.parse(tests)))
        self.modules: set[str] = set()
        self.imported: dict[str, str] = {}
        self.bound: set[str] = set()
        for node in nodes:
            self.bind(node)
        self.names = {name for node in nodes for name in self.code_names(node)}
        self.checked = {name for node in nodes for name in self.type_checks(node)}
        """Names that stand where only a class can stand: behind the comma of `isinstance`."""
        self.object_methods: set[str] = set()
        """Methods whose answers are used as no plain value is: `root.find("a").text`."""
        asked: dict[tuple[str, int, str], set[str]] = {}
        for number, scope in enumerate(split_scopes(tests)):
            for node, call in asked_answers(scope):
                self.note_use(node, call.func, asked, number)
        self.object_makers = {key[0] for key, names in asked.items() if self.is_object(names)}
        """Functions of the code whose answers are asked for what no one plain value has: both `union` and `find`."""

    def bind(self, node: ast.AST) -> None:
        """Note what a node binds, and whether that is the code's."""
        match node:
            case ast.ImportFrom(module="solution", names=names):
                self.imported.update({alias.asname or alias.name: alias.name for alias in names})
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    own = self.modules if alias.name == "solution" else self.bound
                    own.add(alias.asname or alias.name.partition(".")[0])
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                self.bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.bound.add(name)

    def code_names(self, node: ast.AST | None) -> Iterator[str]:
        """The code's own name for what an expression names."""
        match node:
            case ast.Name(id=name) if name not in self.bound:
                yield self.imported.get(name, name)
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in self.modules:
                yield name

    def type_checks(self, node: ast.AST) -> Iterator[str]:
        """Names of the code among the classes that a node asks about."""
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                for part in ast.walk(kinds):
                    yield from self.code_names(part)

    def note_use(
        self, node: ast.Attribute, func: ast.expr, asked: dict[tuple[str, int, str], set[str]], scope: int
    ) -> None:
        """Note what a call's answer is asked for."""
        if isinstance(func, ast.Attribute) and node.attr not in shapes.PLAIN_NAMES:
            self.object_methods.add(func.attr)
        for maker in self.code_names(func):
            asked.setdefault((maker, scope, ast.unparse(node.value)), set()).add(node.attr)

    def is_object(self, names: set[str]) -> bool:
        """True when no plain value has all these attributes, or when the tests use what one of them answers as one."""
        return not self.object_methods.isdisjoint(names) or not any(names <= known for known in shapes.PLAIN_SETS)


def split_scopes(tests: str) -> Iterator[list[ast.AST]]:
    """All that stands in each function, and what stands outside of them."""
    tree = ast.parse(tests)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {id(part) for function in functions for part in ast.walk(function)}
    yield [node for node in ast.walk(tree) if id(node) not in inside]
    yield from (list(ast.walk(function)) for function in functions)


def asked_answers(scope: list[ast.AST]) -> Iterator[tuple[ast.Attribute, ast.Call]]:
    """Attributes of what a call answered, directly or under a name that is bound only once."""
    stored = Counter(node.id for node in scope if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    stored.update(node.arg for node in scope if isinstance(node, ast.arg))
    kept: dict[str, ast.expr] = {}
    for node in scope:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if stored[name] == 1:
                kept[name] = value
    for node in scope:
        if isinstance(node, ast.Attribute):
            source = kept.get(node.value.id) if isinstance(node.value, ast.Name) else node.value
            if isinstance(source, ast.Call):
                yield node, source
