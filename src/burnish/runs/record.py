"""One run's record: `events.jsonl`, the truth. Appended and flushed before the next step, read back line by line."""

import errno
import fcntl
import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from burnish.errors import SetupProblem
from burnish.events import RECORD_VERSION, BaseEvent, Event, read_event, write_event
from burnish.jsonlines import parse_json_lines
from burnish.paths import close_to_others, open_private_file

FILE = "events.jsonl"
MOST_BYTES = 512 << 20
"""Of a record: thousands of times what a long run writes, and still less than the memory of a small machine."""

UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""From version n to n + 1, one event (as plain data) at a time. A step is never changed once released."""


class Record:
    """An open record that several threads may append to. Append-only: what is written stays."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._lock = threading.Lock()
        torn = self.path.exists() and not _ends_with_newline(self.path)
        close_to_others(folder)
        try:
            self._file = os.fdopen(open_private_file(self.path, os.O_WRONLY | os.O_APPEND), "ab", buffering=0)
        except OSError as error:
            raise _explain_unwritable(self.path, error) from error
        if torn:
            self._write(b"\n")

    def hold(self) -> None:
        """Be the one who works on this run, until `close` or the end of the process, however it ends."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise SetupProblem(
                f"Another process is working on run {self.path.parent.name!r} right now. Wait for it, or stop it there "
                f"with Ctrl-C, and then type: burnish resume {self.path.parent.name}"
            ) from error
        except OSError:  # a place that knows no locks; nothing there can tell
            pass

    def append(self, event: BaseEvent) -> None:
        """Write the event down, unless only a live reader wants it."""
        if not event.lasting:
            return
        line = write_event(event)
        with self._lock:
            if not self._file.closed:
                self._write(line)

    def close(self) -> None:
        """Make the record survive a power cut, and let go of it."""
        with self._lock:
            if not self._file.closed:
                with suppress(OSError):  # every line is with the kernel already; not all places can do more
                    os.fsync(self._file.fileno())
                self._file.close()

    def _write(self, line: bytes) -> None:
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError as error:
            raise _explain_unwritable(self.path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_record(folder: Path) -> list[Event]:
    """Every event of a run, oldest first, whatever version wrote it.

    A line torn by a crash is passed over, and so is one that is there a second time, to the very moment: what it cost
    was paid once. Raises SetupProblem for a record that holds something else than events.
    """
    if (folder / FILE).stat().st_size > MOST_BYTES:
        raise explain_altered(folder, f"it is larger than {MOST_BYTES >> 20} MiB")
    lines = dict.fromkeys((folder / FILE).read_text("utf-8", errors="replace").split("\n"))
    rows = list(parse_json_lines(lines))
    version = rows[0].get("version", RECORD_VERSION) if rows else RECORD_VERSION
    if type(version) is not int or not all(step in UPGRADES for step in range(version, RECORD_VERSION)):
        raise explain_altered(folder, f"its version is {version!r}")
    if version > RECORD_VERSION:
        raise SetupProblem(
            f"Run {folder.name!r} was recorded by a newer Burnish (record version {version}, this one reads up to "
            f"{RECORD_VERSION}). Update Burnish to open it: git pull"
        )
    try:
        for step in range(version, RECORD_VERSION):
            rows = [UPGRADES[step](row) for row in rows]
        return [read_event(json.dumps(row)) for row in rows]
    except ValidationError as error:
        raise explain_altered(folder, error.errors()[0]["msg"]) from error


def explain_altered(folder: Path, why: str) -> SetupProblem:
    """What is said of a record that no Burnish has written so."""
    return SetupProblem(
        f"The record of run {folder.name!r} has been altered and cannot be read ({why}). "
        f"Look at it with: less {folder / FILE}"
    )


def _explain_unwritable(path: Path, error: OSError) -> SetupProblem:
    why = "the disk is full" if error.errno == errno.ENOSPC else error.strerror
    return SetupProblem(
        f"The record {path} cannot be written ({why}). What was written so far is kept. Make room, or keep runs "
        f"elsewhere: export BURNISH_HOME=/path/to/a/folder"
    )


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
