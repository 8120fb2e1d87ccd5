"""What tests are, read from their text, and what the judge in a cell wrote about them.

Missing output is a failure, never a pass.
"""

import ast
import math
import re
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from burnish.events import Case, Failure, Graded
from burnish.jsonlines import parse_json_lines
from burnish.parsing import try_parse
from burnish.sandbox.cell import JobEnd
from burnish.sandbox.inside.asserts import is_case
from burnish.tasks.source import find_bound_names

MOST_BYTES = 16 * 1024 * 1024
LONGEST_MESSAGE = 1000
MIXED = "the answers of the tests do not fit their plan"
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
SPLITS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.Assert)
"""Statements that the others can do without if they use no name of theirs."""
LOADERS = ("__import__", "importorskip", "import_module")
EVERYWHERE = ("autouse", "pytestmark", "pytest_generate_tests", "conftest")
"""Words of statements that bear on tests which do not name them."""
MAY_BE_PYTEST = re.compile(r"^(async\s+)?def\s+test|^class\s", re.M)
"""Without one of these a text holds nothing that pytest would collect."""


def is_pytest_file(tests: str) -> bool:
    """Whether it is a pytest file; else it is a script of asserts, or the judge says what is wrong with it."""
    tree = try_parse(tests) if MAY_BE_PYTEST.search(tests) else None  # most scripts need not be parsed
    return tree is not None and any(is_test(node) for node in tree.body)


def is_test(node: ast.stmt) -> bool:
    """True for what pytest would collect: a test function, a Test class, a TestCase."""
    if isinstance(node, ast.ClassDef):
        return node.name.startswith("Test") or any("TestCase" in ast.unparse(base) for base in node.bases)
    return isinstance(node, FUNCTIONS) and node.name.startswith("test")


def count_expected_cases(tests: str, is_pytest: bool) -> Counter[str]:
    """How many answers each test must give at least, read from the text alone: nothing that code does can change it.

    A pytest file says so for each of its functions and methods (`TestIt::test_a`), a script for each line (`line 3`).
    """
    tree = try_parse(tests) or ast.Module([], [])
    if not is_pytest:
        checks = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        return Counter(f"line {node.lineno}" for node in tree.body if is_case(node, checks))
    found: Counter[str] = Counter()
    for node in filter(is_test, tree.body):
        if isinstance(node, ast.ClassDef):
            methods = {one.name: one for one in node.body if isinstance(one, FUNCTIONS)}
            named = methods if methods.keys().isdisjoint(("__init__", "__new__")) else {}
            found |= {f"{node.name}::{name}": count_cases(one, node) for name, one in named.items() if is_test(one)}
        elif isinstance(node, FUNCTIONS):
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


def blank_package_tests(tests: str, layer: Path) -> str:
    """The text with an empty line for every line that uses a package of the layer; "" where that cannot be told apart.

    No line moves, so each test keeps its name.
    """
    tree = try_parse(tests)
    if tree is None:
        return tests  # the judge says what is wrong with it
    body = tree.body
    needing = find_package_users(body, layer)
    if any(not isinstance(node, SPLITS) or find_words(node) & {*EVERYWHERE} for node in needing):
        return ""
    lines = tests.split("\n")
    for node in needing:
        first, last = find_span(node)
        if any(find_span(other)[0] <= last and first <= find_span(other)[1] for other in body if other not in needing):
            return ""
        lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(lines) if "".join(lines).strip() else ""


def find_package_users(body: list[ast.stmt], layer: Path) -> list[ast.stmt]:
    """The statements that import a package of the layer, and those that use a name which such a statement binds."""
    others = sys.stdlib_module_names | {"solution", "pytest"}
    found = [
        node
        for node in body
        if any((layer / name).exists() or any(layer.glob(f"{name}.*")) for name in find_imports(node) - others)
    ]
    while True:
        bound = {name for node in found if not isinstance(node, ast.Assert) for name in find_bound_names(node)}
        more = [node for node in body if node in found or find_words(node) & bound]
        if len(more) == len(found):
            return found
        found = more


