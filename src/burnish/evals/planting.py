"""Planting proven bugs: a mutant is accepted only when the tests, run in a sandbox, reject it and pass the reference.

Wrong results are preferred to crashes and endless loops: those give themselves away. What was proven once is kept in
the cache; a kept file that is torn, changed or of another version is not trusted but made anew.
"""

import hashlib
import itertools
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from burnish import paths
from burnish.checks import grade_script
from burnish.evals.keeping import keep, kept
from burnish.events import Graded
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks.bug_planting import PLANT_VERSION, normalise_code, propose_bugs
from burnish.tasks.data import Progress
from burnish.tasks.mbppfix import NEIGHBOURS, PlantedBug, build_file, pick_neighbours, with_docstring
from burnish.tasks.task import Task

MOST_TRIES = 80
MOST_FILES = 5
MUTANT_SECONDS = 1.0
REFERENCE_SECONDS = 2.0


def planted(tasks: Sequence[Task], sandbox: Sandbox, progress: Progress | None = None) -> list[PlantedBug]:
    """A proven bug for every task that can have one, in order; from the cache when the same was asked before."""
    place = _place(tasks)
    known = kept(place)
    if known is not None:
        return [PlantedBug.model_validate(one) for one in known]
    found = plant(tasks, sandbox, progress)
    keep(place, [one.model_dump(mode="json") for one in found])
    return found


def plant(tasks: Sequence[Task], sandbox: Sandbox, progress: Progress | None = None) -> list[PlantedBug]:
    """Prove a bug for each task, as many at a time as there are processors."""
    found = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for number, one in enumerate(pool.map(lambda task: _plant(task, tasks, sandbox), tasks), 1):
            found.append(one)
            if progress:
                progress(number, len(tasks), "planting bugs")
    return [one for one in found if one]


def _plant(task: Task, tasks: Sequence[Task], sandbox: Sandbox) -> PlantedBug | None:
    reference = normalise_code(task.gold)
    if not grade_script(reference, task.hidden_tests, sandbox, REFERENCE_SECONDS).all_passed:
        return None
    second_best: PlantedBug | None = None
    for mutant in itertools.islice(propose_bugs(reference, task.entry_point, task.id), MOST_TRIES):
        graded = grade_script(mutant.code, task.hidden_tests, sandbox, MUTANT_SECONDS)
        if graded.all_passed or not graded.cases:
            continue
        bug = PlantedBug(id=task.id, code=mutant.code, bug=mutant.bug, failing=_first_failing(graded))
        if is_wrong_result(graded):
            return _among_neighbours(bug, task, tasks, sandbox)
        second_best = second_best or bug
    return _among_neighbours(second_best, task, tasks, sandbox) if second_best else None


def is_wrong_result(graded: Graded) -> bool:
    """Whether the code ran to its end on every test and a value was wrong."""
    failed = [case.message for case in graded.cases if case.outcome != "passed"]
    return not graded.problem and not any("\nraised " in f"\n{message}" for message in failed)


def _first_failing(graded: Graded) -> int:
    return next(number for number, case in enumerate(graded.cases) if case.outcome != "passed")


def _among_neighbours(bug: PlantedBug, task: Task, tasks: Sequence[Task], sandbox: Sandbox) -> PlantedBug:
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


def _place(tasks: Sequence[Task]) -> Path:
    """The cache's file for these tasks, this way of planting and this Python."""
    said = json.dumps([task.model_dump(mode="json", exclude={"packages"}) for task in tasks], sort_keys=True)
    key = hashlib.sha256(f"{PLANT_VERSION} {sys.version_info[:2]} {said}".encode()).hexdigest()
    return paths.cache() / "suites" / f"planted-{key[:24]}.json"
