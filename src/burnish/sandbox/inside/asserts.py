"""A script of asserts as a suite: one case for each top-level assert or `check(…)` call, each run on its own."""

import ast
from collections.abc import Callable
from typing import Any

from burnish.sandbox.inside import explain


class AssertSuite:
    """The statements of a script, those that test among them."""

    def __init__(self, tests: str) -> None:
        self.tests = tests
        self.tree = ast.parse(tests)

    def judge(self, names: dict[str, Any], say: Callable[..., None]) -> None:
        """Run every statement in order with `names` in scope, and say what each test said."""
        scope = {"__name__": "tests", **{k: v for k, v in names.items() if not k.startswith("__")}}
        explain.install(scope)
        steps = [self.step(node) for node in self.tree.body]
        say(plan=[name for name, _ in steps if name])
        for name, node in steps:
            module = ast.fix_missing_locations(ast.Module([explain.Explained(self.tests).visit(node)], []))
            try:
                exec(compile(module, "tests.py", "exec"), scope)
            except Exception as error:
                if name:
                    say(case={"name": name, "passed": False, "message": explain.message(error, self.tests)})
                    continue
                say(problem=f"the tests broke at line {node.lineno}: {explain.message(error, self.tests)}")
                return
            if name:
                say(case={"name": name, "passed": True})

    def step(self, node: ast.stmt) -> tuple[str, ast.stmt]:
        """The name of the case a statement is, "" when it only prepares."""
        if isinstance(node, ast.Assert):
            return f"line {node.lineno}: {ast.unparse(node.test)}"[:80], node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return ast.unparse(node)[:80], node
        return "", node
