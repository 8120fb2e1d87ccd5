"""How models did for this user, counted from the runs and evaluations on this disk."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burnish.choosing.candidate import Record
from burnish.errors import BurnishError
from burnish.events import Decided
from burnish.models.names import split_names
from burnish.places import home
from burnish.runs import Run, Store, read_record
from burnish.runs.index import Row

VERBS = ("write", "fix")
"""What is a measure of a model; in `strengthen`, a model does not decide how it ends."""
NEWEST_PAIRS, NEWEST_EVALUATIONS = 30, 30
"""How many are read at most: a choice is made at every run and must be quick."""
DECIDED = ("proven", "failed", "broken")
"""A run without an example, which nothing could prove, and one that was interrupted say nothing of a model."""


def history(store: Store | None = None) -> dict[str, Record]:
    """The record of each model that was ever asked, by name."""
    found: dict[str, Record] = {}
    for name, record in (*_of_runs(store or Store()), *_of_evaluations(home() / "evals")):
        found[name] = found.get(name, Record()) + record
    return found


def _of_runs(store: Store) -> Iterator[tuple[str, Record]]:
    pairs = 0
    for row in store.list():
        if not _counts(row):
            continue
        names = split_names(row.model)
        if len(names) == 1:
            yield names[0], Record(runs=1, proven=int(row.state == "proven"))
        elif (pairs := pairs + 1) <= NEWEST_PAIRS:
            yield from _of_pair(names, row.state == "proven", store.runs / row.id)


def _counts(row: Row) -> bool:
    """Whether a run says something of its model, which must have been heard: a file may have been right already, a cap
    may have forbidden the first question, a server may have been down.
    """
    return row.verb in VERBS and row.tokens > 0 and row.state in DECIDED


def _of_pair(names: list[str], proven: bool, folder: Path) -> Iterator[tuple[str, Record]]:
    """Of several models, the last that was asked has what came of it; those before it were stuck."""
    try:
        run = Run(read_record(folder))
    except (BurnishError, OSError):
        return
    if not run.events:
        return
    last = max((move.model for event in run.all(Decided) for move in event.moves), default=0)
    for level, name in enumerate(names[: last + 1]):
        yield name, Record(runs=1, proven=int(proven and level == last))


def _of_evaluations(folder: Path) -> Iterator[tuple[str, Record]]:
    """Those of the whole agent with the tests that a user has; what an ablation says is about the agent."""
    files = sorted(folder.glob("*/results.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    for file in files[:NEWEST_EVALUATIONS]:
        try:
            told = json.loads(file.read_bytes())
            if (told["strategy"], told["protocol"], told["without"]) == ("burnish", "visible", []):
                yield _of_evaluation(told)
        except (OSError, ValueError, LookupError, TypeError):  # a half-written file is nobody's record
            continue


def _of_evaluation(told: Any) -> tuple[str, Record]:
    tasks = int(told["tasks_finished"])
    return str(told["model"]), Record(tasks=tasks, solved=float(told["pass_at_1"][-1]) * tasks if tasks else 0.0)
