"""Evaluations on disk: where they are kept, how one is found by the name a user types, and what a folder holds.

`eval.json` is written first; then one file for each finished attempt, whole or not at all. These two are the truth.
Results, reports and plots are made from them and may be deleted at any time.
"""

import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from burnish.errors import SetupProblem
from burnish.evals.schema import PLAN_VERSION, Contents, EvalLimits, LeftOut, Plan, Row
from burnish.events import Event, read_event, write_event
from burnish.paths import PRIVATE_MODE, home, make_private_folder, write_atomically
from burnish.report.deliverables import check_free
from burnish.system import take_lock
from burnish.tasks.task import Task
from burnish.text import one_line, slug

PLAN_FILE, PAGES_FILE, APPS_FILE = "eval.json", "pages.json", "apps.json"
"""The file that makes a folder an evaluation: of code; of live pages, see `evals.pages`; of apps, see `evals.apps`."""
ATTEMPTS, PLOTS = "attempts", "plots"
INCIDENTAL = {"burnish", "commit", "machine", "at_once", "sandbox", "seeds"}
"""What may differ between two plans that measure the same thing."""


def evals_home() -> Path:
    """The folder of evaluations that were not put elsewhere with --out."""
    return home() / "evals"


def new_path(name: str) -> Path:
    """A folder that does not exist yet, with a name that people can type."""
    letters = 4
    while (path := evals_home() / f"{slug(name, 40)}-{secrets.token_hex(8)[:letters]}").exists():
        letters += 1  # so that it ends, however many there are
    return path


def list_evaluations(*files: str) -> list[Path]:
    """Every evaluation in the usual place, newest first: those with such a file, of code unless one is named."""
    found = evals_home().iterdir() if evals_home().is_dir() else ()
    plans = [folder / name for folder in found for name in files or (PLAN_FILE,) if (folder / name).is_file()]
    return [plan.parent for plan in sorted(plans, key=lambda plan: plan.stat().st_mtime_ns, reverse=True)]


def find_evaluation(name: str, *files: str) -> Path:
    """The folder of an evaluation: by id, by the beginning of one, "last", or by its path; `files` as for the list."""
    path = Path(name).expanduser()
    if name and any((path / file).is_file() for file in files or (PLAN_FILE,)):
        return path.absolute()
    folders = list_evaluations(*files)
    if name == "last" and folders:
        return folders[0]
    begun = [folder for folder in folders if name and folder.name.startswith(name)]
    matches = [folder for folder in begun if folder.name == name] or begun
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(sorted(folder.name for folder in matches))
        raise SetupProblem(f"{name!r} could be any of {names}. Type a little more of the id.")
    near = get_close_matches(name, [folder.name for folder in folders], n=3, cutoff=0.4)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise SetupProblem(f"There is no evaluation {name!r}.{hint} See which there are with: burnish eval list")


@contextmanager
def explain_disk_errors(folder: Path) -> Iterator[None]:
    """Turn what goes wrong with the disk meanwhile into a SetupProblem: the user can put it right."""
    try:
        yield
    except OSError as error:
        raise SetupProblem(
            f"The evaluation in {str(folder)!r} cannot be written ({error.strerror}). What was finished is kept. "
            f"Make room, or choose another place: --out DIR"
        ) from error


