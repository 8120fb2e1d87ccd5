"""One run's record: `events.jsonl`, the truth. Appended and flushed before the next step, read back line by line.

An `Emitter` puts what a run says on record first, and then hands it to whoever watches. Whoever works on a run holds a
lock on its record, so that every other process can tell whether it goes on, and `follow` it.
"""

import errno
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from burnish.errors import SetupProblem
from burnish.events import (
    RECORD_VERSION,
    BaseEvent,
    Event,
    ModelChunk,
    ModelReplied,
    ModelThought,
    Notice,
    RunFinished,
    RunStarted,
    Stopped,
    read_event,
    write_event,
)
from burnish.events.replay import unless_known
from burnish.jsonlines import parse_json_lines
from burnish.paths import close_to_others, open_private_file
from burnish.runs.live import LiveLog
from burnish.system import take_lock

FILE = "events.jsonl"
THOUGHTS = "thoughts.jsonl"
"""What models thought, a line for each answer, where that was to be kept. Only people read it."""
MOST_BYTES = 512 << 20
"""Of a record: thousands of times what a long run writes, and still less than the memory of a small machine."""

UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""From version n to n + 1, one event (as plain data) at a time. A step is never changed once released."""

POLL_SECONDS = 0.1
HOLD_SECONDS = 0.5
"""Others than a worker have the lock for a moment only: `is_running`, and whoever rates a run."""

Watch = Callable[[BaseEvent], None]


class Record(AbstractContextManager["Record"]):
    """An open record that several threads may append to. Append-only: what is written stays."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._lock = threading.Lock()
        close_to_others(folder)
        try:
            self._file = os.fdopen(open_private_file(self.path, os.O_RDWR | os.O_APPEND), "a+b", buffering=0)
        except OSError as error:
            raise _explain_unwritable(self.path, error) from error

    def hold(self, wait_seconds: float = HOLD_SECONDS) -> None:
        """Be the one who works on this run, until `close` or the end of the process, however it ends.

        Raises SetupProblem where another process still has it after `wait_seconds`.
        """
        until = time.monotonic() + wait_seconds
        with suppress(OSError):  # a place that knows no locks; nothing there can tell
            while not take_lock(self._file):
                if time.monotonic() >= until:
                    break
                time.sleep(POLL_SECONDS / 5)
            else:
                return
            self._file.close()
            raise SetupProblem(
                f"Another process is working on run {self.path.parent.name!r} right now. Wait for it, or stop it there "
                f"with Ctrl-C, and then type: burnish resume {self.path.parent.name}"
            )

    def append(self, event: BaseEvent) -> None:
        """Write the event down, unless only a live reader wants it."""
        if not event.lasting:
            return
        line = write_event(event)
        with self._lock:
            if not self._file.closed:
                size = os.fstat(self._file.fileno()).st_size
                # A full disk, or another process that was killed, may have torn the last line just now.
                is_torn = size and os.pread(self._file.fileno(), 1, size - 1) != b"\n"
                self._write(b"\n" + line if is_torn else line)

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

    def __exit__(self, *error: object) -> None:
        self.close()


class Emitter:
    """Where a run's words go: its record, which forgets nothing, the log for live readers, and whoever watches.

    `known` is what earlier parts of the run have on record; it is not written down again. Once the user has stopped
    the run, whoever still talks is not heard: that end is the last word on record.
    """

    def __init__(
        self, record: Record, watch: Watch | None = None, known: Sequence[Event] = (), keep_thoughts: bool = False
    ) -> None:
        self.folder = record.path.parent
        """The run's own, for what is too large for its record."""
        self.live = LiveLog(known)
        self.has_begun, self.has_verdict = bool(known), False
        self._record = record
        self._append = unless_known(known, self._write)
        self._thoughts: dict[str, str] | None = {} if keep_thoughts else None
        """By ask, those of answers that are being written; None where they are not kept."""
        self._watch = watch
        self._lock = threading.Lock()
        self._end: BaseEvent | None = None

    def record(self, event: BaseEvent) -> None:
        """Put the event on disk, unless the user has ended the run."""
        with self._lock:
            if self._end is None:
                if isinstance(event, Stopped) and event.reason == "interrupted":
                    self._end = event
                self._append(event)
                self.has_begun = self.has_begun or isinstance(event, RunStarted)
                self.has_verdict = self.has_verdict or isinstance(event, RunFinished)

    def show(self, event: BaseEvent) -> None:
        """Give whoever watches an event that is on record."""
        if self._watch and (self._end is None or event == self._end):
            self._watch(event)

    def tell(self, event: BaseEvent) -> None:
        """Record it, then show it."""
        self.record(event)
        self.show(event)

    def notify(self, text: str) -> None:
        """Tell those who read along something that nobody puts on record."""
        self.tell(Notice(text=text))

    def _write(self, event: BaseEvent) -> None:
        self._record.append(event)
        self.live.add(event)
        if self._thoughts is None or not isinstance(event, ModelThought | ModelChunk | ModelReplied):
            return
        before = self._thoughts.pop(event.ask_id, "")
        if isinstance(event, ModelReplied):
            if before:
                append_thought(self.folder, ModelThought(ask_id=event.ask_id, text=before))
            return
        before = "" if event.instead else before
        self._thoughts[event.ask_id] = before + event.text if isinstance(event, ModelThought) else before


def notices_to(watch: Watch | None) -> Callable[[str], None] | None:
    """`watch` for plain words, which nobody puts on record."""
    return (lambda text: watch(Notice(text=text))) if watch else None


def append_thought(folder: Path, thought: ModelThought) -> None:
    """Keep what was thought before one answer, in a file that only its owner may read."""
    try:
        with os.fdopen(open_private_file(folder / THOUGHTS, os.O_WRONLY | os.O_APPEND), "ab") as file:
            file.write(write_event(thought))
    except OSError as error:
        raise _explain_unwritable(folder / THOUGHTS, error) from error


def read_thoughts(folder: Path) -> list[ModelThought]:
    """What was kept of a run's thoughts, an answer each; none where they were not to be kept."""
    with suppress(FileNotFoundError, ValidationError):
        rows = parse_json_lines((folder / THOUGHTS).read_text("utf-8", errors="replace").split("\n"))
        return [ModelThought.model_validate(row) for row in rows]
    return []


def is_running(folder: Path) -> bool:
    """Whether somebody works on the run in this folder: its process lives, whatever became of others."""
    with suppress(OSError), (folder / FILE).open("rb") as file:
        return not take_lock(file)
    return False


def follow(folder: Path) -> Iterator[Event]:
    """Every event on record from the first, then each new one, until nobody works on the run any more.

    This is how another process reads along. What a model has said of an answer that is not whole yet is not on record.
    """
    count, size = 0, -1
    with suppress(FileNotFoundError):  # somebody has removed the run
        while True:
            # In this order: what was written before the lock was freed is still read.
            running, began = is_running(folder), time.monotonic()
            if size != (size := (folder / FILE).stat().st_size):
                events = read_record(folder)
                took = time.monotonic() - began
                yield from events[count:]
                count = len(events)
            elif not running:
                return
            else:
                time.sleep(max(POLL_SECONDS, 5 * took))  # a long record is not read all the time


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
