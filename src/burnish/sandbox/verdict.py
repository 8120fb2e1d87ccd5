"""Reads what the judge in a cell wrote. Missing output is a failure, never a pass."""

import ast
import math
import re
import signal
from collections import Counter
from dataclasses import dataclass
from typing import Any

from burnish.events import Case, Graded, Outcome
from burnish.jsonlines import parse_json_lines
from burnish.parsing import parse
from burnish.sandbox.cell import Ended
from burnish.sandbox.inside.asserts import is_case

MOST_BYTES = 16 * 1024 * 1024
LONGEST_MESSAGE = 1000
MIXED = "the answers of the tests do not fit their plan"
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ENDED_BY = {
    "cpu": "the time limit was reached",
    "wall": "the time limit was reached (waiting, not computing)",
    "cell": "the job ended the sandbox it ran in, mostly by taking all memory that it has",
}
"""Why a job did not come to its own end, in words."""


REACHES_IN = re.compile(
    r"\b(?:import|from)\s+(?:unittest\.mock|mock|inspect|asyncio|importlib|dataclasses|threading|concurrent|subprocess"
    r"|multiprocessing|pickle|weakref|gc|types)\b|\bunittest\s+import\s+mock"
    r"|\b(?:monkeypatch|mocker|caplog|capfd|recwarn|warns|assertWarns|catch_warnings)\b|\bawait\b|\bsys\.modules\b|\bglobals\(\)"
)
"""Words of tests that reach into the process of the code, which therefore must be theirs."""
MAY_BE_PYTEST = re.compile(r"^(async\s+)?def\s+test|^class\s", re.M)
"""Without one of these a text holds nothing that pytest would collect."""


@dataclass(frozen=True)
class Style:
    """What kind of tests a text holds."""

    pytest: bool = False
    shared: bool = False
    """True when the tests cannot be told apart from the code: both run in one process, and the verdict is labelled."""
    problem: str = ""


def style_of(tests: str) -> Style:
    """Is it a pytest file or a script of asserts, and can it judge from another process?"""
    shared = REACHES_IN.search(tests) is not None
    if not MAY_BE_PYTEST.search(tests):
        return Style(shared=shared)
    try:
        tree = parse(tests)
    except UNREADABLE as error:
        return Style(problem=f"the tests cannot be read: {type(error).__name__}: {error}")
    return Style(pytest=any(is_test(node) for node in tree.body), shared=shared)


