"""A pytest file as a suite: collected and run by pytest itself, from memory.

Nothing is read from the job's folder: no test file, no `conftest.py`, no configuration, no plugins.
"""

import ast
import os
import sys
import types
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burnish.sandbox.inside import candidate, explain
from burnish.sandbox.inside.asserts import STAR, StarImportRemover, choose_names, find_used_names, walk_code
from burnish.sandbox.inside.standins import CannotCross, Remote

PLUGINS_OFF = ("cacheprovider", "terminal", "junitxml", "pastebin", "faulthandler", "stepwise", "doctest")
LEAVING = (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)
OPTIONS = ["--noconftest", "--capture=sys", "--assert=plain", "-c", "/dev/null", "--rootdir=.", "-p", "no:warnings"]


class PytestSuite:
    """The text of a pytest file."""

    def __init__(self, tests: str) -> None:
        self.tests = tests

    is_simple = False

    def judge(self, solution: types.ModuleType | None, say: Callable[..., None]) -> None:
        """Let pytest collect and run the file, and say what each test said."""
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        off = [word for name in PLUGINS_OFF for word in ("-p", f"no:{name}")]
        pytest.main([*OPTIONS, *off], plugins=[JudgePlugin(self.tests, say)])


class JudgePlugin:
    """The pytest plugin that hands pytest our file and writes down its reports."""

    def __init__(self, tests: str, say: Callable[..., None]) -> None:
        self.say = say
        self.explainer = explain.Explainer(tests)
        self.case: dict[str, Any] = {}
        """What is known of the test that runs."""

    def pytest_collection(self, session: pytest.Session) -> bool:
        """Collect from memory instead of from disk."""
        module = TestsInMemory.from_parent(session, path=Path("tests.py").absolute())
        module.explainer = self.explainer
        session.items = list(session.genitems(module))
        session.testscollected = len(session.items)
        self.say(plan=[strip_file(item.nodeid) for item in session.items])
        return True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be collected is a problem, not a verdict."""
        if report.failed:
            errors = [line[1:].strip() for line in str(report.longrepr).splitlines() if line.startswith("E")]
            why = "\n".join(errors) or str(report.longrepr)
            self.say(problem=f"the tests cannot be collected: {explain.shorten(why)}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Keep why a phase failed, in our words."""
        error = call.excinfo.value if call.excinfo else None
        # Only tests may skip a test or expect that it fails.
        is_left = isinstance(error, LEAVING) and candidate.find_code_line(error)[0] > 0
        report = yield
        if is_left:
            report.outcome = "failed"
        error = call.excinfo.value if call.excinfo else None  # of a unittest method it is known only now
        if report.failed and error is not None:
            self.case.setdefault("how", explain.name_failure(error))
            self.case.setdefault("message", self.explainer.describe_failure(error))
        if isinstance(error, CannotCross):
            self.case["again"] = str(error)  # here, or before in a fixture that this test has in common with another
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One line a test, after its last phase."""
        if report.when == "call":
            self.case["seconds"] = round(report.duration, 6)
        if report.skipped:
            self.case["skipped"] = True
            self.case.setdefault("message", f"skipped: {explain.shorten(str(report.longrepr))}")
        if report.when == "teardown":
            answer = {"passed": "message" not in self.case, "message": "", **self.case}
            self.say(case={"name": strip_file(report.nodeid), **answer})
            self.case = {}


class TestsInMemory(pytest.Module):
    """A module that pytest did not import from a file."""

    __test__ = False
    explainer: explain.Explainer

    def _getobj(self) -> types.ModuleType:
        module = sys.modules["tests"] = types.ModuleType("tests")
        vars(module).update({"__file__": "tests.py", explain.FAIL: self.explainer.fail})
        tree = ast.parse(self.explainer.source)
        has_star = STAR.search(self.explainer.source) is not None
        if has_star:
            tree = StarImportRemover().visit(tree)
        tree.body[:] = [explain.rewrite(node) for node in tree.body]
        code = compile(tree, explain.FILE, "exec")
        if has_star:
            vars(module).update(choose_names(sys.modules["solution"], find_used_names(walk_code(code))))
        exec(code, vars(module))
        # A function of the code may be called `test…` too, so only what the file defines counts.
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        for name, value in vars(module).items():
            if name.startswith("test") and isinstance(value, Remote) and name in defined:
                value._link.share("the tests decorate a test with something of the code")
        return module


def strip_file(nodeid: str) -> str:
    """The test's own name, with its class but without our file."""
    return nodeid.partition("::")[2] or nodeid


REHEARSAL = """
import pytest, unittest, unittest.mock
@pytest.mark.parametrize("x", [1])
def test_function(x, capsys, tmp_path, monkeypatch):
    with pytest.raises(ValueError):
        raise ValueError
    assert x == pytest.approx(2)
class Case(unittest.TestCase):
    def test_method(self):
        self.assertEqual(1, 1)
"""
