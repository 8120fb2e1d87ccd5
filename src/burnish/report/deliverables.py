"""What a run delivers beside its code, read from its record: the task, its module's name, its tests; and where to."""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from burnish.checks.suite import Suite
from burnish.errors import SetupProblem
from burnish.events import Outcome, RunSettings, Strengthened
from burnish.events.history import Run, Version
from burnish.report.narrate import describe_question
from burnish.tasks.examples import find_assumed_tests
from burnish.tasks.task import Task
from burnish.text import one_line


def is_empty_folder(path: Path) -> bool:
    """Whether there is a folder with nothing in it; a link to one counts, as the user named it."""
    return path.is_dir() and not any(path.iterdir())


def check_free(out: Path, *, file: str = "", numbered: bool = False) -> Path:
    """Refuse, before any work is done, a place for results that is taken or cannot be written; else return it.

    A folder that is there and empty is free. With `file`, the name of a file, a file is wanted: in an empty folder it
    gets that name. With `numbered` the place may be taken: whoever writes adds a number.
    """
    name, again = one_line(str(out), 200), f"file: --out {file}" if file else "folder: --out DIR"
    try:
        is_empty, is_taken = is_empty_folder(out), out.is_symlink() or out.exists()
    except OSError as error:
        raise SetupProblem(f"{name!r}: {error.strerror}. Name a new {again}") from error
    if is_taken and not is_empty and not numbered:
        raise SetupProblem(f"{name!r} exists, and Burnish never overwrites. Name a new {again}")
    out = out / file if is_empty and file else out
    inside = [out] if is_empty and not file else [*out.absolute().parents][: 1 if file else None]
    parent = next((place for place in inside if place.exists()), inside[0])
    try:
        # Tried, not asked: to root, and on a file system that is mounted read-only, permissions say nothing.
        Path(tempfile.mkdtemp(prefix=".burnish-", dir=parent)).rmdir()
    except OSError as error:
        folder = one_line(str(parent), 200)
        raise SetupProblem(
            f"The folder {folder!r} cannot be written ({error.strerror}). Name another place: --out {file or 'DIR'}"
        ) from error
    return out


def list_open_questions(run: Run) -> list[str]:
    """What nothing has settled: what versions disagree on, what the model says is open, what it assumed and the code
    does otherwise, and examples in words that were set aside.
    """
    if run.spec is None:
        return []
    asked = run.open_question
    settles = [f"{describe_question(asked)} Settle it: burnish answer {run.id} A"] if asked else []
    broken = [point for test, point in find_assumed_tests(run.spec.assumptions).items() if test in run.disputed]
    doubts = [f"{point} was assumed, and the code does something else" for point in broken]
    for one in run.spec.worded:
        if one.test in run.disputed:
            claim, quote = one.test.removeprefix("assert "), one_line(one.quote, 80)
            doubts.append(f"is `{claim}` right? It was read from “{quote}”, and most versions do something else")
    return [*settles, *run.spec.open_questions, *doubts]


def read_task(run: Run) -> Task:
    """The task of a run, without what only scores it; of an old record, what there is.

    Raises SetupProblem if the record holds something else in its place.
    """
    known = RunSettings.merge(run.started.settings).task
    fields = {name: value for name, value in known.items() if name in Task.model_fields}
    try:
        return Task.model_validate({"id": run.id, "prompt": run.started.prompt, **fields})
    except ValidationError as error:
        raise SetupProblem(
            f"The record of run {run.id!r} has been altered: its task cannot be read ({error.errors()[0]['msg']}). "
            f"See the rest of it with: burnish show {run.id} --json"
        ) from error


def read_suite(run: Run) -> Suite:
    """The tests of a run as one suite."""
    return Suite.for_task(read_task(run), run.spec, run.model_tests, run.added_tests, run.pinned_tests)


@dataclass(frozen=True)
class TestRow:
    """One test of a run: who says that it is right, and what it said of a version."""

    __test__ = False  # pytest would take the name for a class of tests
    test: str
    source: Literal["given", "project", "model", "worded", "spec", "agreed", "pinned", "added"]
    """The last four were added for what went unnoticed; "added" in older records, which do not say by whom."""
    note: str
    """The words that it was read from, or why it was added."""
    outcome: Outcome | Literal["disputed"]


def list_tests(run: Run, version: Version | None) -> list[TestRow]:
    """Every test of a run, given ones first, as this version met it."""
    suite = read_suite(run)
    outcomes = suite.outcomes(version.graded) if version and version.graded else {}
    added = {new.test: new for event in run.all(Strengthened) for new in event.tests}
    worded = {one.test: one.quote for one in (run.spec.worded if run.spec else ())}
    rows = []
    for body in suite.names.values():
        outcome: Outcome | Literal["disputed"] = outcomes.get(body, "not_run")
        outcome = "disputed" if body in run.disputed else outcome
        if body in suite.given:
            rows.append(TestRow(body, "given", "", outcome))
        elif body in suite.project:
            rows.append(TestRow(body, "project", "", outcome))
        elif body in suite.model:
            rows.append(TestRow(body, "model", "", outcome))
        elif body in worded:
            rows.append(TestRow(body, "worded", worded[body], outcome))
        elif new := added.get(body):
            rows.append(TestRow(body, new.origin, new.why, outcome))
        else:
            rows.append(TestRow(body, "added", "", outcome))
    return rows


def read_module_name(run: Run) -> str:
    """What the module is called where it is delivered; of a repair, by its path below the project's root."""
    facts = run.settings.fix
    parts = Path(facts.name).with_suffix("").parts if facts else ()
    inside = parts[1:] if parts[:1] == ("src",) else parts
    if inside and all(part.isidentifier() for part in inside):
        return ".".join(inside)
    return read_task(run).module or "solution"


def render_tests(run: Run) -> str:
    """The text of the test file that is delivered."""
    return render_suite(read_suite(run), run.disputed, read_module_name(run))


def render_suite(suite: Suite, disputed: tuple[str, ...], module: str) -> str:
    """A suite as the file that is delivered beside its module. The user's own file imports the module by its name."""

    def rename_import(match: re.Match[str]) -> str:
        alias = match[2] or ""
        return match[1] + module + ("" if alias.split()[-1:] == [module] else alias)

    own = re.sub(r"(\b(?:from|import)\s+)solution\b(\s+as\s+\w+)?", rename_import, suite.file)
    return suite.model_copy(update={"file": own}).render(disputed, module)
