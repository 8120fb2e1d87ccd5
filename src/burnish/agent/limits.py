"""What a run may cost at most.

Calls, tokens and money are booked before each call at the most that it can cost, so those caps are not passed, as long
as a model keeps to the length it was asked for. Time is looked at before each step and while an answer is written: the
step that is under way when it runs out, and the verdict, still come to their end.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from pydantic import Field

from burnish.errors import SetupProblem
from burnish.events import AnswerLost, Asked, Frozen, ModelReplied, Stopped
from burnish.models.model import Ask, Model
from burnish.models.prices import FREE, Price, is_assumed_free, price_of
from burnish.models.tokens import most_prompt_tokens
from burnish.runs.replay import Replay

PER_ANSWER = ("max_tokens", "thinking")
"""Limits of one answer: they end no work, so a run that is taken up again may have any others."""

Cap = Literal["rounds", "calls", "tokens", "seconds", "dollars"]


class Limits(Frozen):
    """The caps of one run; reaching one ends the work with the best version so far. The last two are for one answer."""

    rounds: int = Field(default=5, ge=0)
    """Times the agent goes back to the code after the first answer; 0 leaves it at that one."""
    calls: int = Field(default=16, ge=0)
    """Questions to the model."""
    tokens: int = Field(default=40_000, ge=0)
    """Tokens read and written by the model, all calls together; those of a resumed run's earlier parts too."""
    seconds: float = Field(default=600.0, ge=0)
    """Wall time of the work. Once it is over, an answer is broken off and nothing new is begun: no question, no test
    run, no comparison. Only the verdict still takes its time, and one version is tested if none has been."""
    dollars: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Money for the model; None sets no cap."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Tokens of one answer that holds code; it is cut there, and the work goes on. None: what the prompts set."""
    thinking: int | None = Field(default=None, ge=0)
    """Tokens for the thoughts before one answer, beside its own; 0 turns them off where a model can be told so. None:
    what the user's settings say for the model."""

    def on_record(self) -> dict[str, object]:
        """As plain data; what was not said about one answer is left out, as in records that know nothing of it."""
        told = self.model_dump(mode="json")
        return {name: cap for name, cap in told.items() if cap is not None or name not in PER_ANSWER}


class Left(Frozen):
    """What is left of the caps."""

    calls: int
    tokens: int
    seconds: float
    dollars: float | None


