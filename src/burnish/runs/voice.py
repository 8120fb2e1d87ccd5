"""What a run says: on record first, then to whoever watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from burnish.errors import AttemptError
from burnish.events import BaseEvent, Broke, Notice
from burnish.runs.record import Record

Watch = Callable[[BaseEvent], None]


class Voice:
    """The two listeners of a run: its record, which forgets nothing, and whoever watches, if anybody does."""

    def __init__(self, record: Record, watch: Watch | None) -> None:
        self.record = record
        self.watch = watch

    def tell(self, event: BaseEvent) -> None:
        """On disk before anybody sees it."""
        self.record.append(event)
        if self.watch:
            self.watch(event)

    @contextmanager
    def blaming(self) -> Iterator[None]:
        """A failure goes on record. This attempt's own kind ends here; our bug is raised again."""
        try:
            yield
        except AttemptError as error:
            self.tell(Broke(error=type(error).__name__, message=str(error)))
        except Exception as error:
            self.tell(Broke(error=type(error).__name__, message=str(error)))
            raise


def noticing(watch: Watch | None) -> Callable[[str], None] | None:
    """`watch` for plain words, which nobody puts on record."""
    return (lambda text: watch(Notice(text=text))) if watch else None
