"""All runs of a user: a folder each, and an index that may be deleted at any time.

The folders are the truth. The index remembers each record's size and time of change; what differs is read again,
so nothing has to keep the two in step.
"""

import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.events import Event, Rated
from burnish.events.history import Run
from burnish.paths import close_to_others, home, make_private_folder
from burnish.runs.emitter import Watch
from burnish.runs.index import UNREADABLE, RunRow, list_runs, open_run
from burnish.runs.record import FILE, Record
from burnish.text import slug


class Store:
    """Where runs are kept. Several processes may use one store at the same time."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or home()
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

    def find(self, name: str) -> Path:
        """The folder of a run, by id, by the beginning of one, or "last"."""
        readable = [row.id for row in self.list() if row.state != UNREADABLE]
        ids = {*readable, *(folder.name for folder in self._records())}
        matches = readable[:1] if name == "last" else [run_id for run_id in ids if run_id == name]
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
        return list_runs(self.folder / "index.sqlite", self._records())

    def add(self, run: Run, event: Event, watch: Watch | None = None) -> Run:
        """Put what was done with a run after its end on its record, and give the event to whoever watches."""
        with Record(self.runs / run.id) as record:
            record.append(event)
        if watch:
            watch(event)
        return Run((*run.events, event))

    def rate(self, name: str, stars: int, comment: str = "") -> Run:
        """Add what somebody thinks of a run to its record."""
        return self.add(self.open(name), Rated(stars=stars, comment=comment))

    def remove(self, name: str) -> str:
        """Delete a run for good; the files it wrote for the user stay."""
        folder = self.find(name)
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
