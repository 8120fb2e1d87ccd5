"""An evaluation on disk. `eval.json` is written first; then one file for each finished attempt, whole or not at all.

These two are the truth. Results, reports and plots are made from them and may be deleted at any time.
"""

import fcntl
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from burnish.errors import SetupProblem
from burnish.evals.plan import PLAN_VERSION, Plan
from burnish.evals.shelf import FILE, check_free, place
from burnish.evals.whole import writable
from burnish.events import Event, Frozen, read_event, write_event
from burnish.paths import PRIVATE_MODE, make_private_folder, write_atomically
from burnish.tasks.task import Task
from burnish.text import one_line

ATTEMPTS, PLOTS = "attempts", "plots"
INCIDENTAL = {"burnish", "at_once", "sandbox"}
"""What may differ between two plans that measure the same thing."""


class Row(Frozen):
    """What the reports need to know of one task."""

    id: str
    entry_point: str = ""
    bug: str = ""
    prompt: str = ""


class LeftOut(Frozen):
    """A row of the suite that is no fair task, and why."""

    id: str
    why: str


class Contents(Frozen):
    """`eval.json`."""

    plan: Plan
    data: str = ""
    """Where the tasks were read from: a folder of benchmark files or the JSON-lines file; empty for the usual place."""
    tasks: tuple[Row, ...]
    broken: tuple[LeftOut, ...] = ()


