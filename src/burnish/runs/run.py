"""A run as people speak of it. Everything here is derived from the events; no number is stored twice."""

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

from burnish.events import (
    Asked,
    BaseEvent,
    Broke,
    CheckFinished,
    CodeProposed,
    Event,
    Evidence,
    FilesWritten,
    Frozen,
    Graded,
    ModelReplied,
    Rated,
    RunFinished,
    RunStarted,
    SpecAgreed,
    Stopped,
    TestsProposed,
    TestsRan,
    Verdict,
)

E = TypeVar("E", bound=BaseEvent)


class Version(Frozen):
    """One version of the code, and what the tests said about it (None: never run)."""

    number: int
    code: str
    by: str
    problem: str = ""
    graded: Graded | None = None


class Run:
    """One task from start to finish, read from its events."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = tuple(events)

    def all(self, kind: type[E]) -> list[E]:
        """Every event of one type, oldest first."""
        return [event for event in self.events if isinstance(event, kind)]

    def last(self, kind: type[E]) -> E | None:
        """The newest event of one type."""
        found = self.all(kind)
        return found[-1] if found else None

    @cached_property
    def started(self) -> RunStarted:
        """The first event."""
        return self.all(RunStarted)[0]

    @property
    def id(self) -> str:
        """The name to give to `burnish show`."""
        return self.started.run_id

    @property
    def verdict(self) -> Verdict | None:
        """Proven, plausible or failed; None while the run is unfinished."""
        finished = self.last(RunFinished)
        return finished.verdict if finished else None

    @property
    def why(self) -> str:
        """The verdict's reason, or why there is none."""
        finished, broke, stopped = self.last(RunFinished), self.last(Broke), self.last(Stopped)
        if finished:
            return finished.why
        if broke:
            return broke.message
        return stopped.why if stopped else "the run did not come to its end"

    @property
    def state(self) -> str:
        """One word for a list: the verdict, or "interrupted", "broken", "unfinished"."""
        if self.verdict:
            return self.verdict
        if self.last(Broke):
            return "broken"
        return "interrupted" if self.last(Stopped) else "unfinished"

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """Every version proposed, in order, with its test results."""
        graded = {event.version: event.graded for event in self.all(TestsRan)}
        return tuple(
            Version(
                number=event.version,
                code=event.code,
                by=event.by,
                problem=event.problem,
                graded=graded.get(event.version),
            )
            for event in sorted(self.all(CodeProposed), key=lambda event: event.version)
        )

    @property
    def final(self) -> Version | None:
        """The version that carries the verdict."""
        finished = self.last(RunFinished)
        number = finished.version if finished else None
        return next((version for version in self.versions if version.number == number), None)

    @property
    def code(self) -> str:
        """The code that came out; empty if none did."""
        return self.final.code if self.final else ""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What each check said about the final files."""
        return tuple(event.evidence for event in self.all(CheckFinished))

    @property
    def spec(self) -> SpecAgreed | None:
        """Name, signature and given tests."""
        return self.last(SpecAgreed)

    @property
    def model_tests(self) -> tuple[str, ...]:
        """The tests the model wrote, the disputed ones too."""
        return tuple(test for event in self.all(TestsProposed) for test in event.tests)

    @property
    def disputed(self) -> tuple[str, ...]:
        """Model-made tests that were set aside."""
        finished = self.last(RunFinished)
        return finished.disputed if finished else ()

    @property
    def folder(self) -> str | None:
        """Where the result was written."""
        written = self.last(FilesWritten)
        return written.folder if written else None

    @property
    def calls(self) -> int:
        """How often the model was asked."""
        return len(self.all(Asked))

    @property
    def tokens_in(self) -> int:
        """Tokens the model read."""
        return sum(reply.tokens_in for reply in self.all(ModelReplied))

    @property
    def tokens_out(self) -> int:
        """Tokens the model wrote."""
        return sum(reply.tokens_out for reply in self.all(ModelReplied))

    @property
    def seconds(self) -> float:
        """Wall time of the work itself; ratings that came later do not count."""
        times = [event.at for event in self.events if not isinstance(event, Rated)]
        return times[-1] - times[0] if times else 0.0

    @property
    def stars(self) -> int | None:
        """The newest rating."""
        rated = self.last(Rated)
        return rated.stars if rated else None
