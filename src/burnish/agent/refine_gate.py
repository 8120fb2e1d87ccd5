"""The gate: may a candidate stand in the place of the version that it was made from?

Only if it keeps every signature, passes every test (pinned ones too), behaves the same on many inputs, is better by the
figure of the check that it is for, and no other check is worse. Every answer comes from a fresh cell.

Behaviour is compared on calls near those that the tests make. What could not be compared is not the same. Errors count
by their names, and so does what a call did to its arguments. A round for security may differ where the finding is, and
only there: on input that was executed. Evidence that was not run is never better than anything, and a check that ran
and no longer does is worse.
"""

import ast
import copy
import re
import sys
from collections.abc import Sequence

from burnish.agent.ask import Tools
from burnish.agent.state import AgentState, not_run
from burnish.checks.bench.bench import Bench
from burnish.checks.check import read_findings
from burnish.checks.coverage import CoverageDetails
from burnish.checks.final import FinalChecks
from burnish.checks.mutation.check import MutationDetails
from burnish.checks.performance.check import PerformanceDetails
from burnish.checks.performance.growth import ORDER, FunctionGrowth
from burnish.checks.security.names import Names
from burnish.errors import SandboxError
from burnish.events import Evidence, Frozen, Graded, Mutated
from burnish.parsing import PARSE_ERRORS, parse_expression, try_parse
from burnish.search.behaviour_groups import has_values
from burnish.search.call_generator import CallClues, generate_calls_of_all
from burnish.strengthening.render_assert import RAISES, is_silent
from burnish.tasks.examples import describe_test
from burnish.tasks.source import FUNCTIONS, all_functions
from burnish.text import one_line

MOST_CALLS = 60
SLOWEST = ("performance", "mutation")
"""The checks that take longest are asked last."""
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.Call)
NOT_COMPARED = "it could not be compared with what was there"
RUNS_CODE = {
    *("builtins.eval", "builtins.exec", "builtins.compile", "pickle.loads", "pickle.load", "marshal.loads"),
    *("yaml.load", "yaml.unsafe_load", "yaml.full_load"),
}
RUNS_SHELL = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
RUNS_PROGRAM = {f"subprocess.{name}" for name in ("run", "call", "Popen", "check_call", "check_output")}
RUNS_QUERY = ("execute", "executemany", "executescript")
SHELL_MARKS = re.compile(r"[^\w./:,+@%-]|^-|^$")
QUERY_MARKS = re.compile(r"['\";]|--")
LEVELS = dict(zip(ORDER, (0, 0, 1, 1, 2, 3), strict=True))
"""Growths that a busy machine can mistake for each other are on one level."""
QUADRATIC = LEVELS["quadratic"]
SLOWER, NOTICEABLE_SECONDS = 3.0, 0.001
"""How many times slower, and by how much, a call of the same size must be before that is no noise."""
QUALITY_POINTS = 1.0
"""Points of 100 in quality that a few lines more may cost; the verdict must stay."""
MUTATION_POINTS = 5.0
"""Percent, or one mutant's share where that is more: another code has other mutants."""
COVERAGE_POINTS = 5.0
"""Percent of lines and branches: shorter code has fewer to run, and each weighs more."""
MOST_FINDINGS, LONGEST_FINDING = 3, 160
GROWTHS = {"quadratic": "with the square of", "worse": "faster than with the square of"}
HINT = "Each step should take about the same time however long the input is"


class GateResult(Frozen):
    """What became of a candidate."""

    objection: str
    """What speaks against it; empty where it is kept."""
    graded: Graded
    after: str = ""
    """The check's figure, as far as it came to that."""


