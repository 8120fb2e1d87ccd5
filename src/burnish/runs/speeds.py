"""How fast each model was when it was last at work, from what is on record: runs, evaluations, and examinations.

Nothing is stored that cannot be read again: the index remembers what each file said, and only changed files are read.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from burnish.events import LATEST, Frozen
from burnish.jsonlines import objects_among
from burnish.places import home
from burnish.runs.index import Index
from burnish.runs.record import FILE

LEAST_TOKENS = 16
"""Of an answer that counts: a shorter one tells how fast a model reads, not how fast it writes."""
EXAMINED = "doctor"
"""The folder, in the home of runs, of what `models doctor` has on record."""
MOST_EVALUATIONS = 20
_KINDS = (b'"run_started"', b'"model_replied"')


class Speed(Frozen):
    """How fast a model was once."""

    model: str
    tokens_per_second: float
    """Tokens written in the time in which at least one answer was awaited; reading the prompt is part of that time."""
    at: float
    """When."""


def last_speeds(folder: Path | None = None) -> dict[str, Speed]:
    """The newest speed of each model that has answered on this machine."""
    folder = folder or home()
    files = list(_sources(folder))
    if not files:
        return {}
    path = folder / "index.sqlite"
    try:
        with Index(path) as index:
            return _newest(_refreshed(index.db, files))
    except sqlite3.DatabaseError:  # damaged where opening it did not look
        path.unlink(missing_ok=True)
    with Index(path) as index:
        return _newest(_refreshed(index.db, files))


def measured(files: Iterable[Path]) -> list[Speed]:
    """What these files of events say, together: the answers of one run, or of all attempts of an evaluation."""
    spans: dict[str, list[tuple[float, float, int]]] = {}
    for file in files:
        for model, *span in _spans(_rows(file)):
            spans.setdefault(model, []).append((span[0], span[1], int(span[2])))
    return [speed for model, found in spans.items() if (speed := _speed(model, found))]


def _sources(folder: Path) -> Iterator[tuple[Path, tuple[int, int]]]:
    """Each file that may tell of a speed, with its size and time of change."""
    files = [*folder.glob(f"runs/*/{FILE}"), *folder.glob(f"{EXAMINED}/runs/*/{FILE}")]
    stamps = {file: stamp for file in files if (stamp := _stamp(file))}
    evaluated = {file: stamp for file in folder.glob("evals/*/results.json") if (stamp := _stamp(file))}
    newest = sorted(evaluated.items(), key=lambda item: item[1][1], reverse=True)[:MOST_EVALUATIONS]
    yield from (stamps | dict(newest)).items()


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:  # removed meanwhile
        return None
    return status.st_size, status.st_mtime_ns


def _refreshed(db: sqlite3.Connection, files: Sequence[tuple[Path, tuple[int, int]]]) -> list[Speed]:
    names = {str(file) for file, _ in files}
    known = {name: (size, changed) for name, size, changed in db.execute("SELECT file, size, changed_ns FROM speeds")}
    fresh = [(file, stamp) for file, stamp in files if known.get(str(file)) != stamp]
    gone = known.keys() - names
    if fresh or gone:
        db.execute("BEGIN IMMEDIATE")
        db.executemany(
            "DELETE FROM speeds WHERE file = ?", [(name,) for name in (*gone, *(str(file) for file, _ in fresh))]
        )
        for file, stamp in fresh:
            found = measured(sorted(file.parent.glob("attempts/*.jsonl")) if file.name != FILE else [file])
            rows = [(speed.model, speed.tokens_per_second, speed.at) for speed in found] or [("", 0.0, 0.0)]
            db.executemany("INSERT INTO speeds VALUES (?, ?, ?, ?, ?, ?)", [(str(file), *stamp, *row) for row in rows])
        db.execute("COMMIT")
    told = db.execute("SELECT model, tokens_per_second, at FROM speeds WHERE model != ''")
    return [Speed(model=model, tokens_per_second=speed, at=at) for model, speed, at in told]


def _newest(speeds: Iterable[Speed]) -> dict[str, Speed]:
    return {speed.model: speed for speed in sorted(speeds, key=lambda speed: speed.at)}


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    """The events that matter here. A record of any version will do, and what cannot be read is passed over."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError:
        return
    wanted = [line.decode("utf-8", "replace") for line in lines if any(kind in line for kind in _KINDS)]
    yield from objects_among(wanted)


def _spans(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[str, float, float, int]]:
    """Who wrote how much, from when to when. An answer that was repeated from the record was not written again."""
    model, seen = "", set()
    for row in rows:
        if row.get("kind") == "run_started":
            model = str(row.get("model", ""))
        if row.get("kind") != "model_replied" or row.get("ended") == "cut":
            continue
        who = str(row.get("model") or model)
        try:
            at, seconds, tokens = float(row["at"]), float(row["seconds"]), int(row["tokens_out"])
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        if not 0 <= at <= LATEST or not 0 < seconds < LATEST or not 0 < tokens < LATEST:  # NaN is none of these
            continue
        key = (row.get("ask_id"), seconds)
        if who and "," not in who and tokens >= LEAST_TOKENS and seconds > 0 and key not in seen:
            seen.add(key)
            yield who, at - seconds, at, tokens


def _speed(model: str, spans: Sequence[tuple[float, float, int]]) -> Speed | None:
    """Tokens over the time in which any of the answers was under way: several at once share it."""
    seconds, reached = 0.0, float("-inf")
    for begin, end, _ in sorted(spans):
        seconds += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    tokens = sum(count for _, _, count in spans)
    return Speed(model=model, tokens_per_second=tokens / seconds, at=reached) if seconds else None
