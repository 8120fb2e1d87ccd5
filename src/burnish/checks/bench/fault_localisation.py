"""Where is the fault? The tests are run once with every line of the sources watched, and their failures point.

Each function is weighed by what speaks against it: the lines that a failure came through, which tests run it, what the
failing line of a test names, and what the functions named there call. The answer is a list, the likeliest first, since
the first is often wrong: docs/design/locating.md has the figures.
"""

import ast
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path, PurePosixPath

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.inside.case_ids import all_ids
from burnish.checks.bench.project_run import PASSING, CaseReport, SuiteRun, run_suite
from burnish.checks.coverage import read_touched
from burnish.checks.project import Project
from burnish.events import Place
from burnish.parsing import decode_source, try_parse
from burnish.tasks.repair import function_spans
from burnish.tasks.source import DEFINITIONS, FUNCTIONS, Function, all_functions
from burnish.text import one_line

QUICK_SECONDS = 2.0
"""A suite that takes no longer is run in full for every version; of a longer one only what touches the file."""
_REFUSED = re.compile(r"\b([\w.]+)\(\) (?:got|missing|takes)\b")
"""How Python says that a call does not fit a function, which never runs then."""
HOPS, FADING = 3, 0.6
"""How far the chain of calls is followed, and what each step leaves of a suspicion."""


class Clue(StrEnum):
    """What speaks against a function."""

    EXAMPLE = "example"
    """An example in its docstring fails."""
    REFUSED = "refused"
    """A failing test calls it with arguments that it does not take."""
    RAISED = "raised"
    """A failing test ended in it: it is the innermost of the file in the traceback."""
    TRACEBACK = "traceback"
    """A failing test came through it."""
    NAMED = "named"
    """The line on which a test fails names it, or what that line speaks of was made by it."""
    TESTED = "tested"
    """A failing test names it elsewhere, or is named after it."""
    CALLED = "called"
    """A function that one of the above names calls it."""
    COVERAGE = "coverage"
    """Failing tests run it; the fewer passing ones do, the more it says."""


WEIGHTS = {
    Clue.EXAMPLE: 1.0,
    Clue.REFUSED: 2.0,
    Clue.RAISED: 0.5,
    Clue.TRACEBACK: 0.3,
    Clue.NAMED: 0.6,
    Clue.TESTED: 0.2,
    Clue.CALLED: 0.3,
    Clue.COVERAGE: 1.0,
}
MOST_SHOWN = 700
"""Characters of a test that prompts show: a small model loses the thread in more."""
NOT_RUN = 0.1
"""What is left of a suspicion of a function that no failing test runs, where that was measured."""


OPERATORS = {
    "Eq": ("__eq__",),
    "NotEq": ("__ne__", "__eq__"),
    "Lt": ("__lt__",),
    "LtE": ("__le__",),
    "Gt": ("__gt__",),
    "GtE": ("__ge__",),
    "In": ("__contains__",),
    "NotIn": ("__contains__",),
    "Add": ("__add__", "__radd__"),
    "Sub": ("__sub__", "__rsub__"),
    "Mult": ("__mul__", "__rmul__"),
    "Div": ("__truediv__",),
    "Mod": ("__mod__",),
    "BitAnd": ("__and__",),
    "BitOr": ("__or__",),
    "BitXor": ("__xor__",),
    "assertEqual": ("__eq__",),
    "assertIn": ("__contains__",),
    "len": ("__len__",),
    "repr": ("__repr__",),
    "str": ("__str__",),
    "hash": ("__hash__",),
    "bool": ("__bool__",),
    "list": ("__iter__",),
    "next": ("__next__",),
    "iter": ("__iter__",),
    "dumps": ("__reduce__", "__getstate__"),
}
"""The special methods that operators and builtins call, those of which a test says no name."""


@dataclass(frozen=True)
class TestText:
    """What one test says, as far as names go."""

    line: frozenset[str] = frozenset()
    """Names on the line that failed, and on those that made what it speaks of."""
    names: frozenset[str] = frozenset()
    """All others in it."""