class Folder:
    """One evaluation. Threads of one process may write to it at the same time; `lock` keeps other processes out."""

    def __init__(self, path: Path, contents: Contents) -> None:
        self.path = path
        self.contents = contents
        self.plan = contents.plan
        self.task_ids = tuple(row.id for row in contents.tasks)
        self.bugs = {row.id: row.bug for row in contents.tasks}
        self.broken = contents.broken
        pairs = [(task_id, seed) for task_id in self.task_ids for seed in self.plan.seeds]
        self._files = {f"{safe(task_id)}.{seed}.jsonl": (task_id, seed) for task_id, seed in pairs}
        if len(self._files) < len(pairs):  # the hash in a name is short, so somebody who wants to can find two alike
            raise SetupProblem(
                f"Two tasks of {one_line(contents.plan.suite)!r} have ids that give one file name. Shorten their ids, "
                f"and begin anew: burnish eval {one_line(contents.plan.suite)}"
            )
        for name in (ATTEMPTS, PLOTS):
            if (path / name).is_symlink():
                raise _unreadable(path / FILE, f"beside it, {name!r} is a link, and nothing is written through one")

    @classmethod
    def create(cls, path: Path, plan: Plan, tasks: Iterable[Task], broken: Iterable[Any] = (), data: str = "") -> Self:
        """A new evaluation in an empty folder, or the one that is there if it has the same plan and tasks."""
        rows = tuple(Row(id=task.id, entry_point=task.entry_point, bug=task.bug, prompt=task.prompt) for task in tasks)
        left_out = tuple(LeftOut(id=row.id, why=row.why) for row in broken)
        contents = Contents(plan=plan, data=data, tasks=rows, broken=left_out)
        if (path / FILE).exists():
            return cls._again(path, plan)
        check_free(path)
        with writable(path):
            if not path.exists():
                make_private_folder(path)
            make_private_folder(path / ATTEMPTS)
            write_atomically(path / FILE, contents.model_dump_json(indent=1).encode() + b"\n", PRIVATE_MODE)
        return cls(path, contents)

    @classmethod
    def open(cls, path: Path) -> Self:
        """The evaluation in this folder; SetupProblem when there is none, or none that can be read."""
        try:
            row = json.loads((path / FILE).read_text("utf-8"))
            version = row["plan"]["version"]
        except OSError as error:
            raise SetupProblem(
                f"There is no evaluation in {str(path)!r}. See which there are with: burnish eval list"
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise _unreadable(path / FILE, "it is no plan of an evaluation") from error
        if isinstance(version, int) and version > PLAN_VERSION:
            raise SetupProblem(
                f"The evaluation in {str(path)!r} was made by a newer Burnish (version {version} of the plan, this one "
                f"reads up to {PLAN_VERSION}). Update Burnish to open it: git pull"
            )
        try:
            return cls(path, Contents.model_validate(row))
        except ValidationError as error:
            raise _unreadable(path / FILE, error.errors()[0]["msg"]) from error

    @classmethod
    def _again(cls, path: Path, plan: Plan) -> Self:
        there = cls.open(path)
        if there.plan.model_dump(exclude=INCIDENTAL) != plan.model_dump(exclude=INCIDENTAL):
            raise SetupProblem(
                f"{str(path)!r} holds another evaluation ({there.plan.suite}, {there.plan.strategy}, "
                f"{there.plan.model}). Name a new folder with --out DIR, or go on with that one: "
                f"burnish eval resume {path}"
            )
        return there

    @property
    def name(self) -> str:
        """What a user types to mean this evaluation: its id, or its path where it is kept elsewhere."""
        return self.path.name if self.path.parent == place() else str(self.path)

    @property
    def total(self) -> int:
        """Attempts in all: tasks times seeds."""
        return len(self._files)

    def finished(self) -> set[tuple[str, int]]:
        """Task and seed of every attempt that is on disk."""
        folder = self.path / ATTEMPTS
        found = folder.iterdir() if folder.is_dir() else ()
        return {self._files[path.name] for path in found if path.name in self._files and path.is_file()}

    def write(self, task_id: str, seed: int, events: Sequence[Event]) -> None:
        """Put a finished attempt on disk: after a crash it is there, whole, or not there."""
        lines = b"".join(write_event(event) for event in events if event.lasting)
        with writable(self.path):
            make_private_folder(self.path / ATTEMPTS)
            write_atomically(self.file(task_id, seed), lines, PRIVATE_MODE)

    def file(self, task_id: str, seed: int) -> Path:
        """Where an attempt lies once it is finished."""
        return self.path / ATTEMPTS / f"{safe(task_id)}.{seed}.jsonl"

    def attempts(self) -> Iterator[tuple[str, int, list[Event]]]:
        """Every finished attempt, in the order of tasks, then seeds."""
        finished = self.finished()
        for task_id, seed in self._files.values():
            if (task_id, seed) in finished:
                yield task_id, seed, _read(self.file(task_id, seed))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """No other process works on this evaluation meanwhile. The kernel lets go of it if we die."""
        with writable(self.path):  # in a folder that a stranger sent, this name may be a link or a pipe
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
            handle = os.open(self.path / ".lock", flags, 0o666)
        with os.fdopen(handle, "r+b", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise _unreadable(self.path / FILE, "beside it, '.lock' is no file")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise SetupProblem(
                    f"Another process is working on the evaluation {self.name!r}. Wait until it ends, then type: "
                    f"burnish eval resume {self.name}"
                ) from error
            yield


def safe(task_id: str) -> str:
    """A file name for a task. One that had to be changed ends in a hash, so that no two tasks share it."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", task_id)[:80]
    return name if name == task_id else f"{name}~{hashlib.sha256(task_id.encode()).hexdigest()[:8]}"


def _read(path: Path) -> list[Event]:
    try:
        lines = path.read_bytes().splitlines()
        return [read_event(line) for line in lines]
    except (OSError, ValidationError) as error:
        raise _unreadable(path, "it holds a line that is no event") from error


def _unreadable(path: Path, why: str) -> SetupProblem:
    if path.name == FILE:
        return SetupProblem(f"The file {str(path)!r} cannot be read ({why}). Look at it with: less {path}")
    return SetupProblem(
        f"The file {str(path)!r} cannot be read ({why}): it was altered after it was written. "
        f"Delete it, and `burnish eval resume` makes that attempt again: rm {path}"
    )
