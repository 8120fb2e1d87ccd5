"""The checks that this server works on, each in its turn, and what is on disk of all that there were.

Like a run, a check goes on whether or not anybody looks. What came of it, and the report, stand in the folder of what
was uploaded for it, so they are there after a restart as well.
"""

import shutil
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.verdict import Watcher, choose_checks
from burnish.commands import check as checks
from burnish.errors import AttemptError, SetupProblem
from burnish.events import Evidence, Frozen, Outcome
from burnish.paths import PRIVATE_MODE, write_atomically
from burnish.report.check_report import FILES, render_headline
from burnish.runs import Store
from burnish.text import one_line
from burnish.web.uploads import UPLOADS
from burnish.web.work.turns import Ticket, Turns

SAVED, REPORT = "check.json", "report"
MOST_WAITING, MOST_LISTED = 20, 30
MOST_SECONDS = 3600.0
"""How long a check may be at work: a project says itself how long its tests may take."""


class SavedCheck(Frozen):
    """What is on disk of one check."""

    id: str
    name: str
    """Of what was uploaded, or the folder that was named."""
    at: float
    state: Literal["unfinished", "done", "stopped", "problem"] = "unfinished"
    passed: bool = False
    said: str = ""
    """The headline of its report, or why there is none."""
    seconds: float = 0.0


class CheckRow(NamedTuple):
    """How far one check of a project is."""

    state: Literal["waits", "works"] | Outcome = "waits"
    figure: str = ""
    done: int = 0
    total: int = 0
    """0: nobody knows."""


class ActiveCheck(Watcher):
    """One check in line or at work, and who watches it. Hears from several threads."""

    def __init__(self, saved: SavedCheck, folder: Path, names: Collection[str], ticket: Ticket) -> None:
        self.saved, self.folder, self.ticket = saved, folder, ticket
        self.rows = dict.fromkeys(names, CheckRow())
        self.note = ""
        """What it does beside the checks."""
        self.began = 0.0
        """When its turn came; 0 until then."""
        self.is_stopped = False
        self._context: CheckContext | None = None
        self._lock = threading.Lock()

    def notice(self, text: str) -> None:
        """Keep the last one."""
        self.note = text

    def begin(self, check: str) -> None:
        """A row begins to move."""
        self.rows[check] = CheckRow("works")

    def advance(self, check: str, done: int, total: int) -> None:
        """So far; a check that is stopped goes no further."""
        if self.is_stopped:
            raise AttemptError("it was stopped")
        self.rows[check] = CheckRow("works", "", done, total)

    def finish(self, evidence: Evidence, seconds: float) -> None:
        """A row has its answer."""
        self.rows[evidence.check] = CheckRow(evidence.verdict, one_line(evidence.figure, 60))

    def keep(self, context: CheckContext) -> None:
        """Close this when the check is stopped. Raises AttemptError where it is stopped already."""
        with self._lock:
            self._context = context
            if self.is_stopped:
                raise AttemptError("it was stopped")

    def stop(self) -> None:
        """End it, whether it works or waits."""
        with self._lock:
            self.is_stopped = True
            context = self._context
        self.ticket.close()
        if context:
            context.close()


class ActiveChecks:
    """All of them, by id."""

    def __init__(self, store: Store, turns: Turns) -> None:
        self._folder, self._turns = store.folder / UPLOADS, turns
        self._active: dict[str, ActiveCheck] = {}

    def find(self, check_id: str) -> ActiveCheck | None:
        """The check, if it is in line or at work here."""
        return self._active.get(check_id)

    def open(self, check_id: str) -> SavedCheck:
        """What is on disk of a check. Raises SetupProblem where there is none of this id."""
        for saved in self.list():
            if saved.id == check_id:
                return saved
        raise SetupProblem("There is no such check any more.")

    def list(self) -> list[SavedCheck]:
        """Every check, newest first."""
        found = []
        for file in self._folder.glob(f"*/{SAVED}"):
            with suppress(OSError, ValueError):
                saved = SavedCheck.model_validate_json(file.read_bytes())
                found += [saved] if saved.id == file.parent.name else []
        return sorted(found, key=lambda saved: -saved.at)

    def read_report(self, check_id: str) -> bytes:
        """The page that a check ended with."""
        try:
            return (self._folder / self.open(check_id).id / REPORT / FILES[0]).read_bytes()
        except OSError as error:
            raise SetupProblem("This check has no report: it did not come to its end.") from error

    def begin(self, name: str, path: Path, folder: Path, only: Collection[str], owner: str) -> ActiveCheck:
        """Begin to check what is at `path`, in its turn; the report goes into `folder`."""
        if len(self._active) >= MOST_WAITING:
            raise SetupProblem("Too many checks wait for their turn already. Stop one of them, or wait for its end.")
        saved = SavedCheck(id=folder.name, name=one_line(name, 200), at=time.time())
        _save(saved, folder)
        active = ActiveCheck(saved, folder, choose_checks(only), self._turns.join(owner))
        self._active[saved.id] = active
        threading.Thread(target=self._work, args=(active, path, only), name="burnish-check", daemon=True).start()
        return active

    def delete(self, check_id: str) -> None:
        """Remove a check, its report, and what was uploaded for it."""
        if active := self.find(check_id):
            active.stop()
        shutil.rmtree(self._folder / self.open(check_id).id, ignore_errors=True)

    def stop_all(self) -> None:
        """The server ends."""
        for active in list(self._active.values()):
            active.stop()

    def _work(self, active: ActiveCheck, path: Path, only: Collection[str]) -> None:
        """Wait for its turn, have all checks answer, and save what came of it, in a thread of its own."""
        clock, update = threading.Timer(MOST_SECONDS, active.stop), dict[str, object]()
        try:
            active.ticket.wait()
            active.began = time.time()
            clock.start()
            out = active.folder / REPORT
            checked = checks.check(path, only=only, out=out, watch=active, raise_bugs=False, keep=active.keep)
            update = {"state": "done", "passed": checked.passed, "said": f"{render_headline(checked)}."}
        except (SetupProblem, AttemptError) as problem:
            update = {"state": "problem", "said": str(problem)}
        except Exception as error:  # our bug: it is said on the page, and the server goes on
            update = {
                "state": "problem",
                "said": f"Something broke in Burnish itself ({type(error).__name__}: {error}).",
            }
        finally:
            clock.cancel()
            active.ticket.close()
        if active.is_stopped:  # what could not answer any more is no answer
            shutil.rmtree(active.folder / REPORT, ignore_errors=True)
            update = {"state": "stopped"}
        seconds = time.time() - active.began if active.began else 0.0
        with suppress(OSError):  # it was deleted meanwhile
            _save(active.saved.model_copy(update={**update, "seconds": seconds}), active.folder)
        self._active.pop(active.saved.id, None)


def _save(saved: SavedCheck, folder: Path) -> None:
    write_atomically(folder / SAVED, saved.model_dump_json().encode(), PRIVATE_MODE)
