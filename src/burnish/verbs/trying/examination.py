"""One task after the other: asked, listened to, judged."""

from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from typing import TypeVar

from burnish.agent.ask import Tools, ask
from burnish.errors import ModelError, PromptTooLong
from burnish.events import (
    Asked,
    BaseEvent,
    CheckFinished,
    Event,
    Evidence,
    Message,
    ModelChunk,
    ModelReplied,
    ModelThought,
    Outcome,
    Stopped,
)
from burnish.models.model import Ask
from burnish.text import one_line
from burnish.verbs.trying.answer import Answer
from burnish.verbs.trying.trials import Trial, long_prompt

TASK_SECONDS = 120.0
"""For one task; most take a few."""
MOST_SILENT = 2
"""Tasks in a row of which not a word comes, before the others are not even asked; the first may have to load."""
HELLO = Ask(purpose="hello", messages=(Message(role="user", content="Say hello."),), max_tokens=4)
T = TypeVar("T")
Hear = Callable[[BaseEvent], None]
Finished = Callable[[Answer], None]


class Examination:
    """Asks one thing after the other."""

    def __init__(self, tools: Tools, hear: Hear, finished: Finished | None) -> None:
        self.tools, self.hear, self.finished = tools, hear, finished
        self._silent = 0

    def wake(self) -> None:
        """Let the model load, so that no task has to wait for that; what it says does not matter."""
        with suppress(ModelError):
            _to_the_end(ask(self.tools, HELLO.purpose, HELLO), self.hear)

    def answers(self, trials: Iterable[Trial]) -> list[Answer]:
        """What came of each; where the beginning of the long prompt is lost, a short one is asked for as well."""
        found: list[Answer] = []
        for trial in trials:
            answer = self._answer(trial) if self._silent < MOST_SILENT else _not_asked(trial)
            if trial.name == "context" and answer.ended and not answer.passed:
                answer = self._beside_a_short_one(answer)
            found.append(answer)
            self.hear(_evidence(answer))
            if self.finished:
                self.finished(answer)
        return found

    def _beside_a_short_one(self, long: Answer) -> Answer:
        """A model that cannot even repeat a word from a short prompt says nothing of the room in a long one."""
        short = self._answer(long_prompt(short=True))
        if short.passed:
            return long
        return long.model_copy(update={"ended": "", "why": "cannot be told: it does not repeat a word of a short one"})

    def _answer(self, trial: Trial) -> Answer:
        heard = _Heard(self.hear)
        try:
            with self.tools.meter.within(TASK_SECONDS):
                reply = _to_the_end(ask(self.tools, trial.name, trial.ask), heard)
        except ModelError as error:
            too_long = isinstance(error, PromptTooLong)
            self._silent += not heard.anything and not too_long
            return Answer(name=trial.name, passed=False, why=one_line(str(error), 200), too_long=too_long)
        if reply is None:
            self._silent += heard.is_silent
            return Answer(name=trial.name, passed=False, why=f"not asked to the end: {heard.why}")
        self._silent = 0
        why = trial.judge(reply, self.tools.sandbox)
        return heard.answer(trial.name, reply, why)


class _Heard:
    """Listens to one answer."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._asked_at = 0.0
        self._first: float | None = None
        self._pieces = 0
        self._thoughts: list[str] = []
        self.why = ""
        self._reason = ""

    @property
    def anything(self) -> bool:
        """Whether a word came."""
        return self._first is not None

    @property
    def is_silent(self) -> bool:
        """Whether its time passed without a word."""
        return self._reason == "seconds" and not self.anything

    def __call__(self, event: Event) -> None:
        self._hear(event)
        if isinstance(event, Asked):
            self._asked_at = event.at
        elif isinstance(event, ModelChunk | ModelThought):
            self._first = event.at - self._asked_at if self._first is None else self._first
            self._pieces += isinstance(event, ModelChunk)
            self._thoughts += [event.text] if isinstance(event, ModelThought) else []
        elif isinstance(event, Stopped):
            self._reason = event.reason
            self.why = f"it took more than {TASK_SECONDS:g} s" if event.reason == "seconds" else event.why

    def answer(self, name: str, reply: ModelReplied, why: str) -> Answer:
        """All that is known of it."""
        return Answer(
            name=name,
            passed=not why,
            why=why,
            text=reply.text,
            thoughts="".join(self._thoughts),
            ended=reply.ended,
            seconds=reply.seconds,
            first_token_seconds=self._first,
            pieces=self._pieces,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            dollars=reply.dollars,
        )


def _to_the_end(events: Generator[Event, None, T], hear: Callable[[Event], None]) -> T:
    """What a generator returns, with every event on the way."""
    while True:
        try:
            hear(next(events))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def _not_asked(trial: Trial) -> Answer:
    return Answer(name=trial.name, passed=False, why="not asked: to those before it came no answer")


def _evidence(answer: Answer) -> CheckFinished:
    verdict: Outcome = "passed" if answer.passed else "failed" if answer.ended else "not_run"
    return CheckFinished(evidence=Evidence(check=answer.name, verdict=verdict, why=answer.why))