class Gate:
    """Judges what is to stand in the place of the best version."""

    def __init__(self, state: AgentState, tools: Tools, checks: FinalChecks) -> None:
        assert state.best is not None
        self.base = state.best
        self._state, self._tools, self._checks = state, tools, checks

    def measure(self, check: str, code: str) -> Evidence:
        """What a check says of a version that passes its tests; asked as the judge asks, so it is made once."""
        tests = self._state.suite.render(self._state.disputed, pinned=False)
        return self._checks.judge(code, tests, names=(check,))[0]

    def judge(self, check: str, code: str) -> GateResult:
        """Whether a candidate is kept, or the first thing that speaks against it; what costs least is asked first."""
        spec, task, suite, ground = self._state.spec, self._state.task, self._state.suite, self._tools.ground
        try:
            graded = ground.grade(code, suite, self._state.disputed)
        except SandboxError as error:
            graded = not_run(error)
        objection = find_objection(self.base.code, code) or self._find_lost_test(graded)
        if not objection:  # calls like those of the tests, for what the tests leave open
            clues = CallClues(suite.given, task.prompt, (self.base.code, code), ground.test_texts(suite))
            calls = generate_calls_of_all((spec.entry_point, *task.also), spec.signature, clues, MOST_CALLS)
            objection = find_difference(self.base.code, code, calls, ground, security=check == "security")
        if objection:
            return GateResult(objection=objection, graded=graded)
        after = self.measure(check, code)
        figure = after.figure or after.why
        if is_better(self.measure(check, self.base.code), after):
            objection = self._find_harm(check, code)
        else:
            objection = f"{check} is not better: {one_line(figure, 120)}"
        return GateResult(objection=objection, graded=graded, after=figure)

    def _find_lost_test(self, graded: Graded) -> str:
        suite = self._state.suite
        if self.base.graded is None or graded.problem:
            return one_line(graded.problem or "the tests could not be run", 120)
        before, after = suite.outcomes(self.base.graded), suite.outcomes(graded)
        lost = [t for t in before if before[t] == "passed" != after[t] and t not in self._state.disputed]
        return f"it no longer passes {one_line(describe_test(lost[0]), 80)}" if lost else ""

    def _find_harm(self, check: str, code: str) -> str:
        """The first other check that is worse; mutation only where it was measured before."""
        # Mutation testing is the slowest of all; where nobody looked at it before, no figure is there to fall behind.
        skipped = {check} | ({"mutation"} if self._state.run.last(Mutated) is None else set())
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
    old, new = try_parse(before), try_parse(after)
    if old is None or new is None:
        return "it does not parse"
    functions = all_functions(new)
    for name, node in all_functions(old).items():
        now = functions.get(name)
        if isinstance(node, FUNCTIONS) and isinstance(now, FUNCTIONS) and _signature(node) != _signature(now):
            return f"it changes the signature of {name}"
    foreign = sorted(_list_imports(new) - _list_imports(old) - sys.stdlib_module_names)
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