class Folder:
    """One evaluation. Threads of one process may write to it at the same time; `lock` keeps other processes out."""

    def __init__(self, path: Path, contents: Contents) -> None:
        self.path = path
        self._take(contents)
        for name in (ATTEMPTS, PLOTS):
            if (path / name).is_symlink():
                raise _unreadable(
                    path / PLAN_FILE, f"beside it, {name!r} is a link, and nothing is written through one"
                )

    def _take(self, contents: Contents) -> None:
        """Go by these contents from now on."""
        self.contents = contents
        self.plan = contents.plan
        self.task_ids = tuple(row.id for row in contents.tasks)
        self.bugs = {row.id: row.bug for row in contents.tasks}
        self.broken = contents.broken
        pairs = [(task_id, seed) for task_id in self.task_ids for seed in self.plan.seeds]
        self._files = {f"{attempt_stem(task_id)}.{seed}.jsonl": (task_id, seed) for task_id, seed in pairs}
        if len(self._files) < len(pairs):  # the hash in a name is short, so somebody who wants to can find two alike
            raise SetupProblem(
                f"Two tasks of {one_line(contents.plan.suite)!r} have ids that give one file name. Shorten their ids, "
                f"and begin anew: burnish eval {one_line(contents.plan.suite)}"
            )

    @classmethod
    def create(
        cls,
        path: Path,
        plan: Plan,
        tasks: Iterable[Task],
        broken: Iterable[LeftOut] = (),
        data: str = "",
        replay_source: str = "",
    ) -> Self:
        """A new evaluation in an empty folder, or the one that is there if it has the same plan and tasks.

        The one that is there may have fewer seeds.
        """
        rows = tuple(Row(id=task.id, entry_point=task.entry_point, bug=task.bug, prompt=task.prompt) for task in tasks)
        contents = Contents(plan=plan, data=data, tasks=rows, broken=tuple(broken), replay_source=replay_source)
        if (path / PLAN_FILE).exists():
            there = cls.open(path)
            same = there.plan.model_dump(exclude=INCIDENTAL) == plan.model_dump(exclude=INCIDENTAL)
            if same and {*there.plan.seeds} <= {*plan.seeds}:
                return there
            raise SetupProblem(
                f"{str(path)!r} holds another evaluation ({there.plan.suite}, {there.plan.strategy}, "
                f"{there.plan.model}). Name a new folder with --out DIR, or go on with that one: "
                f"burnish eval resume {path}"
            )
        check_free(path)
        with explain_disk_errors(path):
            if not path.exists():
                make_private_folder(path)
            make_private_folder(path / ATTEMPTS)
            write_atomically(path / PLAN_FILE, contents.model_dump_json(indent=1).encode() + b"\n", PRIVATE_MODE)
        return cls(path, contents)

    @classmethod
    def open(cls, path: Path) -> Self:
        """The evaluation in this folder; SetupProblem when there is none, or none that can be read."""
        try:
            row = json.loads((path / PLAN_FILE).read_text("utf-8"))
            version = row["plan"]["version"]
        except OSError as error:
            raise SetupProblem(
                f"There is no evaluation in {str(path)!r}. See which there are with: burnish eval list"
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise _unreadable(path / PLAN_FILE, "it is no plan of an evaluation") from error
        if isinstance(version, int) and version > PLAN_VERSION:
            raise SetupProblem(
                f"The evaluation in {str(path)!r} was made by a newer Burnish (version {version} of the plan, this one "
                f"reads up to {PLAN_VERSION}). Update Burnish to open it: git pull"
            )
        try:
            return cls(path, Contents.model_validate(row))
        except ValidationError as error:
            raise _unreadable(path / PLAN_FILE, error.errors()[0]["msg"]) from error

    def update(self, **changes: object) -> None:
        """Write `eval.json` anew with other limits, another end, or a plan with more seeds; only under `lock`."""
        self._take(self.contents.model_copy(update=changes))
        with explain_disk_errors(self.path):
            text = self.contents.model_dump_json(indent=1).encode() + b"\n"
            write_atomically(self.path / PLAN_FILE, text, PRIVATE_MODE)

    def extend(self, seeds: Iterable[int], limits: EvalLimits | None = None) -> None:
        """Add seeds that are not in the plan, and take each limit that is set in place of the one before."""
        more = [seed for seed in seeds if seed not in self.plan.seeds]
        caps = self.contents.limits
        if limits:
            caps = caps.model_copy(update=limits.model_dump(exclude_none=True))
        if more or caps != self.contents.limits:
            self.update(plan=self.plan.model_copy(update={"seeds": (*self.plan.seeds, *more)}), limits=caps)

    @property
    def name(self) -> str:
        """What a user types to mean this evaluation: its id, or its path where it is kept elsewhere."""
        return name_evaluation(self.path)

    @property
    def total(self) -> int:
        """Attempts in all: tasks times seeds."""
        return len(self._files)

    def finished_attempts(self) -> set[tuple[str, int]]:
        """Task and seed of every attempt that is on disk."""
        folder = self.path / ATTEMPTS
        found = folder.iterdir() if folder.is_dir() else ()
        return {self._files[path.name] for path in found if path.name in self._files and path.is_file()}

    def write(self, task_id: str, seed: int, events: Sequence[Event]) -> None:
        """Put a finished attempt on disk: after a crash it is there, whole, or not there."""
        lines = b"".join(write_event(event) for event in events if event.lasting)
        with explain_disk_errors(self.path):
            make_private_folder(self.path / ATTEMPTS)
            write_atomically(self.file(task_id, seed), lines, PRIVATE_MODE)

    def file(self, task_id: str, seed: int) -> Path:
        """Where an attempt lies once it is finished."""
        return self.path / ATTEMPTS / f"{attempt_stem(task_id)}.{seed}.jsonl"

    def attempts(self) -> Iterator[tuple[str, int, list[Event]]]:
        """Every finished attempt, in the order of tasks, then seeds."""
        finished = self.finished_attempts()
        for task_id, seed in self._files.values():
            if (task_id, seed) in finished:
                yield task_id, seed, self.read_attempt(task_id, seed)

    def read_attempt(self, task_id: str, seed: int) -> list[Event]:
        """The events of a finished attempt; SetupProblem where its file cannot be read."""
        file = self.file(task_id, seed)
        try:
            return [read_event(line) for line in file.read_bytes().splitlines()]
        except (OSError, ValidationError) as error:
            raise _unreadable(file, "it holds a line that is no event") from error

    def lock(self) -> AbstractContextManager[None]:
        """No other process works on this evaluation meanwhile."""
        return lock_evaluation(self.path, PLAN_FILE)


def name_evaluation(path: Path) -> str:
    """What a user types to mean the evaluation in a folder."""
    return path.name if path.parent == evals_home() else str(path)


@contextmanager
def lock_evaluation(path: Path, plan_file: str) -> Iterator[None]:
    """No other process works on the evaluation in this folder meanwhile. The kernel lets go of it if we die."""
    with explain_disk_errors(path):  # in a folder that a stranger sent, this name may be a link or a pipe
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        handle = os.open(path / ".lock", flags, 0o666)
    with os.fdopen(handle, "r+b", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _unreadable(path / plan_file, "beside it, '.lock' is no file")
        is_ours = False
        with suppress(OSError):
            is_ours = take_lock(file)
        if not is_ours:
            name = name_evaluation(path)
            raise SetupProblem(
                f"Another process is working on the evaluation {name!r}. Wait until it ends, then type: "
                f"burnish eval resume {name}"
            )
        yield


def attempt_stem(task_id: str) -> str:
    """A file name for a task. One that had to be changed ends in a hash, so that no two tasks share it."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", task_id)[:80]
    return name if name == task_id else f"{name}~{hashlib.sha256(task_id.encode()).hexdigest()[:8]}"


def _unreadable(path: Path, why: str) -> SetupProblem:
    if path.name in (PLAN_FILE, PAGES_FILE, APPS_FILE):
        return SetupProblem(f"The file {str(path)!r} cannot be read ({why}). Look at it with: less {path}")
    return SetupProblem(
        f"The file {str(path)!r} cannot be read ({why}): it was altered after it was written. "
        f"Delete it, and `burnish eval resume` makes that attempt again: rm {path}"
    )
