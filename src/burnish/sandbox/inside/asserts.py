"""A script of asserts as a suite: one case for each top-level assert or `check(…)` call, each run on its own."""

import ast
import sys
import types
from collections.abc import Callable
from typing import Any

from burnish.sandbox.inside.channel import Gone
from burnish.sandbox.inside.explain import FAIL, FILE, Explained, Explainer
from burnish.sandbox.inside.remote import CannotCross, Solution

LONGEST_NAME = 100


class AssertSuite:
    """The statements of a script, and which of them are tests."""

    def __init__(self, tests: str) -> None:
        self.tree = ast.parse(tests)
        self.used = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
        self.explainer = Explainer(tests)
        self.checks = {node.name for node in self.tree.body if isinstance(node, ast.FunctionDef)}

    def judge(self, solution: types.ModuleType, say: Callable[..., None]) -> None:
        """Run every statement in order with the code's names in scope, and say what each test said."""
        steps = [(self.name_of(node), node) for node in self.tree.body]
        say(plan=[name for name, _ in steps if name])
        scope = self.scope(solution)
        for name, node in steps:
            why = self.perform(node, scope)
            if name:
                say(case={"name": name, "passed": not why, "message": why})
            elif why:
                say(problem=f"the tests broke: {why}")
                return

    def scope(self, solution: types.ModuleType) -> dict[str, Any]:
        """The names the script starts with: the code's own."""
        names = solution.names_for(self.used) if isinstance(solution, Solution) else vars(solution)
        tests = types.ModuleType("tests")
        sys.modules["tests"] = tests
        scope = vars(tests)
        scope.update({name: value for name, value in names.items() if not name.startswith("__")})
        scope[FAIL] = self.explainer.fail
        return scope

    def perform(self, node: ast.stmt, scope: dict[str, Any]) -> str:
        """Run one statement; "" when it went well, else why not."""
        module = ast.fix_missing_locations(ast.Module([Explained().visit(node)], []))
        try:
            exec(compile(module, FILE, "exec"), scope)
        except (Gone, CannotCross):
            raise
        except BaseException as error:
            return self.explainer.message(error)
        return ""

    def name_of(self, node: ast.stmt) -> str:
        """What a person would call the case: the test as written. Empty when the statement only prepares."""
        is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        is_check = is_call and isinstance(node.value.func, ast.Name) and node.value.func.id in self.checks  # type: ignore[attr-defined]
        if not isinstance(node, ast.Assert) and not is_check:
            return ""
        words = " ".join(self.explainer.written(node.lineno, node.end_lineno or node.lineno).split())
        return f"line {node.lineno}: {words.removeprefix('assert ')}"[:LONGEST_NAME]
