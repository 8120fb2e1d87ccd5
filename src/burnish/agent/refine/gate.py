"""The gate: may a candidate stand in the place of the version that it was made from?

Only if it keeps every signature, passes every test (pinned ones too), behaves the same on many inputs, is better by the
figure of the check that it is for, and no other check is worse. Every answer comes from a fresh cell.
"""

import ast
import copy
import sys

from burnish.agent.ask import Tools
from burnish.agent.inputs import Clues, calls_of_all
from burnish.agent.refine.compare_evidence import is_better, is_worse
from burnish.agent.refine.same_behaviour import find_difference
from burnish.agent.work import NOT_RUN, Work
from burnish.checks.final import FinalChecks
from burnish.errors import SandboxError
from burnish.events import Evidence, Frozen, Graded
from burnish.tasks.definitions import FUNCTIONS, all_functions
from burnish.tasks.examples import in_words
from burnish.tasks.syntax import parsed
from burnish.text import one_line

MOST_CALLS = 60
SLOWEST = ("performance", "mutation")
"""The checks that take longest are asked last."""
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.Call)


class GateResult(Frozen):
    """What became of a candidate."""

    kept: bool
    why: str
    """Where it is not kept: what speaks against it."""
    graded: Graded
    after: str = ""
    """The check's figure, as far as it came to that."""


class Gate:
    """Judges what is to stand in the place of the best version."""

    def __init__(self, work: Work, tools: Tools, checks: FinalChecks) -> None:
        assert work.best is not None
        self.base = work.best
        self._work, self._tools, self._checks = work, tools, checks

    def measure(self, check: str, code: str) -> Evidence:
        """What a check says of a version that passes its tests; asked as the judge asks, so it is made once."""
        tests = self._work.suite.render(self._work.disputed, pinned=False)
        return self._checks.judge(code, tests, names=(check,))[0]

    def judge(self, check: str, code: str) -> GateResult:
        """Whether a candidate is kept, or the first thing that speaks against it; what costs least is asked first."""
        try:
            graded = self._tools.ground.grade(code, self._work.suite, self._work.disputed)
        except SandboxError as error:
            graded = Graded(problem=f"{NOT_RUN}: {error}")
        why = find_objection(self.base.code, code) or self._find_lost_test(graded) or self._compare(check, code)
        if why:
            return GateResult(kept=False, why=why, graded=graded)
        after = self.measure(check, code)
        figure = after.figure or after.why
        if is_better(self.measure(check, self.base.code), after):
            why = self._find_harm(check, code)
        else:
            why = f"{check} is not better: {one_line(figure, 120)}"
        return GateResult(kept=not why, why=why, graded=graded, after=figure)

    def _find_lost_test(self, graded: Graded) -> str:
        suite = self._work.suite
        if self.base.graded is None or graded.problem:
            return one_line(graded.problem or NOT_RUN, 120)
        before, after = suite.outcomes(self.base.graded), suite.outcomes(graded)
        lost = [t for t in before if before[t] == "passed" != after[t] and t not in self._work.disputed]
        return f"it no longer passes {one_line(in_words(lost[0]), 80)}" if lost else ""

    def _compare(self, check: str, code: str) -> str:
        """A call like those of the tests on which a candidate does something else: for what the tests leave open."""
        spec, task, suite, ground = self._work.spec, self._work.task, self._work.suite, self._tools.ground
        clues = Clues(suite.given, task.prompt, (self.base.code, code), ground.test_texts(suite))
        calls = calls_of_all((spec.entry_point, *task.also), spec.signature, clues, MOST_CALLS)
        return find_difference(self.base.code, code, calls, ground, security=check == "security")

    def _find_harm(self, check: str, code: str) -> str:
        """The first other check that is worse; mutation only where it was measured before."""
        skipped = {check} | ({"mutation"} if not self._work.was_content else set())
        names = [name for name in self._checks.names if name not in skipped]
        for other in sorted(names, key=lambda name: SLOWEST.index(name) if name in SLOWEST else -1):
            if self._tools.cancel.is_set():
                break
            before, after = self.measure(other, self.base.code), self.measure(other, code)
            if is_worse(before, after):
                was, now = (one_line(one.figure or one.why, 80) for one in (before, after))
                return f"{other} is worse: {now}, and {was} before"
        return ""


def find_objection(before: str, after: str) -> str:
    """Why one module may not stand in the place of another; empty where it may.

    Every function that was there keeps its parameters, and nothing is imported from outside the standard library that
    was not there before.
    """
    old, new = parsed(before), parsed(after)
    if old is None or new is None:
        return "it does not parse"
    functions = all_functions(new)
    for name, node in all_functions(old).items():
        now = functions.get(name)
        if isinstance(node, FUNCTIONS) and isinstance(now, FUNCTIONS) and _signature(node) != _signature(now):
            return f"it changes the signature of {name}"
    foreign = sorted(_imported_packages(new) - _imported_packages(old) - sys.stdlib_module_names)
    return f"it imports {foreign[0]}, which is not in the standard library" if foreign else ""


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, str]:
    """Kind and parameters without their types; a list or dictionary as default counts as None, which may replace it."""
    arguments = copy.deepcopy(node.args)
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    nothing = ast.Constant(None)
    arguments.defaults = [nothing if isinstance(one, MUTABLE) else one for one in arguments.defaults]
    arguments.kw_defaults = [nothing if isinstance(one, MUTABLE) else one for one in arguments.kw_defaults]
    return type(node).__name__, ast.unparse(arguments)


def _imported_packages(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." if node.level else (node.module or "").partition(".")[0])
    return found
