"""The suites by name. `burnish eval list` shows them; a path to a JSON-lines file is a suite too.

The bugs of `mbppfix` and `mbppplusfix` are planted and proven here: a mutant is accepted only when the tests, run in a
sandbox, reject it and pass the reference. Wrong results are preferred to crashes and endless loops: those give
themselves away.
"""

import difflib
import itertools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.checks import grade_script
from burnish.errors import SetupProblem
from burnish.evals.schema import Protocol
from burnish.evals.validate import map_tasks, remember
from burnish.events import Graded
from burnish.sandbox.open import open_sandbox
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks import bug_planting
from burnish.tasks.bug_planting import (
    NEIGHBOURS,
    PLANT_VERSION,
    PlantedBug,
    build_file,
    normalise_code,
    pick_neighbours,
    propose_bugs,
    with_docstring,
)
from burnish.tasks.data import Progress
from burnish.tasks.humanevalpack import load_humaneval, load_humanevalfix
from burnish.tasks.jsonl import load_jsonl
from burnish.tasks.mbpp import load_mbpp, load_mbppplus, load_plus_asserts
from burnish.tasks.task import Split, Task

MOST_TRIES = 80
MOST_FILES = 5
MUTANT_SECONDS = 1.0
REFERENCE_SECONDS = 2.0


@dataclass(frozen=True)
class SuiteRequest:
    """What was asked for, once the names in it are known to be right."""

    variant: str
    split: Split
    data: Path | None
    sandbox: Sandbox | None
    progress: Progress | None


@dataclass(frozen=True)
class SuiteInfo:
    """One suite, as `burnish eval list` tells of it."""

    name: str
    what: str
    rows: int
    """Tasks of the split that is reported, before validation."""
    load: Callable[[SuiteRequest], list[Task]] = field(repr=False)
    variants: tuple[str, ...] = ()
    """The first is taken when none is named."""
    splits: tuple[Split, ...] = ("eval",)
    protocols: tuple[Protocol, ...] = ("visible", "oracle")


def load_suite(
    name: str,
    *,
    variant: str = "",
    split: Split = "eval",
    data: Path | None = None,
    sandbox: Sandbox | None = None,
    progress: Progress | None = None,
) -> list[Task]:
    """The tasks of a suite, in its own order. Raises SetupProblem for a name, variant, split or row that is wrong.

    Suites with planted bugs prove them in a sandbox the first time; they open one of their own unless one is given.
    """
    variant = resolve_variant(name, variant)
    if is_file_suite(name):
        path = Path(name).expanduser()
        if not path.is_file():
            raise SetupProblem(
                f"There is no file {name!r} to take tasks from. Name one that exists, or a suite of: burnish eval list"
            )
        return load_jsonl(path)
    suite = SUITES[name]
    if split not in suite.splits:
        raise SetupProblem(f"The suite {name!r} has no split {split!r}. It has: {', '.join(suite.splits)}.")
    return suite.load(SuiteRequest(variant, split, data, sandbox, progress))


def check_protocol(name: str, protocol: Protocol) -> None:
    """Refuse to show the scoring tests of a suite where they hold the answer."""
    if name in SUITES and protocol not in SUITES[name].protocols:
        raise SetupProblem(
            f"The scoring tests of {name!r} hold the reference, so they cannot be shown under {protocol!r}. "
            f"Type: burnish eval {name} --protocol visible"
        )


