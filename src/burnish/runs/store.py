"""All runs of a user: a folder each, and an index over them that may be deleted at any time.

The folders are the truth. The index, a file of JSON, remembers each record's size and time of change; what differs is
read again, so nothing has to keep the two in step, and of two processes that write it either may win.
"""

import secrets
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from burnish.errors import SetupProblem
from burnish.events import Event, Frozen, RunFinished, RunStarted
from burnish.events.history import Account, Run, Version
from burnish.paths import PRIVATE_MODE, close_to_others, home, make_private_folder, write_atomically
from burnish.runs.record import FILE, Record, Watch, explain_altered, is_running, read_record
from burnish.text import one_line, slug

UNREADABLE = "unreadable"
"""In place of a run's state: its record is there, and this Burnish cannot read it."""
RUNNING = "running"
"""In place of "unfinished": somebody works on it right now."""


class RunRow(Frozen):
    """What a list shows of one run."""

    id: str
    started_at: float
    verb: str = ""
    prompt: str = ""
    model: str = ""
    state: str
    confidence: float | None = None
    """How likely the code is right; None where nobody said."""
    calibrated: bool = False
    basis: str = ""
    """What the confidence rests on."""
    seconds: float = 0.0
    tokens: int = 0
    stars: int | None = None
    folder: str | None = None
    part_of: str = ""
    """The run that it is a step of: such a one is never the last."""
    accounts: tuple[Account, ...] = ()
    """What each model read, wrote, took and cost."""
    why: str = ""
    """Why the record cannot be read; empty where it can. It is then listed at the time when its file was changed."""


class IndexEntry(Frozen):
    """What is remembered of one record: its row, as long as size and time of change are these."""

    size: int
    changed_ns: int
    row: RunRow


INDEX = TypeAdapter(dict[str, IndexEntry])


class Store:
    """Where runs are kept. Several processes may use one store at the same time."""

    def __init__(self, folder: Path | str | None = None) -> None:
        self.folder = Path(folder) if folder else home()
        self.runs = self.folder / "runs"

    def begin(self, name: str) -> tuple[str, Record]:
        """A new run's id and its empty record."""
        for _ in range(100):
            run_id = f"{slug(name, 24)}-{secrets.token_hex(2)}"
            try:
                if not self.folder.exists():
                    make_private_folder(self.folder)
                make_private_folder(self.runs)
                make_private_folder(self.runs / run_id, exist_ok=False)
            except FileExistsError:
                continue
            except OSError as error:
                raise self._unwritable(error) from error
            record = Record(self.runs / run_id)
            record.hold()
            return run_id, record
        raise SetupProblem(f"Could not find a free name for a run in {self.runs}. Remove old runs: burnish rm RUN")

    def take_up(self, run_id: str) -> Record:
        """The record of a run, to go on with; refused while another process has it."""
        record = Record(self.runs / run_id)
        record.hold()
        return record

    def open(self, name: str) -> Run:
        """The run with this id, the only one that starts with it, or the newest for "last"."""
        folder = self.find(name)
        try:
            return open_run(folder)
        except OSError as error:
            raise SetupProblem(
                f"The record of run {folder.name!r} cannot be read ({error.strerror}). Look at it with: ls -l {folder}"
            ) from error

    def open_version(self, name: str) -> tuple[Run, Version | None]:
        """The run, and the version in it where RUN:VERSION names one."""
        name, colon, number = name.partition(":")
        run = self.open(name)
        if not colon:
            return run, None
        found = next((version for version in run.versions if str(version.number) == number), None)
        if found is None:
            there = ", ".join(str(version.number) for version in run.versions) or "none"
            raise SetupProblem(
                f"Run {run.id!r} has no version {one_line(number, 20)!r}; there is: {there}. "
                f"See them with: burnish show {run.id} --all"
            )
        return run, found

    def find(self, name: str) -> Path:
        """The folder of a run, by id, by the beginning of one, or "last"."""
        rows = self.list()
        readable = [row.id for row in rows if row.state != UNREADABLE]
        ids = {*readable, *(folder.name for folder in self._records())}
        last = [row.id for row in rows if row.id in readable and not row.part_of][:1]
        matches = last if name == "last" else [run_id for run_id in ids if run_id == name]
        matches = matches or [run_id for run_id in ids if name and run_id.startswith(name)]
        if len(matches) == 1:
            return self.runs / matches[0]
        if matches:
            raise SetupProblem(f"{name!r} could be any of {', '.join(sorted(matches))}. Type a little more of the id.")
        raise SetupProblem(f"There is no run {name!r}. See which there are with: burnish runs")

    def list(self) -> list[RunRow]:
        """A line for each run, newest first."""
        if not self.runs.is_dir():
            return []
        close_to_others(self.runs)
        rows = list_runs(self.folder / "index.json", self._records())
        # Never in the index: that a process lives does not change its record.
        live = {row.id for row in rows if row.state == "unfinished" and is_running(self.runs / row.id)}
        return [row.model_copy(update={"state": RUNNING}) if row.id in live else row for row in rows]

    def add(self, run: Run, event: Event, watch: Watch | None = None) -> Run:
        """Put what was done with a run after its end on its record, and give the event to whoever watches."""
        with Record(self.runs / run.id) as record:
            record.append(event)
        if watch:
            watch(event)
        return Run((*run.events, event))

    def remove(self, name: str) -> str:
        """Delete a run for good; the files it wrote for the user stay."""
        folder = self.find(name)
        if is_running(folder):
            raise SetupProblem(
                f"Run {folder.name!r} is still at work in another process. Stop it there with Ctrl-C, and then type: "
                f"burnish rm {folder.name}"
            )
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise self._unwritable(error) from error
        return folder.name

    def _records(self) -> Sequence[Path]:
        found = self.runs.iterdir() if self.runs.is_dir() else ()
        return [folder for folder in found if folder.name.isprintable() and (folder / FILE).is_file()]

    def _unwritable(self, error: OSError) -> SetupProblem:
        return SetupProblem(
            f"Burnish keeps its runs in {self.folder}, and that folder cannot be written ({error.strerror}). "
            f"Choose another one with: export BURNISH_HOME=/path/to/a/folder"
        )


