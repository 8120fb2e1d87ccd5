"""Who made each part of an answer, read from the run's record and never guessed."""

import hashlib
from collections.abc import Iterator
from typing import TypeVar

from burnish.events import Asked, BaseEvent, CodeProposed, Decided, Move, NewTest, Strengthened, TestsProposed
from burnish.evidence.form import Maker, Step
from burnish.models.names import split_names
from burnish.redact import model_name, redact
from burnish.runs.run import Run

E = TypeVar("E", bound=BaseEvent)


def sha256(text: str) -> str:
    """The hash of a text as it is written to disk."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Trail:
    """The way back from a part to the question, the decision and the model that it came from."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.models = [model_name(name) for name in split_names(run.started.model)]

    def steps(self) -> Iterator[Step]:
        """The delivered version, what it was made from, and so on back."""
        number = self.run.final.number if self.run.final else None
        seen: set[int] = set()
        while number is not None and number not in seen:
            seen.add(number)
            made = [event for event in self.run.all(CodeProposed) if event.version == number]
            if not made:
                return
            yield self._step(made[-1])
            number = made[-1].base

    def _step(self, event: CodeProposed) -> Step:
        return Step(
            version=event.version,
            base=event.base,
            sha256=sha256(event.code),
            mended=redact(event.mended),
            made=self._maker_of(event),
        )

    def _maker_of(self, event: CodeProposed) -> Maker:
        decided, move = self._decision(event)
        asked = self._asked(event, event.ask_id)
        place = move.model if move else 0
        return Maker(
            by=event.by,
            model=self._model(place) if event.ask_id else "",
            prompt_version=asked.prompt_version if asked else "",
            ask_id=event.ask_id,
            round=event.round,
            decision=redact(decided.reason) if decided else "",
        )

    def of_tests(self, test: str) -> Maker:
        """Who wrote a test of the model's; one that was there before came from an earlier run."""
        for event in self.run.all(TestsProposed):
            if test in event.tests:
                asked = [one for one in self._before(event, Asked) if one.purpose == "tests"]
                decided = self._before(event, Decided)
                return Maker(
                    by="tests",
                    model=self._model(0) if asked else "",
                    prompt_version=asked[-1].prompt_version if asked else "",
                    ask_id=asked[-1].ask_id if asked else "",
                    decision=redact(decided[-1].reason) if decided else "",
                )
        return Maker(by="earlier run")

    def of_new(self, test: str) -> tuple[Maker, NewTest | None]:
        """How a test came about that was added for what went unnoticed."""
        for event in reversed(self.run.all(Strengthened)):
            for new in event.tests:
                if new.test == test:
                    decided = self._before(event, Decided)
                    reason = redact(decided[-1].reason) if decided else ""
                    return Maker(by="strengthen", decision=reason), new
        return Maker(by="strengthen"), None

    def _decision(self, event: CodeProposed) -> tuple[Decided | None, Move | None]:
        """The decision that asked for this very version; else the last one before it."""
        before = self._before(event, Decided)
        for decided in reversed(before):
            for move in decided.moves:
                if move.version == event.version:
                    return decided, move
        return (before[-1] if before else None), None

    def _asked(self, event: BaseEvent, ask_id: str) -> Asked | None:
        found = [asked for asked in self._before(event, Asked) if asked.ask_id == ask_id and ask_id]
        return found[-1] if found else None

    def _before(self, event: BaseEvent, kind: type[E]) -> list[E]:
        place = next(place for place, one in enumerate(self.run.events) if one is event)
        return [one for one in self.run.events[:place] if isinstance(one, kind)]

    def _model(self, place: int) -> str:
        return self.models[place] if place < len(self.models) else ""