@dataclass(frozen=True)
class OriginalRun:
    """What the tests said of the file as it was."""

    failing: Mapping[str, CaseReport] = field(default_factory=dict)
    passing: tuple[str, ...] = ()
    broken: Mapping[str, CaseReport] = field(default_factory=dict)
    """Test files that could not be imported."""
    touched: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """For each function of the file, the tests that run it, or fail to: a call that does not fit never begins."""
    lines: Mapping[str, frozenset[frozenset[str]]] = field(default_factory=dict)
    """For each function, the sets of tests that run one of its lines."""
    frames: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a failing test, or a file that could not be imported: the functions of the file that its failure came
    through, the innermost first."""
    seconds: float = 0.0
    slowest: float = 0.0
    """What the slowest test took."""
    problem: str = ""
    has_cover: bool = True
    """Whether it is known which tests run which lines."""


@dataclass(frozen=True)
class DecidingTests:
    """Which tests decide on a repair, and which fail for reasons that it cannot reach."""

    deciding_tests: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    """Those among them that fail as long as nothing is repaired."""
    aside: tuple[str, ...] = ()


def run_watched(project: Project, context: CheckContext, sources: Sequence[Path]) -> SuiteRun:
    """Run the project's tests as they are, with every line of the sources watched.

    Where that told nothing of the lines, because it was killed for example, the tests that fail are run once more by
    themselves: what they run says most. Raises CheckError when pytest itself cannot be run.
    """
    watched = project.model_copy(update={"sources": tuple(sources)})
    run = run_suite(watched, context, cover=True)
    if not run.failures:  # code can see that it is watched (`sys.gettrace`), and do something else
        plain = run_suite(watched, context)
        return replace(plain, plan=run.plan, covered=run.covered) if plain.failures else run
    if run.covered:
        return run
    failing = tuple(test.id for test in run.failures)
    again = run_suite(watched.model_copy(update={"chosen": failing}), context, cover=True)
    return replace(run, plan=again.plan, covered=again.covered)


def read_original(run: SuiteRun, source: Path, text: str) -> OriginalRun:
    """What a watched run says of one file."""
    lines, spans = read_touched(run, str(source)), function_spans(text)
    failing = {name: test for name, test in run.tests.items() if test.outcome == "failed"}
    failed = failing | {test.id: test for test in run.broken}
    frames = {name: found for name, test in failed.items() if (found := tuple(_list_frames(test, source, spans)))}
    refused = {name: {*_find_refusing(test, [*spans])} for name, test in failed.items()}
    sets = {
        name: frozenset(frozenset(lines[at]) for first, last in some for at in range(first, last + 1) if at in lines)
        for name, some in spans.items()
    }
    return OriginalRun(
        failing=failing,
        passing=tuple(name for name, test in run.tests.items() if test.outcome in PASSING),
        broken={test.id: test for test in run.broken},
        touched={
            name: frozenset(test for test in failed if name in frames.get(test, ()) or name in refused[test]).union(
                *some
            )
            for name, some in sets.items()
        },
        lines=sets,
        frames=frames,
        seconds=sum(test.seconds for test in run.tests.values()),
        slowest=max((test.seconds for test in run.tests.values()), default=0.0),
        problem=run.problem,
        has_cover=bool(run.covered),
    )


def rank_places(before: OriginalRun, source: Path, text: str, root: Path, chosen: Sequence[str] = ()) -> list[Place]:
    """Functions of a file that failing tests speak against, the likeliest culprit first.

    `chosen` narrows those tests to ids that somebody named.
    """
    named = {name: test for name, test in {**before.failing, **before.broken}.items() if _is_among(name, chosen)}
    if not named:
        return []
    functions, module = [*before.touched], try_parse(text)
    nodes = all_functions(module) if module else {}
    calls = {name: frozenset(_find_named(names_in(node), [*nodes])) - {name} for name, node in nodes.items()}
    found: dict[str, dict[Clue, float]] = {name: {} for name in functions}
    for test, report in named.items():
        for name, clue, strength in _suspect(before, test, report, functions, calls, root):
            share = strength / len(named)
            found[name][clue] = found[name].get(clue, 0.0) + share
    for name in functions:
        if covered := _weigh_coverage(name, before, {*named}):
            found[name][Clue.COVERAGE] = covered
    places = []
    for name, clues in found.items():
        score = sum(WEIGHTS[clue] * min(1.0, strength) for clue, strength in clues.items())
        score *= 0.8 if is_special(name) else 1.0
        score *= 1.0 if before.touched[name] & {*named} or not before.has_cover else NOT_RUN
        if score > 0:
            order = sorted(clues, key=lambda clue: -WEIGHTS[clue] * clues[clue])
            places.append(Place(file=str(source), function=name, clues=tuple(order), score=round(score, 4)))
    return sorted(places, key=lambda place: -place.score)


def _suspect(
    before: OriginalRun,
    test: str,
    report: CaseReport,
    functions: Sequence[str],
    calls: Mapping[str, frozenset[str]],
    root: Path,
) -> Iterator[tuple[str, Clue, float]]:
    """Whom one failing test speaks against, why, and how much, from 0 to 1."""
    for name in functions:
        if is_example_of(test, name):
            yield name, Clue.EXAMPLE, 1.0
    yield from ((name, Clue.REFUSED, 1.0) for name in _find_refusing(report, functions))
    frames = before.frames.get(test, ())
    for place, name in enumerate(frames):
        yield name, Clue.TRACEBACK if place else Clue.RAISED, FADING ** max(0, place - 1)
    text = read_test(root, test, report)
    named = _find_named(text.line, functions)
    tested = [name for name in _find_named(text.names, functions) if name not in named]
    yield from ((name, Clue.NAMED, 0.5 if is_special(name) else 1.0) for name in named)
    yield from ((name, Clue.TESTED, 1.0) for name in tested)
    known = {*frames[:1], *named, *(() if named else tested)}
    reached, strength = {*known}, 1.0
    for _ in range(HOPS):
        known = {callee for name in known for callee in calls.get(name, ())} & {*functions} - reached
        yield from ((name, Clue.CALLED, strength) for name in known if test in before.touched[name])
        reached |= known
        strength *= FADING


def is_special(function: str) -> bool:
    """Whether every test of a class runs it, or pytest does to show a failure: that says little against it."""
    return function.rpartition(".")[2] in ("__init__", "__repr__", "__str__")


def _weigh_coverage(function: str, before: OriginalRun, failing: set[str]) -> float:
    """Ochiai's figure over failing and passing tests: of the whole function, and of its most telling line."""
    passing = {*before.passing}
    figures = []
    for tests in (before.touched[function], *before.lines.get(function, ())):
        failed = len(tests & failing)
        figures.append(failed / math.sqrt(len(failing) * (failed + len(tests & passing))) if failed else 0.0)
    return (figures[0] + max(figures)) / 2