class Meter:
    """Counts what a run has spent. Several nodes ask at once, so a call is booked before it is made.

    `model` is the name of who is asked; without one a call costs no money.
    """

    def __init__(self, limits: Limits, seconds_spent: float = 0.0) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._started = time.monotonic() - seconds_spent
        self._paused_at: float | None = None
        self._calls = 0
        self._tokens = 0
        self._dollars = 0.0

    def book(self, ask: Ask, model: str = "") -> Stopped | None:
        """Book the call at its highest cost, or say which limit forbids it."""
        with self._lock:
            if refused := self.refusal(ask, model):
                return refused
            self._calls += 1
            self._tokens += most_tokens(ask)
            self._dollars += most_dollars(ask, model) or 0.0
        return None

    def book_again(self, ask: Ask, model: str = "") -> Stopped | None:
        """Book one more try of a call whose answer was lost: what it may cost, and no further call."""
        with self._lock:
            if refused := self._refusal(ask, model):
                return refused
            self._tokens += most_tokens(ask)
            self._dollars += most_dollars(ask, model) or 0.0
        return None

    def refusal(self, ask: Ask, model: str = "") -> Stopped | None:
        """Which limit forbids the call, if one does; nothing is booked."""
        if self._calls + 1 > self.limits.calls:
            return _at("calls", self.limits.calls)
        return self._refusal(ask, model)

    def _refusal(self, ask: Ask, model: str) -> Stopped | None:
        if self._tokens + most_tokens(ask) > self.limits.tokens:
            return _at("tokens", self.limits.tokens)
        if over := self.over:
            return over
        return _at("dollars", self.limits.dollars or 0) if self._too_dear(most_dollars(ask, model)) else None

    def affords(self, ask: Ask, times: int, model: str = "") -> bool:
        """Whether so many such calls fit into what is left of calls, tokens and money; nothing is booked."""
        left, dollars = self.left(), most_dollars(ask, model)
        fits = times <= left.calls and times * most_tokens(ask) <= left.tokens
        return fits and (left.dollars is None or (dollars is not None and times * dollars <= left.dollars))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While a person looks at something, no time passes."""
        began = self._paused_at = time.monotonic()
        try:
            yield
        finally:
            self._started += time.monotonic() - began
            self._paused_at = None

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """So long, and no longer, for what is done here; only for work of which one part is done at a time."""
        whole = self.limits
        self.limits = whole.model_copy(update={"seconds": min(whole.seconds, self.seconds_spent + seconds)})
        try:
            yield
        finally:
            self.limits = whole

    def settle(
        self, ask: Ask, tokens_in: int, tokens_out: int = 0, model: str = "", tokens_cached: int = 0
    ) -> float | None:
        """Put the true cost of a booked call in place of the highest one. Its dollars; None where nobody knows."""
        price = _price(model)
        true = price.of(tokens_in, tokens_out, tokens_cached) if price else None
        with self._lock:
            self._tokens += tokens_in + tokens_out - most_tokens(ask)
            self._dollars += (true or 0.0) - (most_dollars(ask, model) or 0.0)
        return true

    def count(self, tokens_in: int, tokens_out: int = 0, model: str = "", tokens_cached: int = 0) -> None:
        """Count a call that an earlier part of the run has made; it is never refused."""
        price = _price(model)
        with self._lock:
            self._calls += 1
            self._tokens += tokens_in + tokens_out
            self._dollars += price.of(tokens_in, tokens_out, tokens_cached) if price else 0.0

    def count_lost(self, asked: Asked, reply: ModelReplied | None, models: Sequence[str]) -> None:
        """Count a call of an earlier part that came to nothing, at what it cost.

        Where its answer never came to an end, nobody knows: it counts at the most it can have cost, with the dearest
        of those who may have been asked.
        """
        read, written = most_prompt_tokens(asked.messages), asked.max_tokens + asked.thinking
        if reply and reply.tokens_in:
            read, written = reply.tokens_in, reply.tokens_out
        prices = [price for price in map(_price, models) if price]
        dollars = max((price.of(read, written) for price in prices), default=0.0)
        with self._lock:
            self._calls += 1
            self._tokens += read + written
            self._dollars += dollars if reply is None or reply.dollars is None else reply.dollars

    def count_try(self, lost: AnswerLost) -> None:
        """Count a try of an earlier part whose answer was lost; the call that it was a try of counts by itself."""
        with self._lock:
            self._tokens += lost.tokens
            self._dollars += lost.dollars or 0.0

    @property
    def dollars(self) -> float:
        """Money spent, with calls that are under way at the most they may cost."""
        return self._dollars

    @property
    def seconds_spent(self) -> float:
        """Wall time of the work so far, that of earlier parts too."""
        return (self._paused_at or time.monotonic()) - self._started

    @property
    def seconds_left(self) -> float:
        """Wall time that is left."""
        return self.limits.seconds - self.seconds_spent

    @property
    def over(self) -> Stopped | None:
        """Said once there is no time left."""
        return _at("seconds", self.limits.seconds) if self.seconds_left <= 0 else None

    def left(self) -> Left:
        """What may still be spent, never less than nothing; calls under way count at the most they may cost."""
        with self._lock:
            dollars = None if self.limits.dollars is None else max(0.0, self.limits.dollars - self._dollars)
            return Left(
                calls=max(0, self.limits.calls - self._calls),
                tokens=max(0, self.limits.tokens - self._tokens),
                seconds=max(0.0, self.seconds_left),
                dollars=dollars,
            )

    def _too_dear(self, dollars: float | None) -> bool:
        """Whether it may pass the cap; what is free for sure passes none."""
        cap = self.limits.dollars
        return cap is not None and dollars != 0 and (dollars is None or self._dollars + dollars > cap)


def meter_after(earlier: Replay, limits: Limits, models: Sequence[Model], seconds: float = 0.0) -> Meter:
    """What may still be spent: time and calls that came to nothing are spent; answers on record count when given."""
    meter = Meter(limits, earlier.seconds + seconds)
    for asked, reply in earlier.lost:
        meter.count_lost(asked, reply, [model.name for model in models])
    for lost in earlier.tries:
        meter.count_try(lost)
    return meter


def check_priced(limits: Limits, *models: str) -> None:
    """Refuse a dollar cap where a model's price is unknown: such a cap would cap nothing."""
    unknown = [name for name in models if price_of(name) is None] if limits.dollars is not None else []
    if unknown:
        raise SetupProblem(
            f"The price of {unknown[0]!r} is not known, so a cap of {limits.dollars:g} dollars cannot be kept. "
            f"Cap its tokens instead, and leave out --dollars: --tokens {limits.tokens}"
        )


def uncapped_notice(limits: Limits, *models: str) -> str:
    """What a user must know of a dollar cap that may cap nothing; empty where it holds."""
    names = [name for name in models if is_assumed_free(name)] if limits.dollars is not None else []
    if not names:
        return ""
    provider = names[0].partition(":")[0]
    return (
        f"The cap of {limits.dollars:g} dollars does not hold for {' and '.join(names)}: the server listens on this"
        " machine and is taken to cost nothing, but it may hand questions on to a cloud that is paid for. If it does"
        f" not, say so once: burnish config set models.{provider}.free true. If it does, cap the tokens: --tokens"
        f" {limits.tokens}"
    )


def _price(model: str) -> Price | None:
    return price_of(model or FREE[0])


def most_tokens(ask: Ask) -> int:
    """Tokens that a call may take, read and written."""
    return most_prompt_tokens(ask.messages) + ask.most_tokens


def most_dollars(ask: Ask, model: str) -> float | None:
    """What a call may cost; None where nobody knows."""
    price = _price(model)
    return price.of(most_prompt_tokens(ask.messages), ask.most_tokens) if price else None


def _at(cap: Cap, value: float) -> Stopped:
    return Stopped(reason=cap, why=f"the limit of {value:g} {cap} is reached")
