"""The index over all runs, in SQLite. A cache: it can be rebuilt from the records, and is, when it is damaged."""

import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from burnish.errors import SetupProblem
from burnish.events import Frozen, RunStarted
from burnish.paths import open_private_file
from burnish.runs.accounts import Account
from burnish.runs.record import FILE, altered, read_record
from burnish.runs.run import Run
from burnish.text import one_line

UNREADABLE = "unreadable"
"""In place of a run's state: its record is there, and this Burnish cannot read it."""
ACCOUNTS: TypeAdapter[tuple[Account, ...]] = TypeAdapter(tuple[Account, ...])


class Row(Frozen):
    """What a list shows of one run."""

    id: str
    started_at: float
    verb: str
    prompt: str
    model: str
    state: str
    seconds: float
    tokens: int
    stars: int | None
    folder: str | None
    accounts: tuple[Account, ...] = ()
    """What each model read, wrote, took and cost."""
    why: str = ""
    """Why the record cannot be read; empty where it can. It is then listed at the time when its file was changed."""


def m001_runs(db: sqlite3.Connection) -> None:
    """One row a run, with the size and time of change of the record it was read from."""
    db.execute(
        "CREATE TABLE runs (id TEXT PRIMARY KEY, size INTEGER, changed_ns INTEGER, started_at REAL, verb TEXT, "
        "prompt TEXT, model TEXT, state TEXT, seconds REAL, tokens INTEGER, stars INTEGER, folder TEXT)"
    )


def m002_speeds(db: sqlite3.Connection) -> None:
    """No longer filled: the rows of runs say which records to read for a speed. An older Burnish still uses it."""
    db.execute(
        "CREATE TABLE speeds (file TEXT, size INTEGER, changed_ns INTEGER, model TEXT, tokens_per_second REAL, at REAL)"
    )


def m003_accounts(db: sqlite3.Connection) -> None:
    """What each model took, as JSON; every record is read anew to fill it."""
    db.execute("ALTER TABLE runs ADD COLUMN accounts TEXT NOT NULL DEFAULT '[]'")
    db.execute("DELETE FROM runs")


def m004_unreadable(db: sqlite3.Connection) -> None:
    """Why a record cannot be read; every record is read anew, as some that could be read before no longer can."""
    db.execute("ALTER TABLE runs ADD COLUMN why TEXT NOT NULL DEFAULT ''")
    db.execute("DELETE FROM runs")
    db.execute("DELETE FROM speeds")


MIGRATIONS = [m001_runs, m002_speeds, m003_accounts, m004_unreadable]
"""Append-only. `PRAGMA user_version` counts how many have been applied."""


def listed(path: Path, folders: Sequence[Path]) -> list[Row]:
    """A row for each of these run folders, newest first, through the index at `path`."""
    try:
        with Index(path) as index:
            return index.refreshed(folders)
    except (sqlite3.DatabaseError, ValidationError):  # damaged where opening it did not look
        path.unlink(missing_ok=True)
    with Index(path) as index:
        return index.refreshed(folders)


class Index:
    """The open index; a damaged file is thrown away and made anew, and an unwritable place gets one in memory."""

    def __init__(self, path: Path) -> None:
        try:
            self.db = _connect(path)
        except sqlite3.OperationalError:
            self.db = _connect(":memory:")
        except sqlite3.DatabaseError:
            path.unlink(missing_ok=True)
            self.db = _connect(path)

    def refreshed(self, folders: Iterable[Path]) -> list[Row]:
        """Rows for exactly these run folders, newest first; only changed records are read."""
        stamps = {folder: stamp for folder in folders if (stamp := _stamp(folder))}
        known = {row[0]: (row[1], row[2]) for row in self.db.execute("SELECT id, size, changed_ns FROM runs")}
        self.db.execute("BEGIN IMMEDIATE")
        for run_id in known.keys() - {folder.name for folder in stamps}:
            self.db.execute("DELETE FROM runs WHERE id = ?", (run_id,))
        for folder, stamp in stamps.items():
            if known.get(folder.name) != stamp:
                self._read(folder, stamp)
        self.db.execute("COMMIT")
        return self._rows()

    def _read(self, folder: Path, stamp: tuple[int, int]) -> None:
        try:
            told = _told(open_run(folder))
        except NotBegun:
            return
        except (SetupProblem, OSError) as problem:
            told = ("", "", "", UNREADABLE, 0.0, 0, None, None, "[]", one_line(str(problem), 400))
            told = (stamp[1] / 1e9, *told)
        self.db.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (folder.name, *stamp, *told),
        )

    def _rows(self) -> list[Row]:
        names = list(Row.model_fields)
        found = self.db.execute(f"SELECT {', '.join(names)} FROM runs ORDER BY started_at DESC, id")
        rows = [dict(zip(names, row, strict=True)) for row in found]
        return [Row(**row | {"accounts": ACCOUNTS.validate_json(row["accounts"])}) for row in rows]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.db.close()


class NotBegun(SetupProblem):
    """The record holds nothing yet: its process has just begun, or was stopped before it wrote anything down."""


def open_run(folder: Path) -> Run:
    """The run in a folder. Raises SetupProblem where there is none that this Burnish can read."""
    run = Run(read_record(folder))
    if not run.events:
        raise (SetupProblem if (folder / FILE).stat().st_size else NotBegun)(
            f"Run {folder.name!r} has no beginning: it was stopped before anything was written down. "
            f"Delete it with: burnish rm {folder.name}"
        )
    if not isinstance(run.events[0], RunStarted):
        raise altered(folder, "its first line is not the beginning of a run")
    if run.id != folder.name:  # the id is used as the name of a folder
        raise altered(folder, "it says that it is another run's")
    return run


def _told(run: Run) -> tuple[Any, ...]:
    """The columns of a run, from the time of its start."""
    started = run.started
    return (
        *(started.at, started.verb, started.prompt, started.model, run.state),
        *(run.seconds, run.tokens_in + run.tokens_out, run.stars, run.folder),
        *(ACCOUNTS.dump_json(run.accounts).decode(), ""),
    )


def _connect(where: Path | str) -> sqlite3.Connection:
    if isinstance(where, Path):
        with suppress(OSError):  # SQLite itself would make a file that all may read, and its journals like it
            os.close(open_private_file(where, os.O_RDWR))
    db = sqlite3.connect(where, timeout=10, isolation_level=None)
    try:
        db.execute("BEGIN IMMEDIATE")
        applied = db.execute("PRAGMA user_version").fetchone()[0]
        for migration in MIGRATIONS[applied:]:
            migration(db)
        db.execute(f"PRAGMA user_version = {max(applied, len(MIGRATIONS))}")
        db.execute("COMMIT")
    except BaseException:
        db.close()
        raise
    return db


def _stamp(folder: Path) -> tuple[int, int] | None:
    try:
        status = (folder / FILE).stat()
    except FileNotFoundError:  # another process has just removed the run
        return None
    return status.st_size, status.st_mtime_ns
