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
from burnish.events import Frozen, Stopped
from burnish.events.replay import Replay
from burnish.models.model import Ask, Model
from burnish.models.tokens import FREE, context_tokens, is_assumed_free, most_prompt_tokens, price_of

PER_ANSWER = ("max_tokens", "thinking")
"""Limits of one answer: they end no work, so a run that is taken up again may have any others."""
QUESTION_TOKENS = 1024
"""Room that is left for the question: most of ours are shorter."""
ANSWER_TOKENS = 1024
"""An answer that holds code, where nobody says how long it may be."""

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

    def thinking_tokens(self, model: Model) -> int:
        """Tokens for the thoughts before one answer of this model."""
        return int(getattr(model, "thinking", 0)) if self.thinking is None else self.thinking

    def on_record(self) -> dict[str, object]:
        """As plain data; what was not said about one answer is left out, as in records that know nothing of it."""
        caps = self.model_dump(mode="json")
        return {name: cap for name, cap in caps.items() if cap is not None or name not in PER_ANSWER}


class Meter:
    """Counts what a run has spent. Several nodes ask at once, so a call is booked before it is made.

    `model` is the name of who is asked; without one a call costs no money.
    """

    def __init__(self, limits: Limits, seconds_spent: float = 0.0) -> None:
        self.limits = limits
        self._lock = threading.RLock()  # taken twice by `book`: what is allowed and what is spent are one step
        self._started = time.monotonic() - seconds_spent
        self._paused_at: float | None = None
        self._pauses = 0
        self.calls, self.tokens, self.dollars = 0, 0, 0.0
        """What is spent, with calls that are under way at the most they may cost."""

    def spend(self, calls: int, tokens: int, dollars: float | None) -> None:
        """Count something that nobody can refuse any more, as what an earlier part of the run has taken."""
        with self._lock:
            self.calls += calls
            self.tokens += tokens
            self.dollars += dollars or 0.0

    def book(self, ask: Ask, model: str = "", is_retry: bool = False) -> Stopped | None:
        """Book the call at its highest cost, or say which limit forbids it.

        To ask again for an answer that was lost may cost as much once more, and is no further call. What is free for
        sure passes no dollar cap.
        """
        limits, tokens, dollars = self.limits, most_tokens(ask), most_dollars(ask, model)
        with self._lock:
            if not is_retry and self.calls + 1 > limits.calls:
                return _stop_at("calls", limits.calls)
            if self.tokens + tokens > limits.tokens:
                return _stop_at("tokens", limits.tokens)
            if over := self.over:
                return over
            too_dear = limits.dollars is not None and (dollars is None or self.dollars + dollars > limits.dollars)
            if limits.dollars is not None and too_dear and dollars != 0:
                return _stop_at("dollars", limits.dollars)
            self.spend(int(not is_retry), tokens, dollars)
            return None

    def affords(self, ask: Ask, times: int, model: str = "") -> bool:
        """Whether so many such calls fit into what is left of calls, tokens and money; nothing is booked."""
        limits, dollars = self.limits, most_dollars(ask, model)
        if self.calls + times > limits.calls or self.tokens + times * most_tokens(ask) > limits.tokens:
            return False
        left = None if limits.dollars is None else max(0.0, limits.dollars - self.dollars)
        return left is None or (dollars is not None and times * dollars <= left)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """While a person looks at something, or other processes have the cores, no time passes.

        Several questions may wait at once; what they share of it is taken off once.
        """
        with self._lock:
            self._pauses += 1
            self._paused_at = self._paused_at or time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                if self._pauses == 0 and self._paused_at:
                    self._started += time.monotonic() - self._paused_at
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
        paid = dollars_for(model, tokens_in, tokens_out, tokens_cached)
        self.spend(0, tokens_in + tokens_out - most_tokens(ask), (paid or 0.0) - (most_dollars(ask, model) or 0.0))
        return paid

    @property
    def calls_left(self) -> int:
        """Calls that may still be made, never less than none."""
        return max(0, self.limits.calls - self.calls)

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
        return _stop_at("seconds", self.limits.seconds) if self.seconds_left <= 0 else None