def find_imports(node: ast.AST) -> set[str]:
    """The first part of every module that is imported somewhere in a statement."""
    found: list[str] = []
    for part in ast.walk(node):
        match part:
            case ast.Import(names=names):
                found += [alias.name for alias in names]
            case ast.ImportFrom(module=str(module)):
                found.append(module)
            case ast.Call(func=called, args=args) if ast.unparse(called).rpartition(".")[2] in LOADERS:
                found += [one.value for one in args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return {name.partition(".")[0] for name in found} - {""}


def find_words(node: ast.stmt) -> set[str]:
    """Every word of a statement that may mean something of the file: names, arguments (fixtures), texts."""
    parts = [part for part in ast.walk(node) if not isinstance(part, ast.Attribute | ast.alias)]
    return {word for part in parts for _, word in ast.iter_fields(part) if isinstance(word, str)}


def find_span(node: ast.stmt) -> tuple[int, int]:
    """The first line of a statement, with its decorators, and its last."""
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
    return first, node.end_lineno or node.lineno


class JudgeReport:
    """What the judge said, line by line, and how the job ended.

    What is not a fact is left out, and what only looks like one is a problem.
    """

    def __init__(self, ended: JobEnd, nonce: str) -> None:
        self.ended = ended
        self.nonce = nonce
        self.facts: list[dict[str, Any]] = [
            fact if is_sound(fact) else {"problem": MIXED} for fact in parse_json_lines(ended.output.splitlines())
        ]
        self.cases: list[dict[str, Any]] = [fact["case"] for fact in self.facts if "case" in fact]

    def find(self, key: str) -> Any:
        """The first fact of that kind, or None."""
        return next((fact[key] for fact in self.facts if key in fact), None)

    @property
    def must_share(self) -> bool:
        """Whether the judge found on the way that it needs the code in its own process."""
        return bool(self.find("again")) or any(case.get("again") for case in self.cases)

    def read_verdict(self, expected: Counter[str] | None = None) -> Graded:
        """The verdict on a whole suite, from the judge's own lines and from how the job ended.

        Where code could write such lines too, `expected` says which tests must be among them.
        """
        plan: list[str] = self.find("plan") or []
        cases = [
            Case(
                name=str(entry["name"]),
                outcome="passed"
                if entry["passed"] is True
                else "not_run"
                if entry.get("skipped") is True
                else "failed",
                message=str(entry.get("message", ""))[:LONGEST_MESSAGE],
                seconds=float(entry.get("seconds", 0.0)),
                how=entry["how"] if entry.get("how") in ("wrong_value", "raised") else "",
            )
            for entry in self.cases
        ]
        problem = self.explain_problem()
        why = problem or "the tests ended before this one"
        how: Failure = "timed_out" if self.ended.timed_out else "ended"
        # Of the tests without an answer the first was under way when the end came, the others did not begin.
        for number, name in enumerate((Counter(plan) - Counter(case.name for case in cases)).elements()):
            cases.append(
                Case(name=name, outcome="not_run", message=why)
                if number
                else Case(name=name, outcome="failed", message=why, how=how)
            )
        if expected and cases and not problem:
            answered = Counter(re.split(r"\[|: ", case.name)[0] for case in cases)
            missing = (expected - answered).elements()
            cases += [Case(name=name, outcome="failed", message=why, how=how) for name in missing]
        is_shared = bool(self.find("shared"))
        return Graded(
            cases=tuple(cases),
            problem=problem,
            timed_out=self.ended.timed_out,
            broke_cell=self.ended.broke_cell,
            separated=not is_shared,
            shared=len(cases) if is_shared else 0,
            seconds=self.ended.seconds,
        )

    def read_decided(self) -> Graded:
        """What was judged from another process, without the cases that need the code in their own."""
        whole = self.read_verdict()
        if self.find("again"):
            whole = whole.model_copy(update={"problem": "", "cases": whole.cases[: len(self.cases)]})
        again = {str(case["name"]) for case in self.cases if "again" in case}
        return whole.model_copy(update={"cases": tuple(case for case in whole.cases if case.name not in again)})

    def explain_problem(self) -> str:
        """Why the verdict is not whole; "" when it is."""
        if broken := self.find("broken"):
            return f"the code cannot be imported: {broken}"
        if self.ended.over:
            return ENDED_BY[self.ended.over]
        if problem := self.find("problem"):
            return str(problem)
        if any(fact.get("end") == self.nonce for fact in self.facts):
            return "" if self.fits_plan() else MIXED
        if self.ended.exit_code < 0:
            return f"the tests were killed by {signal.Signals(-self.ended.exit_code).name}"
        return "the tests ended before they gave a verdict"

    def fits_plan(self) -> bool:
        """True when there is one plan, no answer that it does not foresee, and nothing after the end."""
        plans = [fact["plan"] for fact in self.facts if "plan" in fact]
        answers = Counter(str(case["name"]) for case in self.cases)
        return len(plans) <= 1 and not answers - Counter(plans[0] if plans else ()) and "end" in self.facts[-1]


def is_sound(fact: dict[str, Any]) -> bool:
    """True when the parts of a fact are what they must be."""
    plan, case = fact.get("plan", []), fact.get("case", {"name": "", "passed": False})
    if not isinstance(case, dict) or not {"name", "passed"} <= case.keys() or not isinstance(plan, list):
        return False
    seconds = case.get("seconds", 0.0)
    return all(isinstance(name, str) for name in plan) and isinstance(seconds, float | int) and math.isfinite(seconds)


def merge_verdicts(apart: Graded, shared: Graded) -> Graded:
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
