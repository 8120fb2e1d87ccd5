"""A script of asserts as a suite: one case for each top-level assert or `check(…)` call, each run on its own."""

import ast
import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from burnish.sandbox.inside import simple
from burnish.sandbox.inside.channel import Gone
from burnish.sandbox.inside.explain import FAIL, FILE, Explainer, rewrite
from burnish.sandbox.inside.remote import CannotCross
from burnish.sandbox.inside.scope import READERS, STAR, WithoutStars, names_for, used_names

LONGEST_NAME = 100


@dataclass
class Step:
    """One top-level statement; without a name it only prepares."""

    name: str
    code: types.CodeType


class AssertSuite:
    """The statements of a script, and which of them are tests."""

    def __init__(self, tests: str) -> None:
        tree = ast.parse(tests)
        if STAR.search(tests):
            tree = WithoutStars().visit(tree)
        self.tests = tests
        self.explainer = Explainer(tests)
        self.checks = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.steps = [self.step(node) for node in tree.body]
        self.code = [part for step in self.steps for part in simple.all_code(step.code)]
        self.is_simple = all(simple.is_harmless(part) for part in self.code)

    def step(self, node: ast.stmt) -> Step:
        """A statement, compiled."""
        name = self.name_of(node)
        return Step(name, compile(ast.Module([rewrite(node)], []), FILE, "exec", dont_inherit=True))

    def name_of(self, node: ast.stmt) -> str:
        """What a person would call the case: the test as written. Empty when the statement only prepares."""
        if not is_case(node, self.checks):
            return ""
        words = " ".join(self.explainer.written(node.lineno, node.end_lineno or node.lineno).split())
        return f"line {node.lineno}: {words.removeprefix('assert ')}"[:LONGEST_NAME]

    def judge(self, solution: types.ModuleType, say: Callable[..., None]) -> None:
        """Run every statement in order with the code's names in scope, and say what each test said."""
        say(plan=[step.name for step in self.steps if step.name])
        scope = self.scope(solution)
        for step in self.steps:
            started = time.perf_counter()
            why = self.perform(step.code, scope)
            if step.name:
                seconds = round(time.perf_counter() - started, 6)
                say(case={"name": step.name, "passed": not why, "message": why, "seconds": seconds})
            elif why:
                say(problem=f"the tests broke: {why}")
                return

    def scope(self, solution: types.ModuleType) -> dict[str, Any]:
        """The names the script starts with: the code's own."""
        used = {name for part in self.code for name in part.co_names}
        if not used.isdisjoint(READERS):
            used = used_names(self.code)
        tests = types.ModuleType("tests")
        sys.modules["tests"] = tests
        scope = vars(tests)
        scope.update(names_for(solution, used))
        scope[FAIL] = self.explainer.fail
        return scope

    def perform(self, code: types.CodeType, scope: dict[str, Any]) -> str:
        """Run one statement; "" when it went well, else why not."""
        try:
            exec(code, scope)
        except (Gone, CannotCross):
            raise
        except BaseException as error:
            return self.explainer.message(error) or type(error).__name__
        return ""


def is_case(node: ast.stmt, checks: set[str]) -> bool:
    """True for an assert, and for a call of a function that the script defines."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return isinstance(node, ast.Assert)
    called = node.value.func
    return isinstance(called, ast.Name) and called.id in checks
