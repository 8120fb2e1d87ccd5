"""Reads what the judge in a cell wrote. Missing output is a failure, never a pass."""

import ast
import json
import signal
from dataclasses import dataclass
from typing import Any

from burnish.events import Case, Graded
from burnish.sandbox.cell import Ended

MOST_BYTES = 16 * 1024 * 1024
LONGEST_MESSAGE = 1000


@dataclass(frozen=True)
class Style:
    """What kind of tests a text holds."""

    pytest: bool = False
    problem: str = ""


def style_of(tests: str) -> Style:
    """Is it a pytest file or a script of asserts?"""
    try:
        tree = ast.parse(tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Style(problem=f"the tests cannot be read: {type(error).__name__}: {error}")
    return Style(pytest=any(is_test(node) for node in tree.body))


def is_test(node: ast.stmt) -> bool:
    """True for what pytest would collect: a test function, a Test class, a TestCase."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name.startswith("test")
    if isinstance(node, ast.ClassDef):
        return node.name.startswith("Test") or any("TestCase" in ast.unparse(base) for base in node.bases)
    return False


def read(ended: Ended, nonce: str) -> Graded:
    """The verdict on a whole suite, from the judge's own lines and from how the job ended."""
    lines = [line for line in (parsed(raw) for raw in ended.said.splitlines()) if line]
    plan: list[str] = next((line["plan"] for line in lines if "plan" in line), [])
    said = [line["case"] for line in lines if "case" in line]
    end = next((line for line in lines if line.get("end") == nonce), None)
    problem = next((line["problem"] for line in lines if "problem" in line), "")
    if end is None:
        problem = problem or why(ended)
    cases = [case_of(entry) for entry in said]
    cases += [missing(name, ended) for name in plan[len(cases) :]]
    return Graded(
        cases=tuple(cases),
        problem=problem,
        timed_out=bool(ended.over),
        separated=not any(line.get("shared") for line in lines),
        seconds=ended.seconds,
    )


def parsed(raw: bytes) -> dict[str, Any]:
    """One line of the judge's, or nothing if it is not one."""
    try:
        line = json.loads(raw)
    except ValueError:
        return {}
    return line if isinstance(line, dict) else {}


def case_of(entry: dict[str, Any]) -> Case:
    """One test's answer."""
    return Case(
        name=str(entry["name"]),
        outcome="passed" if entry["passed"] is True else "failed",
        message=str(entry.get("message", ""))[:LONGEST_MESSAGE],
        seconds=float(entry.get("seconds", 0.0)),
    )


def missing(name: str, ended: Ended) -> Case:
    """A test that was planned and never answered."""
    return Case(name=name, outcome="failed", message=why(ended))


def why(ended: Ended) -> str:
    """Why the judge did not finish."""
    if ended.over:
        return "the time limit was reached"
    if ended.exit_code < 0:
        return f"the tests were killed by {signal.Signals(-ended.exit_code).name}"
    return "the tests ended before they gave a verdict"