def resolve_variant(name: str, variant: str = "") -> str:
    """The variant that is meant; empty for a suite that has none. Raises SetupProblem for a name that is wrong."""
    if is_file_suite(name):
        variants: tuple[str, ...] = ()
    elif name in SUITES:
        variants = SUITES[name].variants
    else:
        near = difflib.get_close_matches(name.lower(), SUITES, 3, 0.4)
        meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise SetupProblem(f"There is no suite {name!r}.{meant} See them with: burnish eval list")
    if not variant:
        return variants[0] if variants else ""
    if not variants:
        raise SetupProblem(f"The suite {name!r} has no variants. Leave the variant out: burnish eval {name}")
    if variant not in variants:
        near = difflib.get_close_matches(variant, variants, 1, 0.3) or [variants[0]]
        raise SetupProblem(
            f"The suite {name!r} has no variant {variant!r}; it has {' and '.join(variants)}. "
            f"Did you mean this? burnish eval {name} --variant {near[0]}"
        )
    return variant


def is_file_suite(name: str) -> bool:
    """Whether a suite's name is the path of a file."""
    return name not in SUITES and (name.endswith(".jsonl") or Path(name).is_file())


def load_planted_bugs(
    tasks: Sequence[Task],
    sandbox: Sandbox,
    progress: Progress | None = None,
    asserts: Mapping[str, str] | None = None,
) -> list[PlantedBug]:
    """A proven bug for every task that can have one, in order; from the cache when the same was asked before.

    `asserts` are tests that may be shown, by the task's id, where the scoring tests may not: a bug that one of them
    notices is preferred. Such tasks get no functions around them: their scoring scripts cannot be joined.
    """
    later = {"packages", "language"}  # fields that came later, and say nothing here
    said = json.dumps([task.model_dump(mode="json", exclude=later) for task in tasks], sort_keys=True)
    said += json.dumps(asserts, sort_keys=True) if asserts else ""

    def plant() -> list[Any]:
        """Prove a bug for each task, as many at a time as there are processors."""

        def prove(task: Task) -> PlantedBug | None:
            """One bug, with functions around it where the suite has files."""
            bug = _plant_bug(task, sandbox, (asserts or {}).get(task.id, ""))
            return _add_neighbours(bug, task, tasks, sandbox) if bug and not asserts else bug

        bugs = map_tasks(prove, tasks, "planting bugs", progress)
        return [bug.model_dump(mode="json") for bug in bugs if bug]

    rows = remember("planted", f"{PLANT_VERSION} {sys.version_info[:2]} {said}", plant)
    return [PlantedBug.model_validate(row) for row in rows]


def _plant_bug(task: Task, sandbox: Sandbox, asserts: str) -> PlantedBug | None:
    """The first mutant with a wrong result that a test to be shown notices, else the first that comes nearest to it."""
    reference = normalise_code(task.gold)
    for tests in filter(None, (task.hidden_tests, asserts)):
        if not grade_script(reference, tests, sandbox, REFERENCE_SECONDS).all_passed:
            return None
    best: PlantedBug | None = None
    best_rank = (False, False)
    for mutant in itertools.islice(propose_bugs(reference, task.entry_point, task.id), MOST_TRIES):
        scored = grade_script(mutant.code, task.hidden_tests, sandbox, MUTANT_SECONDS)
        if scored.all_passed or not scored.cases:
            continue
        shown = grade_script(mutant.code, asserts, sandbox, MUTANT_SECONDS) if asserts else scored
        failing = next((number for number, case in enumerate(shown.cases) if case.outcome != "passed"), None)
        # Where a few assertions notice, they say how: a hundred inputs may take too long on a slower machine.
        rank = (failing is not None, is_wrong_result(scored if failing is None else shown))
        if best is None or rank > best_rank:
            best, best_rank = PlantedBug(id=task.id, code=mutant.code, bug=mutant.bug, failing=failing), rank
        if all(rank):
            break
    return best


def is_wrong_result(graded: Graded) -> bool:
    """Whether the code ran to its end on every test and a value was wrong."""
    return not graded.problem and all(case.how == "wrong_value" for case in graded.cases if case.outcome != "passed")


