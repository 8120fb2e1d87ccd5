"""Which statements of the tests check something, and whether an exception has passed one over.

Code may catch what a function of the tests raises, and its context managers what a `with` of the tests raises. It must
not make a failed check good in this way, nor one that was never reached.
"""

import ast
import sys
import traceback
from collections.abc import Sequence
from functools import cached_property

from burnish.sandbox.inside.explain import FILE

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CHECKING = ("assert", "raises", "warns", "fail")
"""How the names of functions begin that check something."""


def is_failure(error: BaseException) -> bool:
    """True for a check of the tests that failed; an assertion of the code's own is none."""
    if isinstance(error, AssertionError):
        return "_line" not in vars(error)
    outcomes = sys.modules.get("_pytest.outcomes")
    return outcomes is not None and isinstance(error, outcomes.OutcomeException)


class Checks:
    """The checks in one text of tests."""

    def __init__(self, tests: str) -> None:
        self.tests = tests

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All of the text, read only where an exception was caught."""
        return list(ast.walk(ast.parse(self.tests)))

    @cached_property
    def helpers(self) -> set[str]:
        """Functions of the tests in which something is checked."""
        found = [node for node in self.nodes if isinstance(node, FUNCTIONS)]
        return {node.name for node in found if any(isinstance(part, ast.Assert) for part in ast.walk(node))}

    def are_skipped(self, error: BaseException, is_block: bool) -> bool:
        """True when the exception kept a check from being reached, in the `with` or the function that it left.

        An exception that the tests raise in so many words does what they want.
        """
        lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILE]
        if not lines:
            return False
        if any(isinstance(node, ast.Raise) and holds(node, lines[-1]) for node in self.nodes):
            return False
        kinds = (ast.With,) if is_block else FUNCTIONS
        places = [node for node in self.nodes if isinstance(node, kinds) and holds(node, lines[0])]
        places = [node for node in places if not (isinstance(node, ast.With) and self.has_check(node.items))]
        inner = max(places, key=lambda node: node.lineno, default=None)
        left = [part for part in getattr(inner, "body", ()) if (part.end_lineno or 0) >= lines[0]]
        return self.has_check(left)

    def has_check(self, parts: Sequence[ast.AST]) -> bool:
        """True when something is checked in one of these."""
        return any(self.is_check(node) for part in parts for node in ast.walk(part))

    def is_check(self, node: ast.AST) -> bool:
        """True for an assert and for a call of what asserts."""
        match node:
            case ast.Assert():
                return True
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                return name.startswith(CHECKING) or name in self.helpers
        return False


def holds(node: ast.stmt, line: int) -> bool:
    """Whether a line is in a statement."""
    return node.lineno <= line <= (node.end_lineno or 0)