def is_test(node: ast.stmt) -> bool:
    """True for what pytest would collect: a test function, a Test class, a TestCase."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name.startswith("test")
    if isinstance(node, ast.ClassDef):
        return node.name.startswith("Test") or any("TestCase" in ast.unparse(base) for base in node.bases)
    return False


def expected_cases(tests: str, is_pytest: bool) -> Counter[str]:
    """How many answers each test must give at least, read from the text alone: nothing that code does can change it.

    A pytest file says so for each of its functions and methods (`TestIt::test_a`), a script for each line (`line 3`).
    """
    try:
        tree = parse(tests)
    except UNREADABLE:
        return Counter()
    if not is_pytest:
        checks = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        return Counter(f"line {node.lineno}" for node in tree.body if is_case(node, checks))
    found: Counter[str] = Counter()
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and is_test(node):
            methods = {one.name: one for one in node.body if isinstance(one, FUNCTIONS)}
            named = methods if methods.keys().isdisjoint(("__init__", "__new__")) else {}
            found |= {f"{node.name}::{name}": count_cases(one, node) for name, one in named.items() if is_test(one)}
        elif isinstance(node, FUNCTIONS) and is_test(node):
            found[node.name] = count_cases(node)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    kept = {name: count for name, count in found.items() if name.partition("::")[0] not in bound}
    return Counter(kept if "__test__" not in tests else {})  # a test may be deleted, replaced or switched off


def count_cases(*nodes: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    """How many tests the marks on a function and its class make of it; 0 where something else may become of it."""
    count = 1
    for mark in (mark for node in nodes for mark in node.decorator_list):
        words = ast.unparse(mark.func if isinstance(mark, ast.Call) else mark)
        if not words.startswith(("pytest.mark.", "unittest.", "mock.", "patch")):
            return 0
        if isinstance(mark, ast.Call) and words == "pytest.mark.parametrize" and len(mark.args) > 1:
            values = mark.args[1].elts if isinstance(mark.args[1], ast.List | ast.Tuple) else []
            count *= 1 if any(isinstance(value, ast.Starred) for value in values) else len(values) or 1
    return count


def must_share(ended: Ended) -> str:
    """Why the judge found on the way that it needs the code in its own process; "" when it does not."""
    facts = lines_of(ended)
    marked = (fact["case"]["again"] for fact in facts if "case" in fact and "again" in fact["case"])
    return str(found(facts, "again") or next(marked, ""))


def decided(ended: Ended, nonce: str) -> Graded:
    """What was judged from another process, without the cases that need the code in their own."""
    whole = read(ended, nonce)
    facts = lines_of(ended)
    if found(facts, "again"):
        whole = whole.model_copy(update={"problem": "", "cases": whole.cases[: sum("case" in fact for fact in facts)]})
    again = {str(fact["case"]["name"]) for fact in facts if "case" in fact and "again" in fact["case"]}
    return whole.model_copy(update={"cases": tuple(case for case in whole.cases if case.name not in again)})


def together(apart: Graded, shared: Graded) -> Graded:
    """One verdict of two: what was decided apart stays as it is, whatever was said where the code could reach."""
    known = {case.name: case for case in sorted(apart.cases, key=lambda case: case.outcome != "passed")}
    names = {case.name for case in shared.cases}
    cases = [known.get(case.name, case) for case in shared.cases]
    return Graded(
        cases=(*cases, *(case for case in apart.cases if case.name not in names)),
        problem=apart.problem or shared.problem,
        timed_out=apart.timed_out or shared.timed_out,
        broke_cell=apart.broke_cell or shared.broke_cell,
        separated=False,
        shared=sum(case.name not in known for case in shared.cases),
        seconds=apart.seconds + shared.seconds,
    )


def read(ended: Ended, nonce: str, expected: Counter[str] | None = None) -> Graded:
    """The verdict on a whole suite, from the judge's own lines and from how the job ended.

    Where code could write such lines too, `expected` says which tests must be among them.
    """
    facts = lines_of(ended)
    plan: list[str] = found(facts, "plan") or []
    cases = [case_of(fact["case"]) for fact in facts if "case" in fact]
    problem = why(ended, facts, nonce)
    left = list((Counter(plan) - Counter(case.name for case in cases)).elements())
    cases += [missing(name, problem, is_first=n == 0) for n, name in enumerate(left)]
    if expected and cases and not problem:
        answered = Counter(re.split(r"\[|: ", case.name)[0] for case in cases)
        cases += [missing(name, "", is_first=True) for name in (expected - answered).elements()]
    return Graded(
        cases=tuple(cases),
        problem=problem,
        timed_out=ended.timed_out,
        broke_cell=ended.broke_cell,
        separated=not found(facts, "shared"),
        shared=len(cases) if found(facts, "shared") else 0,
        seconds=ended.seconds,
    )


def missing(name: str, problem: str, is_first: bool) -> Case:
    """A test that gave no answer: the first was under way when the end came, the others did not begin."""
    why_not = problem or "the tests ended before this one"
    return Case(name=name, outcome="failed" if is_first else "not_run", message=why_not)


def lines_of(ended: Ended) -> list[dict[str, Any]]:
    """What the judge said, line by line; what is not a fact is left out, and what only looks like one is a problem."""
    return [fact if is_sound(fact) else {"problem": MIXED} for fact in parse_json_lines(ended.said.splitlines())]


def is_sound(fact: dict[str, Any]) -> bool:
    """True when the parts of a fact are what they must be."""
    plan, case = fact.get("plan", []), fact.get("case", {"name": "", "passed": False})
    if not isinstance(case, dict) or not {"name", "passed"} <= case.keys() or not isinstance(plan, list):
        return False
    seconds = case.get("seconds", 0.0)
    return all(isinstance(name, str) for name in plan) and isinstance(seconds, float | int) and math.isfinite(seconds)


def found(facts: list[dict[str, Any]], key: str) -> Any:
    """The first fact of that kind, or None."""
    return next((fact[key] for fact in facts if key in fact), None)


def case_of(entry: dict[str, Any]) -> Case:
    """One test's answer; a skipped test has none."""
    failed: Outcome = "not_run" if entry.get("skipped") is True else "failed"
    return Case(
        name=str(entry["name"]),
        outcome="passed" if entry["passed"] is True else failed,
        message=str(entry.get("message", ""))[:LONGEST_MESSAGE],
        seconds=float(entry.get("seconds", 0.0)),
    )


def why(ended: Ended, facts: list[dict[str, Any]], nonce: str) -> str:
    """Why the verdict is not whole; "" when it is."""
    broken, problem = found(facts, "broken"), found(facts, "problem")
    if broken:
        return f"the code cannot be imported: {broken}"
    if ended.over:
        return ENDED_BY[ended.over]
    if problem:
        return str(problem)
    if any(fact.get("end") == nonce for fact in facts):
        return "" if fits_plan(facts) else MIXED
    if ended.exit_code < 0:
        return f"the tests were killed by {signal.Signals(-ended.exit_code).name}"
    return "the tests ended before they gave a verdict"


def fits_plan(facts: list[dict[str, Any]]) -> bool:
    """True when there is one plan, no answer that it does not foresee, and nothing after the end."""
    plans = [fact["plan"] for fact in facts if "plan" in fact]
    answers = Counter(str(fact["case"]["name"]) for fact in facts if "case" in fact)
    return len(plans) <= 1 and not answers - Counter(plans[0] if plans else ()) and "end" in facts[-1]
