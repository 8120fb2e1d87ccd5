"""Who looks on while an evaluation runs. Every method may be left as it is: it then does nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from burnish.events import Event

if TYPE_CHECKING:
    from burnish.evals.folder import Folder


class Watcher:
    """Hears what happens. `heard` comes from many threads at once; the other methods come from one."""

    def fetching(self, done: int, total: int, source: str) -> None:
        """Weights are on their way: bytes so far, bytes in all, where from."""

    def preparing(self, done: int, total: int, what: str) -> None:
        """Tasks are fetched, made, or tried with their own reference solution before any is used."""

    def begun(self, folder: "Folder") -> None:
        """The plan is on disk; attempts begin, or go on."""

    def heard(self, event: Event) -> None:
        """Something happened in one of the attempts under way."""

    def finished(self, task_id: str, seed: int, events: Sequence[Event]) -> None:
        """An attempt is finished, and on disk."""
