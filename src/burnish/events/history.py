"""A run as people speak of it. Everything here is derived from the events; no number is stored twice."""

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

from burnish.events import (
    AnswerLost,
    Applied,
    Asked,
    BaseEvent,
    Broke,
    CheckFinished,
    CodeProposed,
    CriterionTicked,
    Event,
    Evidence,
    FeedbackGiven,
    FeedbackTakenBack,
    FilesWritten,
    Frozen,
    Graded,
    ModelReplied,
    PageWritten,
    QuestionAnswered,
    QuestionAsked,
    Rated,
    Resumed,
    Reviewed,
    RunFinished,
    RunStarted,
    SpecAgreed,
    Stopped,
    Strengthened,
    TestsProposed,
    TestsRan,
    Verdict,
)
from burnish.events.feedback import Stars, fold_feedback
from burnish.events.settings import RunSettings

E = TypeVar("E", bound=BaseEvent)
AFTERWARDS = (Applied, FilesWritten, Rated, FeedbackGiven, FeedbackTakenBack, CriterionTicked)
"""What may be done with a run long after its verdict."""

COSTS = (Asked, ModelReplied, AnswerLost)


class Version(Frozen):
    """One version of the code, and what the tests said about it (None: never run). Of a page: that of one cycle."""

    number: int
    code: str
    by: str
    problem: str = ""
    no_answer: bool = False
    graded: Graded | None = None
    round: int = 0
    base: int | None = None
    """The version that it was made from; 0 is the code that was there before."""


class Account(Frozen):
    """One model's part of what a run took."""

    model: str
    asks: int
    """Answers of this model, those that were broken off too, if anything had come of them."""
    tokens_in: int
    tokens_cached: int
    """Of those read, how many came from the provider's cache, and cost less."""
    tokens_out: int
    tokens_thought: int
    """Of those written, how many were thoughts."""
    seconds: float
    """All its answers together; several are often written at once."""
    lost: int = 0
    """Answers that were lost on their way, and asked for again."""
    tokens_lost: int = 0
    """What those were booked at: the most that they can have taken."""
    dollars: float | None
    """Answers that were lost on their way count at the most they can have cost. None: no price is known, and
    what it cost is not known either."""


class Run:
    """One task from start to finish, read from its events."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = _drop_superseded(tuple(events))

    def all(self, kind: type[E]) -> list[E]:
        """Every event of one type, oldest first."""
        return [event for event in self.events if isinstance(event, kind)]

    def last(self, kind: type[E]) -> E | None:
        """The newest event of one type."""
        found = self.all(kind)
        return found[-1] if found else None

    def ending(self, kind: type[E]) -> E | None:
        """The newest event of one type since the run was last taken up: how an earlier part ended no longer counts."""
        for event in reversed(self.events):
            if isinstance(event, kind):
                return event
            if isinstance(event, Resumed):
                break
        return None

    @cached_property
    def started(self) -> RunStarted:
        """The first event."""
        return self.all(RunStarted)[0]

    @cached_property
    def settings(self) -> RunSettings:
        """What the run was last started with."""
        return RunSettings.merge(self.started.settings, *(event.settings for event in self.all(Resumed)))

    @property
    def id(self) -> str:
        """The name to give to `burnish show`."""
        return self.started.run_id

    @property
    def sandbox(self) -> str:
        """Where its code ran, the last time it was taken up; empty where it was stopped before there was a place."""
        places = [event.sandbox for event in self.events if isinstance(event, RunStarted | Resumed)]
        return next((place for place in reversed(places) if place), "")

    @property
    def verdict(self) -> Verdict | None:
        """Proven, plausible or failed; None while the run is unfinished."""
        finished = self.ending(RunFinished)
        return finished.verdict if finished else None

    @property
    def why(self) -> str:
        """The verdict's reason, or why there is none."""
        finished, broke, stopped = self.ending(RunFinished), self.ending(Broke), self.ending(Stopped)
        if finished:
            return finished.why
        if broke:
            return broke.message
        return stopped.why if stopped and stopped.reason == "interrupted" else "the run did not come to its end"

    @property
    def state(self) -> str:
        """One word for a list: the verdict, or "interrupted", "broken", "unfinished"."""
        if self.verdict:
            return self.verdict
        if self.ending(Broke):
            return "broken"
        stopped = self.ending(Stopped)
        return "interrupted" if stopped and stopped.reason == "interrupted" else "unfinished"

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """Every version proposed, by number, with its test results; one that was proposed anew counts as it is now."""
        found: dict[int, Version] = {}
        for event in self.events:
            if isinstance(event, CodeProposed):
                found[event.version] = Version(
                    number=event.version,
                    code=event.code,
                    by=event.by,
                    problem=event.problem,
                    no_answer=event.no_answer,
                    round=event.round,
                    base=event.base,
                )
            elif isinstance(event, PageWritten):
                found[event.cycle] = Version(number=event.cycle, code=event.code, by="page", round=event.cycle - 1)
            elif isinstance(event, TestsRan) and event.version in found:
                found[event.version] = found[event.version].model_copy(update={"graded": event.graded})
        return tuple(found[number] for number in sorted(found))

    @property
    def final(self) -> Version | None:
        """The version that carries the verdict."""
        finished = self.ending(RunFinished)
        number = finished.version if finished else None
        return next((version for version in self.versions if version.number == number), None)

    @property
    def code(self) -> str:
        """The code that came out; empty if none did."""
        return self.final.code if self.final else ""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What each check said about the final files."""
        return tuple(event.evidence for event in self.parts[-1] if isinstance(event, CheckFinished))

    @cached_property
    def spec(self) -> SpecAgreed | None:
        """Name, signature and given tests; an answer of the user's has become one."""
        agreed, answered = self.last(SpecAgreed), [event.test for event in self.all(QuestionAnswered) if event.test]
        if agreed is None or not answered:
            return agreed
        return agreed.model_copy(update={"given_tests": tuple(dict.fromkeys((*agreed.given_tests, *answered)))})

    @property
    def open_question(self) -> QuestionAsked | None:
        """The question that nobody has answered yet; there is one at most, and it is the last."""
        asked = self.last(QuestionAsked)
        answered = asked is not None and any(event.id == asked.id for event in self.all(QuestionAnswered))
        return None if answered else asked

    @property
    def model_tests(self) -> tuple[str, ...]:
        """The tests the model wrote, the disputed ones too; those that were proposed last stand."""
        last = self.last(TestsProposed)
        return last.tests if last else ()

    @property
    def added_tests(self) -> tuple[str, ...]:
        """Tests made for changes that went unnoticed, of which more than the code itself says what is right."""
        return tuple(new.test for event in self.all(Strengthened) for new in event.tests if new.origin != "pinned")

    @property
    def pinned_tests(self) -> tuple[str, ...]:
        """Tests that say what the code does; those for an earlier version fell with it."""
        last = self.last(Strengthened)
        return tuple(new.test for new in last.tests if new.origin == "pinned") if last else ()

    @property
    def disputed(self) -> tuple[str, ...]:
        """Model-made tests that were set aside."""
        finished = self.ending(RunFinished)
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
    def dollars(self) -> float | None:
        """What the model cost, answers that were lost on their way at the most; None where a price is unknown."""
        return _sum_dollars([event for event in self.events if isinstance(event, ModelReplied | AnswerLost)])

    @cached_property
    def accounts(self) -> tuple[Account, ...]:
        """What each model read, wrote, took and cost, in the order of their first answers.

        Older answers name no model: they count as the run's own.
        """
        by_model: dict[str, list[ModelReplied | AnswerLost]] = {}
        for event in self.events:
            if isinstance(event, ModelReplied | AnswerLost):
                by_model.setdefault(event.model or self.started.model, []).append(event)
        return tuple(_sum_account(model, answers) for model, answers in by_model.items())

    @property
    def seconds(self) -> float:
        """Wall time of the work itself; what was done with it later does not count, nor do pauses before a resume, nor
        the time of a person who looked at it, nor that for which another process had the cores.
        """
        times = [[event.at for event in part if not isinstance(event, AFTERWARDS)] for part in self.parts]
        looking = sum(event.seconds for event in self.events if isinstance(event, Reviewed | QuestionAnswered))
        working = sum(part[-1] - part[0] for part in times if part)
        return max(0.0, working - looking - sum(map(_count_waiting, self.parts)))

    @cached_property
    def parts(self) -> tuple[tuple[Event, ...], ...]:
        """The events as they came, a part for the beginning and one for each time the run was taken up again."""
        starts = [0, *(place for place, event in enumerate(self.events) if isinstance(event, Resumed))]
        return tuple(self.events[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True))

    @cached_property
    def feedback(self) -> tuple[FeedbackGiven, ...]:
        """What people say of it, as it stands now: what was changed or taken back no longer counts."""
        return fold_feedback(self.events)

    @property
    def stars(self) -> int | None:
        """The newest rating by a person, of the run as a whole."""
        stars = [
            given.opinion.stars
            for given in self.feedback
            if isinstance(given.opinion, Stars) and given.version is None and not given.simulated
        ]
        return stars[-1] if stars else None


