"""Is a task fit to measure with? Its reference must pass, its bug must show; a row that is not is named and left out.

A reference gets a third of the time that an answer gets, so that no answer fails for being a little slower than it,
and so that the same rows are valid on a slower machine. What took long to find out is kept in the cache with a hash of
itself: a torn or edited file counts as none.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from burnish import paths
from burnish.checks import grade_script
from burnish.errors import SandboxError
from burnish.evals.schema import LeftOut
from burnish.paths import make_private_folder
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks.assemble import assemble
from burnish.tasks.data import Progress
from burnish.tasks.sentence import find_kinds
from burnish.tasks.task import Task
from burnish.text import one_line

VALIDATE_VERSION = 1
TIMEOUT_SECONDS = 5.0
GOLD_SHARE = 1 / 3
FIRST_FIELDS = {"id", "prompt", "entry_point", "signature", "visible_tests", "earlier_tests", "base_code", "prelude"}
FIRST_FIELDS |= {"hidden_tests", "gold", "bug", "split"}
"""What a task said when the first evaluations were made."""

Answer = TypeVar("Answer")


class Validation(NamedTuple):
    """The tasks that can be measured, and those that cannot."""

    valid: tuple[Task, ...]
    broken: tuple[LeftOut, ...]


def validate(
    tasks: Sequence[Task], sandbox: Sandbox, progress: Progress | None = None, timeout: float = TIMEOUT_SECONDS
) -> Validation:
    """Try every reference and every bug, as many at a time as there are processors. Known answers cost nothing."""
    # How a task is worded is no part of what is judged.
    judged = [task.model_copy(update={"prompt": "", "signature": "", "bug": ""}) for task in tasks]
    rules = (VALIDATE_VERSION, timeout, GOLD_SHARE, sandbox.kind, sys.version_info[:3], hash_tasks(judged))
    broken = dict(remember("validated", repr(rules), lambda: _find_broken(tasks, sandbox, progress, timeout)))
    return Validation(
        valid=tuple(task for task in tasks if task.id not in broken),
        broken=tuple(LeftOut(id=task.id, why=broken[task.id]) for task in tasks if task.id in broken),
    )


def hash_tasks(tasks: Sequence[Task]) -> str:
    """SHA-256 over all that the tasks say: two evaluations with the same hash measured the same."""
    rows = []
    for task in tasks:
        # A field that came later counts only where the task sets it, so that hashes of earlier evaluations last.
        fields = FIRST_FIELDS | task.model_fields_set
        rows.append({name: value for name, value in task.model_dump(mode="json").items() if name in fields})
    return _hash_json(rows)


def why_broken(task: Task, sandbox: Sandbox, timeout: float = TIMEOUT_SECONDS) -> str:
    """What makes a task unfit; empty when nothing does."""
    if task.language != "python":
        return f"it is to be written in {task.language}, and only Python can be run"
    if not task.hidden_tests.strip():
        return "it has no scoring tests"
    # A task without a reference is taken at its word.
    modules = dict.fromkeys([task.gold, assemble(task, task.gold)] if task.gold else [])
    trials = [("the scoring tests", module, task.hidden_tests, find_kinds(task)) for module in modules]
    if task.gold and (visible := "\n".join(task.visible_tests)):
        trials.append(("the visible tests", task.gold, visible, ()))
    for name, module, tests, kinds in trials:
        graded = grade_script(module, tests, sandbox, timeout * GOLD_SHARE, kinds)
        if graded.timed_out and not graded.all_passed:
            return f"its reference takes too long for {name}"
        if not graded.all_passed:
            failed = next((case.message for case in graded.cases if case.outcome != "passed"), "no test ran")
            return f"its reference fails {name}: {one_line(graded.problem or failed)}"
    if task.base_code and grade_script(task.base_code, task.hidden_tests, sandbox, timeout).all_passed:
        return "its buggy code passes the scoring tests"
    return ""


def _find_broken(
    tasks: Sequence[Task], sandbox: Sandbox, progress: Progress | None, timeout: float
) -> list[tuple[str, str]]:
    """Each unfit task and why, by name; each is asked twice, the second time with the machine to itself."""

    def ask(task: Task) -> str:
        try:
            return why_broken(task, sandbox, timeout)
        except SandboxError as error:
            return str(error)

    answers = map_tasks(ask, tasks, "checking the tasks", progress)
    doubted = {task.id for task, why in zip(tasks, answers, strict=True) if why}
    again = {task.id: why_broken(task, sandbox, timeout) for task in tasks if task.id in doubted}
    return sorted((name, why) for name, why in again.items() if why)


def map_tasks(
    work: Callable[[Task], Answer], tasks: Sequence[Task], label: str, progress: Progress | None
) -> list[Answer]:
    """The answer for each task, in order, as many at a time as there are processors."""
    answers = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for number, answer in enumerate(pool.map(work, tasks), 1):
            answers.append(answer)
            if progress:
                progress(number, len(tasks), label)
    return answers


def remember(kind: str, key: str, compute: Callable[[], Any]) -> Any:
    """What is in the cache under all that decides it, or else what `compute` gives, which is then kept.

    A cache that cannot be written only costs time.
    """
    file = paths.cache() / "suites" / f"{kind}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"
    with suppress(OSError, ValueError, LookupError, TypeError):
        found = json.loads(file.read_text("utf-8"))
        if found["sha256"] == _hash_json(found["kept"]):
            return found["kept"]
    value = compute()
    with suppress(OSError):
        make_private_folder(file.parent)
        whole = json.dumps({"sha256": _hash_json(value), "kept": value})
        paths.write_atomically(file, whole.encode(), paths.PRIVATE_MODE)
    return value


def _hash_json(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