def is_example_of(test: str, function: str) -> bool:
    """Whether a test is the examples in the function's docstring, as pytest names them: file::module.function."""
    file, _, name = test.partition("::")
    module = name.removesuffix(f".{function}")
    return module != name and module.rpartition(".")[2] in (PurePosixPath(file).stem, PurePosixPath(file).parent.name)


def choose_deciding(
    before: OriginalRun, function: str, chosen: Sequence[str] = (), parses: bool = True
) -> DecidingTests:
    """The tests that the function can influence; where the file does not parse, all that cannot be imported.

    `chosen` narrows them to ids that somebody named. What passed before must pass again.
    """
    reached, is_known = before.touched.get(function, frozenset()), bool(function) and before.has_cover
    named = [test for test in before.failing if _is_among(test, chosen)]
    failing = [test for test in named if test in reached or not is_known]
    broken = [test for test in before.broken if _is_among(test, chosen) and (test in reached or not parses)]
    aside = [*(test for test in named if test not in failing), *(test for test in before.broken if test not in broken)]
    quick, touching = before.seconds <= QUICK_SECONDS, frozenset[str]().union(*before.touched.values())
    passing = [test for test in before.passing if (quick or test in touching) and _is_among(test, chosen)]
    return DecidingTests((*broken, *failing, *passing), (*broken, *failing), tuple(aside))


def _find_refusing(test: CaseReport, functions: Sequence[str]) -> list[str]:
    """The functions that a failure says were called with other arguments than they take."""
    called = _REFUSED.findall(test.message)
    whole = [function for function in functions if function in called]
    return whole or _find_named(called, functions) if called else []


def _list_frames(test: CaseReport, source: Path, spans: Mapping[str, Sequence[tuple[int, int]]]) -> Iterator[str]:
    """The functions of the file that a failure came through, the innermost first, each once."""
    seen = set()
    for file, line in reversed([(test.file, test.line), *test.frames]):
        if not PurePosixPath(file).match(str(source)):
            continue
        held = [(last - first, name) for name, some in spans.items() for first, last in some if first <= line <= last]
        name = min(held)[1] if held else ""
        if name and name not in seen:
            seen.add(name)
            yield name


def read_test(root: Path, test: str, report: CaseReport) -> TestText:
    """The names in a failing test, from its source; none where that cannot be read."""
    own = frozenset(part for word in _split_id(test)[1] for part in _spell(word))
    node = _find_test(root, test)
    if node is None:
        return TestText(names=own)
    line = _find_failing_line(test, node, report)
    every = names_in(node)
    telling = frozenset(_slice_names(node, line)) if line else frozenset()
    return TestText(telling, frozenset(every - telling) | own)


