"""Is a task fit to measure with? Its reference must pass, its bug must show; a row that is not is named and left out.

A reference gets a third of the time that an answer gets, so that no answer fails for being a little slower than it,
and so that the same rows are valid on a slower machine.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from burnish import paths
from burnish.checks import grade_script
from burnish.errors import SandboxError
from burnish.evals.keeping import keep, kept
from burnish.events import Frozen, Graded
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks.assemble import assemble
from burnish.tasks.data import Progress
from burnish.tasks.sentence import find_kinds
from burnish.tasks.task import Task
from burnish.text import one_line

VALIDATE_VERSION = 1
TIMEOUT_SECONDS = 5.0
GOLD_SHARE = 1 / 3


class Broken(Frozen):
    """A task that cannot be measured, and why."""

    id: str
    why: str


class Validation(Frozen):
    """The tasks that can be measured, and those that cannot."""

    valid: tuple[Task, ...]
    broken: tuple[Broken, ...]


def validate(tasks: Sequence[Task], sandbox: Sandbox, progress: Progress | None = None) -> Validation:
    """Try every reference and every bug, as many at a time as there are processors. Known answers cost nothing."""
    place = _place(tasks, sandbox)
    known = kept(place)
    if known is not None:
        return _sorted(tasks, {name: why for name, why in known})
    broken = _broken(tasks, sandbox, progress)
    keep(place, sorted(broken.items()))
    return _sorted(tasks, broken)


FIRST_FIELDS = {"id", "prompt", "entry_point", "signature", "visible_tests", "earlier_tests", "base_code", "prelude"}
FIRST_FIELDS |= {"hidden_tests", "gold", "bug", "split"}


def tasks_hash(tasks: Sequence[Task]) -> str:
    """SHA-256 over all that the tasks say: two evaluations with the same hash measured the same."""
    said = json.dumps([_said(task) for task in tasks], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def _said(task: Task) -> dict[str, object]:
    """A task as data. What it may say since the first evaluations counts only where it says it, so that hashes last."""
    whole = task.model_dump(mode="json")
    return {name: value for name, value in whole.items() if name in FIRST_FIELDS or name in task.model_fields_set}


def why_broken(task: Task, sandbox: Sandbox) -> str:
    """What makes a task unfit; empty when nothing does."""
    if not task.hidden_tests.strip():
        return "it has no scoring tests"
    return next((why for why in _faults(task, sandbox) if why), "")


def _faults(task: Task, sandbox: Sandbox) -> Iterator[str]:
    """One answer for each thing that must hold; a task without a reference is taken at its word."""
    seconds = TIMEOUT_SECONDS * GOLD_SHARE
    visible = "\n".join(task.visible_tests)
    for module in dict.fromkeys([task.gold, assemble(task, task.gold)] if task.gold else []):
        graded = grade_script(module, task.hidden_tests, sandbox, seconds, find_kinds(task))
        yield _passes("the scoring tests", graded)
    if task.gold and visible:
        yield _passes("the visible tests", grade_script(task.gold, visible, sandbox, seconds))
    if task.base_code:
        graded = grade_script(task.base_code, task.hidden_tests, sandbox, TIMEOUT_SECONDS)
        yield "its buggy code passes the scoring tests" if graded.all_passed else ""


def _passes(tests: str, graded: Graded) -> str:
    if graded.all_passed:
        return ""
    if graded.timed_out:
        return f"its reference takes too long for {tests}"
    failed = next((case.message for case in graded.cases if case.outcome != "passed"), "no test ran")
    return f"its reference fails {tests}: {one_line(graded.problem or failed)}"


def _broken(tasks: Sequence[Task], sandbox: Sandbox, progress: Progress | None) -> dict[str, str]:
    """Why each unfit task is unfit; each is asked twice, the second time with the machine to itself."""
    broken = {}
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for number, why in enumerate(pool.map(lambda task: _try(task, sandbox), tasks), 1):
            if why:
                broken[tasks[number - 1].id] = why
            if progress:
                progress(number, len(tasks), "checking the tasks")
    again = {task.id: why_broken(task, sandbox) for task in tasks if task.id in broken}
    return {name: why for name, why in again.items() if why}


def _try(task: Task, sandbox: Sandbox) -> str:
    try:
        return why_broken(task, sandbox)
    except SandboxError as error:
        return str(error)


def _sorted(tasks: Sequence[Task], broken: dict[str, str]) -> Validation:
    left_out = [Broken(id=task.id, why=broken[task.id]) for task in tasks if task.id in broken]
    return Validation(valid=tuple(task for task in tasks if task.id not in broken), broken=tuple(left_out))


def _place(tasks: Sequence[Task], sandbox: Sandbox) -> Path:
    """The cache's file for these tasks, this sandbox, this Python and these rules; how a task is worded is no part."""
    judged = [task.model_copy(update={"prompt": "", "signature": "", "bug": ""}) for task in tasks]
    rules = (VALIDATE_VERSION, TIMEOUT_SECONDS, GOLD_SHARE, sandbox.kind, sys.version_info[:3], tasks_hash(judged))
    return paths.cache() / "suites" / f"validated-{hashlib.sha256(repr(rules).encode()).hexdigest()[:24]}.json"