def _list_imports(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." if node.level else (node.module or "").partition(".")[0])
    return found


def find_difference(before: str, after: str, calls: Sequence[str], ground: Bench, security: bool = False) -> str:
    """A call on which a candidate does something else, or that nothing could be compared; empty where all is alike."""
    try:
        # The candidate runs twice: what differs between its own two runs is chance.
        answers = ground.run_calls({0: before, 1: after, 2: after}, calls)
    except SandboxError:
        return NOT_COMPARED
    known = [at for at, answer in enumerate(answers[0]) if not is_silent(answer)]
    if not has_values([answers[0][at] for at in known]):
        return NOT_COMPARED
    executed = ExecutedInput(before) if security else None
    for at in sorted(known, key=lambda at: len(calls[at])):
        was, now, again = (answers[version][at] for version in (0, 1, 2))
        # A random token has the same form each time: its length, and all that is no letter.
        is_chance = security and now != again and re.sub(r"\w", "x", was) == re.sub(r"\w", "x", now)
        if was == now or is_chance or (executed and executed.explains(calls[at], was, now)):
            continue
        shown = [answer if answer.startswith(RAISES) else f"gives {answer}" for answer in (now, was)]
        now, was = (one_line(answer, 60) for answer in shown)
        return f"it does not do the same: {one_line(calls[at], 120)} {now}, and {was} before"
    return ""


class ExecutedInput:
    """What a module does with its input that makes the input more than data: run it as code, shell line or query."""

    def __init__(self, code: str) -> None:
        tree = try_parse(code) or ast.Module([], [])
        names, self._code, self._shell, self._query = Names(tree), False, False, False
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
            if names.constant(call.args[0]) is not None or isinstance(call.args[0], ast.List):
                continue
            called = names.of(call.func)
            shell = [one.value for one in call.keywords if one.arg == "shell"]
            asks_shell = any(not isinstance(value, ast.Constant) or bool(value.value) for value in shell)
            self._code |= bool(called & RUNS_CODE)
            self._shell |= bool(called & RUNS_SHELL) or (bool(called & RUNS_PROGRAM) and asks_shell)
            self._query |= isinstance(call.func, ast.Attribute) and call.func.attr in RUNS_QUERY

    def explains(self, call: str, was: str, now: str) -> bool:
        """Whether a difference is what a safer version must bring: this input was a program, and no data.

        Code that was run may be refused now, or read where it was no code; another value is never explained by that.
        """
        constants = [node.value for node in ast.walk(parse_expression(call)) if isinstance(node, ast.Constant)]
        texts = [value for value in constants if isinstance(value, str | bytes)]
        raised = was.startswith(RAISES) or now.startswith(RAISES)
        if self._code and raised and any(not _is_data(text) for text in texts):
            return True
        if self._query and was.startswith(RAISES):
            return True
        marks = [SHELL_MARKS] * self._shell + [QUERY_MARKS] * self._query
        return any(mark.search(text) for text in texts if isinstance(text, str) for mark in marks)


def _is_data(text: str | bytes) -> bool:
    """Whether evaluating a text gives what reading it as plain data gives."""
    try:
        ast.literal_eval(text.strip() if isinstance(text, str) else "")
    except (*PARSE_ERRORS, TypeError):
        return False
    return True


def is_better(before: Evidence, after: Evidence) -> bool:
    """Whether the figure of security, performance or quality has improved, beyond what noise can do."""
    if "not_run" in (before.verdict, after.verdict) or (before.verdict, after.verdict) == ("passed", "failed"):
        return False
    if before.check == "security":
        return _count_severities(after) < _count_severities(before)
    if before.check == "performance":
        return _worst_growth(after) < _worst_growth(before) and not _is_slower(before, after)
    return _score(after) > _score(before)


def is_worse(before: Evidence, after: Evidence) -> bool:
    """Whether a check would rather have the code as it was."""
    if after.verdict == "not_run":
        return before.verdict != "not_run"
    if after.verdict == "failed" and before.verdict != "failed":
        return True
    if before.verdict == "not_run":
        return False
    match before.check:
        case "security":
            return _count_severities(after) > _count_severities(before)
        case "performance":
            return _is_slower(before, after)
        case "mutation":
            tried = [MutationDetails.read(one).tried for one in (before, after)]
            # Of few mutants each one weighs much, and other code has others.
            shares = [100.0 / number for number in tried if number]
            return _score(after) < _score(before) - max(MUTATION_POINTS, *shares)
        case "coverage":
            (missed_before, percent_before), (missed, percent) = map(_measure_coverage, (before, after))
            return missed > missed_before and percent < percent_before - COVERAGE_POINTS
    return _score(after) < _score(before) - QUALITY_POINTS


def needs_question(evidence: Evidence) -> bool:
    """Whether the model is asked: for what fails the check, or grows with the square of its input, which passes."""
    return evidence.verdict == "failed" or (
        evidence.check == "performance" and evidence.verdict != "not_run" and _worst_growth(evidence) >= QUADRATIC
    )


def describe_findings(evidence: Evidence, code: str) -> str:
    """The worst findings with their lines, for a model. No times: a resumed run must ask the same question."""
    if evidence.check == "performance":
        slow = [
            f"the time of `{one.name}` grows {GROWTHS[one.growth]} its input `{one.argument}`"
            for one in _list_measured_functions(evidence)
            if LEVELS[one.growth] >= QUADRATIC
        ]
        return f"{'; '.join(slow[:MOST_FINDINGS])}. {HINT}."
    lines, sentences = code.split("\n"), []
    for finding in read_findings(evidence)[:MOST_FINDINGS]:
        shown = lines[finding.line - 1].strip() if 0 < finding.line <= len(lines) else ""
        sentence = one_line(finding.what, LONGEST_FINDING).rstrip(".") + "."
        sentences.append(f"`{one_line(shown, 80)}`: {sentence}" if shown else sentence)
    return " ".join(sentences) or one_line(evidence.why, LONGEST_FINDING)


def _list_measured_functions(evidence: Evidence) -> list[FunctionGrowth]:
    """The functions whose growth could be named."""
    return [one for one in PerformanceDetails.read(evidence).functions if one.growth]


def _count_severities(evidence: Evidence) -> tuple[int, ...]:
    """The larger, the worse: one severe finding weighs more than any number of slight ones."""
    severities = [finding.severity for finding in read_findings(evidence)]
    return (evidence.verdict == "failed", *(severities.count(severity) for severity in ("high", "medium", "low")))


def _worst_growth(evidence: Evidence) -> int:
    return max((LEVELS[one.growth] for one in _list_measured_functions(evidence)), default=0)


def _is_slower(before: Evidence, after: Evidence) -> bool:
    """Whether a function grows faster, takes far longer at the same size, or can no longer be measured."""
    now = {one.name: one for one in _list_measured_functions(after)}
    return _worst_growth(after) > _worst_growth(before) or any(
        one.name not in now or _takes_longer(one, now[one.name]) for one in _list_measured_functions(before)
    )


def _takes_longer(before: FunctionGrowth, after: FunctionGrowth) -> bool:
    if LEVELS[after.growth] != LEVELS[before.growth] or before.argument != after.argument:
        return LEVELS[after.growth] > LEVELS[before.growth]
    old, new = ({size: seconds for size, seconds, _ in one.points} for one in (before, after))
    # Small inputs take microseconds, which say nothing on a busy machine.
    largest = max(old.keys() & new.keys(), default=None)
    if largest is None:
        return False
    return new[largest] > SLOWER * old[largest] and new[largest] - old[largest] > NOTICEABLE_SECONDS


def _score(evidence: Evidence) -> float:
    score = evidence.details.get("score")
    return float(score) if isinstance(score, int | float) else 0.0


def _measure_coverage(evidence: Evidence) -> tuple[int, float]:
    """Lines and branches that no test runs, and the percentage of the file that its tests run least of."""
    files = CoverageDetails.read(evidence).files
    missed = sum(len(one.missing) + len(one.missing_branches) for one in files)
    return missed, min((one.percent for one in files), default=100.0)