def show_test(root: Path, test: str, report: CaseReport) -> str:
    """A failing test for a prompt: as far as the line that failed, the nearest lines above it first; else nothing."""
    node = _find_test(root, test)
    if node is None:
        return ""
    last = _find_failing_line(test, node, report) or node.end_lineno or node.lineno
    body = node.body[ast.get_docstring(node, clean=False) is not None :]
    shown: list[str] = []
    for part in reversed([part for part in body if part.lineno <= last]):
        text = textwrap.indent(ast.unparse(part), "    ")
        if shown and sum(map(len, shown)) + len(text) > MOST_SHOWN:
            shown.append("    ...")
            break
        shown.append(text[:MOST_SHOWN])
    row = test.partition("[")[2].rstrip("]")
    head = f"def {node.name}({ast.unparse(node.args)}):" + (f"  # with {one_line(row, 80)}" if row else "")
    return "\n".join([head, *reversed(shown)])


def _split_id(test: str) -> tuple[str, list[str]]:
    """The file of a test, and the names inside of it that lead to the function."""
    file, *inside = test.partition("[")[0].split("::")
    return file, inside


def _find_test(root: Path, test: str) -> Function | None:
    """The function of a test; None where its file cannot be read or has no such function."""
    file, inside = _split_id(test)
    node: ast.AST | None = _parse_file(root / file)
    for part in inside:
        members = (one for one in ast.iter_child_nodes(node) if isinstance(one, DEFINITIONS)) if node else ()
        node = next((one for one in members if one.name == part), None)
    return node if isinstance(node, FUNCTIONS) else None


def _find_failing_line(test: str, node: Function, report: CaseReport) -> int:
    """Where in the function of a test it failed; 0 where that is not known."""
    places = [*report.frames, (report.file, report.line)]
    file = _split_id(test)[0]
    return next((line for path, line in places if PurePosixPath(path).match(file) and _holds(node, line)), 0)


@lru_cache(maxsize=32)
def _parse_file(file: Path) -> ast.Module | None:
    try:
        return try_parse(decode_source(file.read_bytes()))
    except (OSError, SyntaxError):
        return None


def _spell(word: str) -> Iterator[str]:
    """What a test may be named after: "TestSortTogether" after sort_together, "test_window_3" after window."""
    bare = re.sub(r"^test_?|_?tests?$", "", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word), flags=re.IGNORECASE)
    parts = bare.split("_")
    for end in range(len(parts), 0, -1):
        yield "_".join(parts[:end]).lower()
        yield "".join(part.capitalize() for part in parts[:end])


def _holds(node: ast.AST, line: int) -> bool:
    return node.lineno <= line <= node.end_lineno  # type: ignore[attr-defined, no-any-return]


def _slice_names(function: ast.AST, line: int) -> set[str]:
    """The names in the statement on a line, and in those above it that assign what it speaks of."""
    simple = [part for part in ast.walk(function) if isinstance(part, ast.stmt) and not isinstance(part, DEFINITIONS)]
    at = [part for part in simple if _holds(part, line)]
    if not at:
        return set()
    names = names_in(min(at, key=lambda part: (part.end_lineno or part.lineno) - part.lineno))
    for part in sorted((part for part in simple if part.lineno <= line), key=lambda part: -part.lineno):
        match part:  # of a statement with a body, only its head
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                heads: list[ast.AST] = [part]
            case ast.For(target=target, iter=made_by):
                heads = [target, made_by]
            case ast.With(items=items):
                heads = [*items]
            case _:
                continue
        parts = [one for head in heads for one in ast.walk(head)]
        if names & {one.id for one in parts if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}:
            names = names.union(*map(names_in, heads))
    return names


def names_in(node: ast.AST) -> set[str]:
    """Names and attributes in code, and the special methods that its operators call."""
    found: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found |= {name, *OPERATORS.get(name, ())}
            case ast.Subscript(ctx=ast.Load()):
                found.add("__getitem__")
            case ast.Subscript(ctx=ast.Store()):
                found.add("__setitem__")
            case ast.operator() | ast.cmpop() | ast.unaryop():
                found |= {*OPERATORS.get(type(part).__name__, ())}
    return found


def _find_named(names: Iterable[str], functions: Sequence[str]) -> list[str]:
    """The functions that these names can mean: by the last part, by the whole, and a class by how it is made."""
    wanted = {*names}
    wanted |= {name.rpartition(".")[2] for name in wanted}
    found = []
    for function in functions:
        outer, _, last = function.rpartition(".")
        makes = last in ("__init__", "__new__", "__call__") and outer.rpartition(".")[2] in wanted
        if last in wanted or makes:
            found.append(function)
    return found


def _is_among(test: str, chosen: Sequence[str]) -> bool:
    """Whether a test is one of those that somebody named; where nobody did, all are."""
    return not chosen or not all_ids(test).isdisjoint(chosen)
