"""The index over all runs, in SQLite. A cache: it can be rebuilt from the records, and is, when it is damaged."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import TypeAdapter, ValidationError

from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.runs.accounts import Account
from burnish.runs.record import FILE, read_record
from burnish.runs.run import Run

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


def m001_runs(db: sqlite3.Connection) -> None:
    """One row a run, with the size and time of change of the record it was read from."""
    db.execute(
        "CREATE TABLE runs (id TEXT PRIMARY KEY, size INTEGER, changed_ns INTEGER, started_at REAL, verb TEXT, "
        "prompt TEXT, model TEXT, state TEXT, seconds REAL, tokens INTEGER, stars INTEGER, folder TEXT)"
    )


def m002_speeds(db: sqlite3.Connection) -> None:
    """What each file of events says of its models' speed; a row without a model where it says nothing."""
    db.execute(
        "CREATE TABLE speeds (file TEXT, size INTEGER, changed_ns INTEGER, model TEXT, tokens_per_second REAL, at REAL)"
    )


def m003_accounts(db: sqlite3.Connection) -> None:
    """What each model took, as JSON; every record is read anew to fill it."""
    db.execute("ALTER TABLE runs ADD COLUMN accounts TEXT NOT NULL DEFAULT '[]'")
    db.execute("DELETE FROM runs")


MIGRATIONS = [m001_runs, m002_speeds, m003_accounts]
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
            run = Run(read_record(folder))
            started = run.started
        except (SetupProblem, IndexError, OSError):  # not a run that this Burnish can read; `show` says why
            return
        self.db.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (folder.name, *stamp, started.at, started.verb, started.prompt, started.model, run.state)
            + (run.seconds, run.tokens_in + run.tokens_out, run.stars, run.folder)
            + (ACCOUNTS.dump_json(run.accounts).decode(),),
        )

    def _rows(self) -> list[Row]:
        names = list(Row.model_fields)
        found = self.db.execute(f"SELECT {', '.join(names)} FROM runs ORDER BY started_at DESC, id")
        return [Row(**dict(zip(names, (*row[:-1], ACCOUNTS.validate_json(row[-1])), strict=True))) for row in found]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.db.close()


def _connect(where: Path | str) -> sqlite3.Connection:
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