def meter_after(earlier: Replay, limits: Limits, models: Sequence[Model], seconds: float = 0.0) -> Meter:
    """What may still be spent: time and calls that came to nothing are spent; answers on record count when given.

    Where an answer never came to an end, nobody knows its cost: it counts at the most it can have cost, with the
    dearest of those who may have been asked.
    """
    meter = Meter(limits, earlier.seconds + seconds)
    for asked, reply in earlier.lost:
        # Without the server's own count, what it read is taken at the most that the text can be.
        read, written = most_prompt_tokens(asked.messages), asked.max_tokens + asked.thinking
        if reply and reply.tokens_in:
            read, written = reply.tokens_in, reply.tokens_out
        dearest = max((dollars_for(model.name, read, written) or 0.0 for model in models), default=0.0)
        meter.spend(1, read + written, dearest if reply is None or reply.dollars is None else reply.dollars)
    for lost in earlier.tries:  # the call that it was a try of counts by itself
        meter.spend(0, lost.tokens, lost.dollars)
    return meter


def check_priced(limits: Limits, *models: str) -> None:
    """Refuse a dollar cap where a model's price is unknown: such a cap would cap nothing."""
    unknown = [name for name in models if price_of(name) is None] if limits.dollars is not None else []
    if unknown:
        raise SetupProblem(
            f"The price of {unknown[0]!r} is not known, so a cap of {limits.dollars:g} dollars cannot be kept. "
            f"Cap its tokens instead, and leave out --dollars: --tokens {limits.tokens}"
        )


def check_answer_fits(limits: Limits, models: Sequence[Model]) -> None:
    """Raise SetupProblem for a length that leaves no room for the question in a model's context; says which would fit.

    So few tokens for thoughts that a model refuses to have any are refused as well, from the user's settings too.
    """
    for model in models:
        thinking = limits.thinking_tokens(model)
        if not thinking and limits.max_tokens is None:
            continue
        least = getattr(model, "least_thinking", 0) if thinking else 0
        if thinking < least:
            raise SetupProblem(
                f"The model {model.name!r} thinks with {least} tokens at least, or not at all, so {thinking} are "
                f"too few. Give it more, or none with --thinking 0: --thinking {least}"
            )
        room, answer = context_tokens(model), limits.max_tokens or ANSWER_TOKENS
        if not room or answer + thinking <= room - QUESTION_TOKENS:
            continue
        free = max(1, room - QUESTION_TOKENS)
        change = f"--max-tokens {free - thinking}"
        if thinking + min(answer, ANSWER_TOKENS) > free:  # no answer of any use would fit beside so many thoughts
            change = f"--thinking {max(0, free - answer)}"
            change += "" if answer <= free else f" --max-tokens {free}"
        thoughts = f" with {thinking} for its thoughts" if thinking else ""
        raise SetupProblem(
            f"The model {model.name!r} has {room} tokens in mind at most, question and answer together, and a question "
            f"may take {QUESTION_TOKENS}: an answer of {answer} tokens{thoughts} does not fit. Say what does: {change}"
        )


def explain_missing_cap(limits: Limits, *models: str) -> str:
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


def dollars_for(model: str, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float | None:
    """What so many tokens cost; None where nobody knows."""
    price = price_of(model or FREE[0])
    return price.of(tokens_in, tokens_out, tokens_cached) if price else None


def most_tokens(ask: Ask) -> int:
    """Tokens that a call may take, read and written."""
    return most_prompt_tokens(ask.messages) + ask.most_tokens


def most_dollars(ask: Ask, model: str) -> float | None:
    """What a call may cost; None where nobody knows."""
    return dollars_for(model, most_prompt_tokens(ask.messages), ask.most_tokens)


def _stop_at(cap: Cap, value: float) -> Stopped:
    return Stopped(reason=cap, why=f"the limit of {value:g} {cap} is reached")
