"""How each model did and how fast it wrote, from what is on record: runs, `models doctor`, and evaluations."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from burnish.errors import SetupProblem
from burnish.events import Frozen, ModelReplied
from burnish.models.names import split_names
from burnish.places import home
from burnish.runs.index import open_run
from burnish.runs.store import Store

LEAST_TOKENS = 16
"""Of an answer whose speed counts: a shorter one tells how fast a model reads, not how fast it writes."""
NEWEST_EVALUATIONS = 30
"""How many are read at most: a choice is made at every run and must be quick."""
TRIALS = "doctor"
"""The folder, in the home of runs, of what `models doctor` has on record."""


class TrackRecord(Frozen):
    """How a model did for this user: in runs, and in tasks of evaluations."""

    runs: int = Field(default=0, ge=0)
    proven: int = Field(default=0, ge=0)
    tasks: int = Field(default=0, ge=0)
    solved: float = Field(default=0.0, ge=0)


class Speed(Frozen):
    """How fast a model was once."""

    model: str
    tokens_per_second: float = Field(gt=0, allow_inf_nan=False)
    """Of one answer, as in a run's report; reading the prompt is part of its time."""
    at: float
    """When."""


def count_track_records(store: Store | None = None) -> dict[str, TrackRecord]:
    """How each model did. A run counts if it was decided and its model was heard; of several models, the last that
    answered has the result, and those before it were stuck. Of evaluations, those of the whole agent count.
    """
    runs, proven, tasks = Counter[str](), Counter[str](), Counter[str]()
    solved: dict[str, float] = defaultdict(float)
    for row in (store or Store()).list():
        if row.verb in ("write", "fix") and row.tokens and row.state in ("proven", "failed", "broken"):
            answered = {account.model for account in row.accounts}
            names = [name for name in split_names(row.model) if name in answered]
            runs.update(names)
            proven.update(names[-1:] if row.state == "proven" else [])
    for _, results in _read_evaluations(home()):
        try:
            finished, name = int(results["tasks_finished"]), str(results["model"])
            share = float(results["pass_at_1"][-1]) if finished else 0.0
            kind = (results["strategy"], results["protocol"], results["without"])
        except (LookupError, TypeError, ValueError):
            continue
        if kind == ("burnish", "visible", []):
            tasks[name] += finished
            solved[name] += share * finished
    return {
        name: TrackRecord(runs=runs[name], proven=proven[name], tasks=tasks[name], solved=solved[name])
        for name in {*runs, *tasks}
    }


def measure_speed(model: str, replies: Iterable[ModelReplied]) -> Speed | None:
    """The speed of one model's answers; None where none is whole and long enough to tell."""
    long = [reply for reply in replies if reply.ended != "cut" and reply.tokens_out >= LEAST_TOKENS and reply.seconds]
    if not long:
        return None
    rate = sum(reply.tokens_out for reply in long) / sum(reply.seconds for reply in long)
    return Speed(model=model, tokens_per_second=rate, at=max(reply.at for reply in long))


def last_speeds(folder: Path | None = None) -> dict[str, Speed]:
    """The newest speed of each model that has answered on this machine. The index says which records to read."""
    folder = folder or home()
    found: dict[str, Speed] = {}
    rows = [(row, store.runs / row.id) for store in (Store(folder), Store(folder / TRIALS)) for row in store.list()]
    for row, place in sorted(rows, key=lambda pair: pair[0].started_at, reverse=True):
        unknown = {one.model for one in row.accounts if one.tokens_out >= LEAST_TOKENS and "," not in one.model}
        unknown -= found.keys()
        try:
            replies = open_run(place).all(ModelReplied) if unknown else []
        except (SetupProblem, OSError):  # removed or altered meanwhile
            continue
        for model in unknown:
            own = [reply for reply in replies if (reply.model or row.model) == model]
            if speed := measure_speed(model, own):
                found[model] = speed
    for changed_at, results in _read_evaluations(folder):
        try:
            rate = results["cost"]["tokens_out"] / results["model_seconds"]
            speed = Speed(model=results["model"], tokens_per_second=rate, at=changed_at)
        except (LookupError, TypeError, ValueError, ArithmeticError):
            continue
        if speed.model not in found or found[speed.model].at < speed.at:
            found[speed.model] = speed
    return found


def _read_evaluations(folder: Path) -> Iterator[tuple[float, Any]]:
    """The newest files of results and when they were written; what is half-written or no JSON is passed over."""
    files = sorted(folder.glob("evals/*/results.json"), key=lambda file: -file.stat().st_mtime_ns)
    for file in files[:NEWEST_EVALUATIONS]:
        try:
            yield file.stat().st_mtime, json.loads(file.read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