def _count_waiting(part: Sequence[Event]) -> float:
    """Seconds of one part for which another process had the cores; what several questions waited for counts once."""
    waits = []
    for event in part:
        if isinstance(event, ModelReplied) and event.waited_seconds:
            end = event.at - event.seconds
            waits.append((end - event.waited_seconds, end))
    total, until = 0.0, part[0].at if part else 0.0  # an answer from the record is given anew, and no wait of this part
    for start, end in sorted(waits):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def _drop_superseded(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """What stands: a question that is answered later takes the run up again there, and what had followed it is over,
    but for what it cost and what was done with the result.
    """
    kept: list[Event] = []
    for event in events:
        if isinstance(event, Resumed) and event.question:
            start = count_until_question(kept, event.question)
            kept[start:] = [one for one in kept[start:] if isinstance(one, (*COSTS, *AFTERWARDS))]
        kept.append(event)
    return tuple(kept)


def count_until_question(events: Sequence[Event], question: str) -> int:
    """How many events there are up to a question, and with it; all of them where it was never asked."""
    asked = (place for place, one in enumerate(events, 1) if isinstance(one, QuestionAsked) and one.id == question)
    return next(asked, len(events))


def _sum_account(model: str, answers: Sequence[ModelReplied | AnswerLost]) -> Account:
    replies = [one for one in answers if isinstance(one, ModelReplied)]
    lost = [one for one in answers if isinstance(one, AnswerLost)]
    return Account(
        model=model,
        asks=sum(bool(reply.text or reply.tokens_out) or reply.ended != "cut" for reply in replies),
        tokens_in=sum(reply.tokens_in for reply in replies),
        tokens_cached=sum(reply.tokens_cached for reply in replies),
        tokens_out=sum(reply.tokens_out for reply in replies),
        tokens_thought=sum(reply.tokens_thought for reply in replies),
        seconds=sum(reply.seconds for reply in replies),
        lost=len(lost),
        tokens_lost=sum(one.tokens for one in lost),
        dollars=_sum_dollars(answers),
    )


def _sum_dollars(answers: Sequence[ModelReplied | AnswerLost]) -> float | None:
    """What they cost together; None as soon as the price of one is unknown."""
    costs = [one.dollars for one in answers]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
