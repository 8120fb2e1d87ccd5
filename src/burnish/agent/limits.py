"""What a run may cost at most. Checked before each call with the most that call can cost, so a cap is never passed."""

import threading
import time
from typing import Literal

from pydantic import Field

from burnish.events import Frozen, Stopped
from burnish.models.model import Ask

Cap = Literal["rounds", "calls", "tokens", "seconds"]


class Limits(Frozen):
    """The caps of one run; reaching one ends the work with the best version so far."""

    rounds: int = Field(default=5, ge=0)
    """Times the agent goes back to the code after the first draft has met the tests."""
    calls: int = Field(default=16, ge=0)
    """Questions to the model."""
    tokens: int = Field(default=40_000, ge=0)
    """Tokens read and written by the model, all calls together."""
    seconds: float = Field(default=600.0, ge=0)
    """Wall time of the whole run."""


class Meter:
    """Counts what a run has spent. Several nodes ask at once, so a call is booked before it is made."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._calls = 0
        self._tokens = 0

    def book(self, ask: Ask) -> Stopped | None:
        """Book the call at its highest cost, or say which limit forbids it."""
        most = _most_tokens(ask)
        with self._lock:
            if self._calls + 1 > self.limits.calls:
                return _at("calls", self.limits.calls)
            if self._tokens + most > self.limits.tokens:
                return _at("tokens", self.limits.tokens)
            if self.seconds_left <= 0:
                return _at("seconds", self.limits.seconds)
            self._calls += 1
            self._tokens += most
        return None

    def settle(self, ask: Ask, tokens: int) -> None:
        """Put the true cost of a booked call in place of the highest one."""
        with self._lock:
            self._tokens += tokens - _most_tokens(ask)

    @property
    def seconds_left(self) -> float:
        """Wall time that is left."""
        return self.limits.seconds - (time.monotonic() - self._started)


def _most_tokens(ask: Ask) -> int:
    characters = sum(len(message.content) for message in ask.messages)
    return characters // 2 + ask.max_tokens  # no tokenizer of ours makes a token of less than two characters of code


def _at(cap: Cap, value: float) -> Stopped:
    return Stopped(reason=cap, why=f"the limit of {value:g} {cap} is reached")
