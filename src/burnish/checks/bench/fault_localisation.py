"""Which function is broken? The tests are run once with every line of the file watched, and their failures point."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.inside.case_ids import all_ids
from burnish.checks.bench.project_run import PASSING, CaseReport, run_suite
from burnish.checks.coverage import read_touched
from burnish.checks.project import Project
from burnish.tasks.repair import lines_of_body, repairable_names

ENDS_HERE, OWN_EXAMPLE = 0.5, 1.0
"""What a failure that is raised in a function, and a failing example in its docstring, add to Ochiai's figure."""
QUICK_SECONDS = 2.0
"""A suite that takes no longer is run in full for every version; of a longer one only what touches the file."""


@dataclass(frozen=True)
class OriginalRun:
    """What the tests said of the file as it was."""

    failing: Mapping[str, CaseReport] = field(default_factory=dict)
    passing: tuple[str, ...] = ()
    broken: Mapping[str, CaseReport] = field(default_factory=dict)
    """Test files that could not be imported."""
    touched: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """For each function of the file, the tests that run it."""
    raised: Mapping[str, str] = field(default_factory=dict)
    """For a failing test: the function of the file in which it ended."""
    seconds: float = 0.0
    slowest: float = 0.0
    """What the slowest test took."""
    problem: str = ""


@dataclass(frozen=True)
class DecidingTests:
    """Which tests decide on a repair, and which fail for reasons that it cannot reach."""

    deciding_tests: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    """Those among them that fail as long as nothing is repaired."""
    aside: tuple[str, ...] = ()


def run_original(project: Project, context: CheckContext, source: Path, text: str) -> OriginalRun:
    """Run the project's tests as they are. Raises CheckError when pytest itself cannot be run."""
    run = run_suite(project.model_copy(update={"sources": (source,)}), context, cover=True)
    lines = read_touched(run, str(source))
    functions = {name: span for name in repairable_names(text) if (span := lines_of_body(text, name))}
    failing = {name: test for name, test in run.tests.items() if test.outcome == "failed"}
    return OriginalRun(
        failing=failing,
        passing=tuple(name for name, test in run.tests.items() if test.outcome in PASSING),
        broken={test.id: test for test in run.broken},
        touched={
            name: frozenset(test for line in range(first, last + 1) for test in lines.get(line, ()))
            for name, (first, last) in functions.items()
        },
        raised={name: where for name, test in failing.items() if (where := _find_raising(test, source, functions))},
        seconds=sum(test.seconds for test in run.tests.values()),
        slowest=max((test.seconds for test in run.tests.values()), default=0.0),
        problem=run.problem,
    )


def rank_functions(before: OriginalRun) -> list[str]:
    """Functions that failing tests run, the likeliest culprit first."""
    figures = {name: suspicion(name, before) for name in before.touched}
    return sorted((name for name, figure in figures.items() if figure > 0), key=lambda name: -figures[name])


def suspicion(function: str, before: OriginalRun) -> float:
    """Ochiai's figure over failing and passing tests, and more where a failure points at the function itself."""
    tests, failing = before.touched[function], set(before.failing)
    failed = len(tests & failing)
    if not failed:
        return 0.0
    passed = len(tests & set(before.passing))
    ochiai = failed / math.sqrt(len(failing) * (failed + passed))
    ends = sum(where == function for where in before.raised.values()) / len(failing)
    own = any(is_example_of(test, function) for test in failing)
    return ochiai + ENDS_HERE * ends + OWN_EXAMPLE * own


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
    reached = before.touched.get(function, frozenset())
    named = [test for test in before.failing if _is_among(test, chosen)]
    failing = [test for test in named if test in reached or not function]
    broken = [test for test in before.broken if _is_among(test, chosen)] if not parses else []
    aside = [*(test for test in named if test not in failing), *(test for test in before.broken if test not in broken)]
    quick, touching = before.seconds <= QUICK_SECONDS, frozenset[str]().union(*before.touched.values())
    passing = [test for test in before.passing if (quick or test in touching) and _is_among(test, chosen)]
    return DecidingTests((*broken, *failing, *passing), (*broken, *failing), tuple(aside))


def _find_raising(test: CaseReport, source: Path, functions: Mapping[str, tuple[int, int]]) -> str:
    """The innermost function of the file that holds the line on which the test failed."""
    if not PurePosixPath(test.file).match(str(source)):
        return ""
    found = [(span[1] - span[0], name) for name, span in functions.items() if span[0] <= test.line <= span[1]]
    return min(found)[1] if found else ""


def _is_among(test: str, chosen: Sequence[str]) -> bool:
    """Whether a test is one of those that somebody named; where nobody did, all are."""
    return not chosen or not all_ids(test).isdisjoint(chosen)
