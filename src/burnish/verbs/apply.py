"""`burnish.apply`: put the repair of a finished `fix` run in place. The diff is in the run's folder either way."""

import difflib
from pathlib import Path
from typing import Any

from burnish.attempt import Watch
from burnish.errors import SetupProblem
from burnish.events import Applied
from burnish.runs import Record, Run, Store
from burnish.tasks.definitions import split
from burnish.verbs.target import put_in_place

DIFF = "fix.diff"


def apply(run: str | Run, *, store: Store | None = None, watch: Watch | None = None) -> Run:
    """Write what the run made over the file it was made from; its old content is kept beside it.

    Raises SetupProblem for a run that made nothing to apply, and for a file that has changed since the run began.
    """
    store = store or Store()
    opened = store.open(run) if isinstance(run, str) else run
    facts = facts_of(opened)
    diff = save_diff(opened, store)
    _must_be_good(opened, bool(diff), store)
    path = Path(str(facts["file"]))
    try:
        backup = put_in_place(path, str(facts["sha256"]), opened.code.encode(str(facts["encoding"])))
    except SetupProblem as problem:
        raise SetupProblem(f"{problem} The repair is kept as a diff: {store.runs / opened.id / DIFF}") from problem
    except OSError as error:
        raise SetupProblem(
            f"{str(path)!r} could not be written ({error.strerror}). The repair is kept as a diff: "
            f"{store.runs / opened.id / DIFF}"
        ) from error
    event = Applied(file=str(path), backup=str(backup))
    with Record(store.runs / opened.id) as record:
        record.append(event)
    if watch:
        watch(event)
    return Run((*opened.events, event))


def diff_of(run: Run) -> str:
    """What the run would change in its file, as a unified diff that `patch` and `git apply` read; empty if nothing."""
    facts, task = facts_of(run), run.started.settings.get("task")
    base = str(task.get("base_code", "")) if isinstance(task, dict) else ""
    if not run.code or run.code == base:
        return ""
    name = str(facts.get("name", "file.py"))
    lines = difflib.unified_diff(split(base), split(run.code), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n" for line in lines)


def save_diff(run: Run, store: Store) -> str:
    """The diff, put into the run's folder as well."""
    diff = diff_of(run)
    if diff:
        with (store.runs / run.id / DIFF).open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(diff)
    return diff


def facts_of(run: Run) -> dict[str, Any]:
    """What a `fix` run knows of its file: file, name, sha256, encoding, aside. Raises SetupProblem for other runs."""
    facts = run.started.settings.get("fix")
    if not isinstance(facts, dict):
        raise SetupProblem(
            f"Run {run.id!r} repaired no file (it is a run of {run.started.verb!r}). "
            f"Choose one of `burnish fix` from: burnish runs"
        )
    return facts


def _must_be_good(run: Run, changes: bool, store: Store) -> None:
    if run.last(Applied):
        raise SetupProblem(f"Run {run.id!r} has been applied already. See what it did with: burnish show {run.id}")
    if run.verdict not in ("proven", "plausible"):
        kept = f" Its best version is kept as a diff: {store.runs / run.id / DIFF}." if changes else ""
        raise SetupProblem(
            f"Run {run.id!r} is {run.state}, and only a repair that passes its tests is put in place.{kept} "
            f"Try again: burnish fix {facts_of(run)['name']}"
        )
    if not changes:
        raise SetupProblem(f"Run {run.id!r} changed nothing, so there is nothing to apply. See: burnish show {run.id}")