def _add_neighbours(bug: PlantedBug, task: Task, tasks: Sequence[Task], sandbox: Sandbox) -> PlantedBug:
    """The bug, with the functions that can stand around it: all five must pass their own tests in one file."""
    avoid: set[str] = set()
    for _ in range(MOST_FILES):
        around = pick_neighbours(task, tasks, avoid)
        whole = build_file(with_docstring(task.gold, task), around, task.id)
        tests = "".join(one.hidden_tests for one in (task, *around))
        if len(around) == NEIGHBOURS and grade_script(whole, tests, sandbox, REFERENCE_SECONDS).all_passed:
            return bug.model_copy(update={"neighbours": tuple(one.id for one in around)})
        avoid |= {one.id for one in around}
    return bug


def _load_mbppfix(request: SuiteRequest) -> list[Task]:
    """The proven bugs as tasks of one variant."""
    tasks = {task.id: task for task in load_mbpp(request.split, request.data, request.progress)}
    with nullcontext(request.sandbox) if request.sandbox else open_sandbox() as box:
        bugs = load_planted_bugs(list(tasks.values()), box, request.progress)
    if request.variant == "docs":
        return [bug_planting.as_docs(tasks[bug.id], bug) for bug in bugs]
    if request.variant == "tests":
        return [bug_planting.as_tests(tasks[bug.id], bug) for bug in bugs]
    return [
        bug_planting.as_file(tasks[bug.id], bug, [tasks[name] for name in bug.neighbours])
        for bug in bugs
        if bug.neighbours
    ]


def _load_mbppplusfix(request: SuiteRequest) -> list[Task]:
    """The proven bugs as tasks of one variant. One that no assertion notices cannot be told by a test alone."""
    tasks = {task.id: task for task in load_mbppplus(request.split, request.data, request.progress)}
    asserts = load_plus_asserts(request.split, request.data)
    with nullcontext(request.sandbox) if request.sandbox else open_sandbox() as box:
        bugs = load_planted_bugs(list(tasks.values()), box, request.progress, asserts)
    found = []
    for bug in bugs:
        task, given = tasks[bug.id], asserts[bug.id]
        if request.variant == "docs":
            shown = {"visible_tests": (bug_planting.find_failing(task, bug, given),)}
            found.append(bug_planting.as_docs(task, bug).model_copy(update=shown))
        elif bug.failing is not None:
            found.append(bug_planting.as_tests(task, bug, given))
    return found


SUITES = {
    suite.name: suite
    for suite in (
        SuiteInfo(
            "humanevalfix",
            "repair a function with a bug: with its docstring (docs), or with examples alone (tests)",
            164,
            lambda request: load_humanevalfix(request.variant, request.data, request.progress),
            ("docs", "tests"),
        ),
        SuiteInfo(
            "humaneval",
            "write a function from its docstring",
            164,
            lambda request: load_humaneval(request.data, request.progress),
        ),
        SuiteInfo(
            "mbpp",
            "write a function from a sentence and one assertion",
            500,
            lambda request: load_mbpp(request.split, request.data, request.progress),
            splits=("eval", "tune"),
        ),
        SuiteInfo(
            "mbppplus",
            "the same, one assertion shown or all, scored with about a hundred inputs (the split calibrate holds tune)",
            224,
            lambda request: load_mbppplus(
                request.split, request.data, request.progress, all_shown=request.variant == "all"
            ),
            ("one", "all"),
            splits=("eval", "tune", "calibrate"),
            protocols=("visible",),  # its scoring script computes what is expected with the reference
        ),
        SuiteInfo(
            "mbppfix",
            "repair a planted bug: with a docstring (docs), a failing test alone (tests), in a file of five (file)",
            499,
            _load_mbppfix,
            bug_planting.VARIANTS,
            ("eval", "tune"),
        ),
        SuiteInfo(
            "mbppplusfix",
            "repair a planted bug with one assertion shown, scored as mbppplus (the split calibrate holds tune)",
            216,
            _load_mbppplusfix,
            ("docs", "tests"),
            ("eval", "tune", "calibrate"),
            ("visible",),
        ),
    )
}
