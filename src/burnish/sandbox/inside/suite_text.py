"""What the judge reads from the text of the tests: which statements check something, and which names are classes.

Code may catch what a function of the tests raises, and its context managers what a `with` of the tests raises. It must
not make a failed check good in this way, nor one that was never reached.

Which names of the code are classes the task says, or the tests do. The code does not. A class that is asked for may
answer for itself, its operators included. Code that puts a class where a function is asked for gains nothing by it.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from burnish.sandbox.inside.allowed_types import PLAIN_NAMES, PLAIN_SETS
from burnish.sandbox.inside.candidate import list_lines
from burnish.sandbox.inside.explain import FILE, holds

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CHECKING = ("assert", "raises", "warns", "fail")
"""How the names of functions begin that check something."""
CLASS_NAME = re.compile(r"_*[A-Z][A-Za-z0-9]*")
"""How Python writes the names of classes. Where the task says nothing else, tests are taken at this word."""


def is_failure(error: BaseException) -> bool:
    """True for a check of the tests that failed; an assertion of the code's own is none."""
    if isinstance(error, AssertionError):
        return "_line" not in vars(error)
    outcomes = sys.modules.get("_pytest.outcomes")
    return outcomes is not None and isinstance(error, outcomes.OutcomeException)


class SuiteText:
    """The text of the tests, and what the task asks for. Most suites need none of this, so each part is read late."""

    def __init__(self, tests: str, kinds: Mapping[str, str]) -> None:
        self.tests = tests
        self.kinds = kinds
        """What the task asks for: "function" or "class", by name."""

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All of the text, the whole of it first."""
        return list(ast.walk(ast.parse(self.tests)))

    @cached_property
    def uses(self) -> "CodeUses":
        """What the tests take from the code."""
        return CodeUses(self.nodes)

    @cached_property
    def classes(self) -> frozenset[str]:
        """Names that the task calls classes, or that the tests use as such."""
        found = {name for name in self.uses.names if CLASS_NAME.fullmatch(name)} | self.uses.checked
        asked = {name for name, kind in self.kinds.items() if kind == "class"}
        return frozenset(asked | {name for name in found if self.kinds.get(name) != "function"})

    @cached_property
    def helpers(self) -> set[str]:
        """Functions of the tests in which something is checked."""
        found = [node for node in self.nodes if isinstance(node, FUNCTIONS)]
        return {node.name for node in found if any(isinstance(part, ast.Assert) for part in ast.walk(node))}

    def are_skipped(self, error: BaseException, is_block: bool) -> bool:
        """True when the exception kept a check from being reached, in the `with` or the function that it left.

        An exception that the tests raise in so many words does what they want.
        """
        lines = list_lines(error, FILE)
        if not lines or any(isinstance(node, ast.Raise) and holds(node, lines[-1]) for node in self.nodes):
            return False
        kinds = (ast.With,) if is_block else FUNCTIONS
        places = [node for node in self.nodes if isinstance(node, kinds) and holds(node, lines[0])]
        places = [node for node in places if not (isinstance(node, ast.With) and self.has_check(node.items))]
        inner = max(places, key=lambda node: node.lineno, default=None)
        left = [part for part in getattr(inner, "body", ()) if (part.end_lineno or 0) >= lines[0]]
        return self.has_check(left)

    def has_check(self, parts: Sequence[ast.AST]) -> bool:
        """True when one of these has an assert, or a call of what asserts."""
        for node in (node for part in parts for node in ast.walk(part)):
            match node:
                case ast.Assert():
                    return True
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                    if name.startswith(CHECKING) or name in self.helpers:
                        return True
        return False


class CodeUses:
    """What tests take from the code: names that they import from it, or use without binding them themselves."""

    def __init__(self, nodes: list[ast.AST]) -> None:
        self.modules: set[str] = set()
        self.imported: dict[str, str] = {}
        self.bound: set[str] = set()
        for node in nodes:
            self.bind(node)
        self.names = {name for node in nodes for name in self.find_code_names(node)}
        self.checked = {name for node in nodes for name in self.find_checked_names(node)}
        """Names that stand where only a class can stand: behind the comma of `isinstance`."""
        self.object_methods: set[str] = set()
        """Methods whose answers are used as no plain value is: `root.find("a").text`."""
        asked: dict[tuple[str, int, str], set[str]] = {}
        for number, scope in enumerate(split_scopes(nodes)):
            for node, call in find_asked_answers(scope):
                if isinstance(call.func, ast.Attribute) and node.attr not in PLAIN_NAMES:
                    self.object_methods.add(call.func.attr)
                for maker in self.find_code_names(call.func):
                    asked.setdefault((maker, number, ast.unparse(node.value)), set()).add(node.attr)
        self.object_makers = {
            maker
            for (maker, _, _), names in asked.items()
            if not self.object_methods.isdisjoint(names) or not any(names <= known for known in PLAIN_SETS)
        }
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

    def find_code_names(self, node: ast.AST | None) -> Iterator[str]:
        """The code's own name for what an expression names."""
        match node:
            case ast.Name(id=name) if name not in self.bound:
                yield self.imported.get(name, name)
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in self.modules:
                yield name

    def find_checked_names(self, node: ast.AST) -> Iterator[str]:
        """Names of the code among the classes that a node asks about."""
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                for part in ast.walk(kinds):
                    yield from self.find_code_names(part)


def split_scopes(nodes: list[ast.AST]) -> list[list[ast.AST]]:
    """What stands outside of all functions, and all that stands in each."""
    functions = [list(ast.walk(node)) for node in nodes if isinstance(node, FUNCTIONS)]
    inside = {id(part) for function in functions for part in function}
    return [[node for node in nodes if id(node) not in inside], *functions]


def find_asked_answers(scope: list[ast.AST]) -> Iterator[tuple[ast.Attribute, ast.Call]]:
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