def list_runs(path: Path, folders: Sequence[Path]) -> list[RunRow]:
    """A row for each of these run folders, newest first, through the index at `path`; only changed records are read.

    An index that is damaged, or of another version, is made anew; where none can be written, it is done without.
    """
    close_to_others(path)
    try:
        known = INDEX.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        known = {}
    entries: dict[str, IndexEntry] = {}
    for folder in folders:
        with suppress(FileNotFoundError):  # another process has just removed the run
            status, entry = (folder / FILE).stat(), known.get(folder.name)
            size, changed_ns = status.st_size, status.st_mtime_ns
            if entry and (entry.size, entry.changed_ns) == (size, changed_ns):
                entries[folder.name] = entry
            elif row := _read_row(folder, changed_ns):
                entries[folder.name] = IndexEntry(size=size, changed_ns=changed_ns, row=row)
    if entries != known:
        with suppress(OSError, ValueError):
            # Whatever the umask is, its owner can read it.
            write_atomically(path, INDEX.dump_json(entries), PRIVATE_MODE, lambda new: new.chmod(PRIVATE_MODE))
    rows = [entry.row for entry in entries.values()]
    return sorted(rows, key=lambda row: (-row.started_at, row.id))


def _read_row(folder: Path, changed_ns: int) -> RunRow | None:
    """What the record says; None where nothing is in it yet."""
    try:
        run = open_run(folder)
    except NotBegun:
        return None
    except (SetupProblem, OSError) as problem:
        why = one_line(str(problem), 400)
        return RunRow(id=folder.name, started_at=changed_ns / 1e9, state=UNREADABLE, why=why)
    return summarise_run(run)


def summarise_run(run: Run) -> RunRow:
    """Its row in a list."""
    started, finished = run.started, run.ending(RunFinished)
    return RunRow(
        id=run.id,
        started_at=started.at,
        verb=started.verb,
        prompt=started.prompt,
        model=started.model,
        state=run.state,
        **(finished.model_dump(include={"confidence", "calibrated", "basis"}) if finished else {}),
        seconds=run.seconds,
        tokens=run.tokens_in + run.tokens_out,
        stars=run.stars,
        folder=run.folder,
        part_of=run.settings.part_of,
        accounts=run.accounts,
    )


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
        raise explain_altered(folder, "its first line is not the beginning of a run")
    if run.id != folder.name:  # the id is used as the name of a folder
        raise explain_altered(folder, "it says that it is another run's")
    return run
