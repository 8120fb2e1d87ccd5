"""A model behind a server, asked through LangChain: one way to stream, to cancel and to try again for all providers.

A question is asked again only while nothing of its answer has come: what a reader has seen is never taken back.
"""

import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from burnish.errors import BurnishError, ModelError, SetupProblem
from burnish.events import Message
from burnish.models.astray import wrong_address
from burnish.models.faults import Fault, blame_length, fault_of, without
from burnish.models.model import Ask, Done, Piece, Waiting
from burnish.models.providers import Server
from burnish.models.pump import POLL_SECONDS, Answer, pumped
from burnish.models.reading import Reading
from burnish.models.wire import Wire
from burnish.silence import silence

MOST_TRIES = 5
FIRST_PAUSE_SECONDS = 0.5
MOST_PAUSE_SECONDS = 60.0
"""A server that asks for a longer pause has no time for us today."""
CONNECT_SECONDS, SILENT_SECONDS = 10.0, 900.0
"""How long a server may take to answer the phone, and then say nothing: a big prompt on a slow machine takes long."""
BEGUN = "begun"
NO_BEGUN = ("prefill", "end with a user message", "last message must be", "continue_final_message")
"""How servers say that they do not go on from an answer that was begun for them."""


class ChatModel(ABC):
    """What all models behind a server share; a provider adds how to talk to it.

    What a server refuses (a temperature, an answer begun for it) is learnt from its refusal: it is left out of the
    same question, which is asked again at once, and of all further ones.
    """

    slots = 4
    optional: ClassVar[tuple[str, ...]] = ("temperature", "top_p", "seed")
    """Parameters that an answer can do without."""

    def __init__(self, name: str, model: str, server: Server) -> None:
        self.name = name
        self.model = model
        self.server = server
        self.thinking = server.thinking
        """Tokens for thoughts that each ask of this model has beside those for its answer."""
        self.refused: set[str] = set() if server.continues is not False else {BEGUN}
        self._key = server.key
        self.remarks: dict[str, str] = {}
        """What is to be said of it with its first answer, each kind of it once."""
        self._told: set[str] = set()
        self._opened = False
        """Whether its thoughts are opened in the prompt, so that only their end is in the text."""

    @property
    @abstractmethod
    def chat(self) -> Any:
        """LangChain's chat model; made once."""

    @property
    def profile(self) -> dict[str, Any]:
        """What LangChain knows of a model by this name; nothing of most."""
        return dict(getattr(self.chat, "profile", None) or {})

    @abstractmethod
    def talk(self, ask: Ask, messages: list[tuple[str, str]]) -> Iterator[Any]:
        """LangChain's chunks of one answer, without what is `refused`."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def warm_up(self) -> None:
        """Begin to import what is needed to ask; the model itself is the server's."""
        threading.Thread(target=lambda: self.chat, name="burnish-load", daemon=True).start()

    def close(self) -> None:  # noqa: B027
        """Each ask has a connection of its own, closed with it."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The answer, as it is written."""
        tries = 1
        while not cancel.is_set():
            began, left_out = False, frozenset(self.refused)
            try:
                for piece in self._pumped(ask, cancel):
                    began = began or not isinstance(piece, Waiting)
                    yield piece
                return
            except Fault as fault:
                if not began and self._learns(fault, left_out):
                    continue
                if began or not fault.may_pass or tries >= MOST_TRIES or (fault.wait_seconds or 0) > MOST_PAUSE_SECONDS:
                    raise self._problem(fault, tries, began) from None  # the cause may say the key
                yield from _pause(_seconds(fault, tries), f"{self.name}: {fault.words}", cancel, fault.may_cost)
                tries += 1

    def _pumped(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """One try."""
        wire = Wire(ask.most_tokens)

        def named(error: BaseException) -> BaseException:
            if isinstance(error, BurnishError | Fault):
                return error
            fault = fault_of(error, self._key, wire.retry_after)
            fault.astray = wire.astray
            return fault

        return pumped(self._answer(ask, wire), cancel, named, wire.hang_up)

    def _answer(self, ask: Ask, wire: Wire) -> Answer:
        talk = said(ask.messages, BEGUN not in self.refused)
        opened = self._opened and talk[-1][0] != "assistant"
        reading = Reading(ask, opened, self._key)
        yield from self._once(self.remarks)
        with silence(), wire.in_use():
            for chunk in self.talk(ask, talk):
                yield from reading.take(chunk)
                if reading.too_long:
                    break
            for piece in reading.end():
                if isinstance(piece, Done):
                    self._opened = reading.opened if reading.opened != opened else self._opened
                    yield from self._once(reading.doubts(piece))
                yield piece

    def _once(self, told: dict[str, str]) -> Iterator[Waiting]:
        """What is to be said of this server, each kind of it once."""
        new = {kind: words for kind, words in told.items() if kind not in self._told}
        self._told |= new.keys()
        yield from (Waiting(why=f"{self.name} {words}") for words in new.values())

    def _learns(self, fault: Fault, left_out: frozenset[str]) -> bool:
        """Whether the fault tells of something that the server refuses and that can be left out.

        Another thread may have learnt it meanwhile; what counts is what this question was asked with.
        """
        if fault.status not in (400, 422):
            return False
        words = fault.words.lower()
        new = {name for name in self.optional if name in words}
        new |= {BEGUN} if any(sign in words for sign in NO_BEGUN) else set()
        self.refused |= new
        return bool(new - left_out)

    def _problem(self, fault: Fault, tries: int, began: bool) -> BurnishError:
        what, leads_to = fault.astray
        if what and not began:
            return wrong_address(self.server, what, without(self._key, leads_to))
        if fault.status in (401, 403):
            return _no_entry(self.server, fault)
        if fault.status == 404:
            return SetupProblem(
                f"The server at {self.server.address} does not know {self.model!r}: {fault.words} See what is there, or"
                f" whether the address is right: burnish models"
            )
        try:
            blame_length(fault)
        except ModelError as error:
            return error
        often = f" (asked {tries} times)" if tries > 1 else ""
        where = " in the middle of its answer" if began else ""
        problem = ModelError(without(self._key, f"{self.name} broke off{where}: {fault.words}{often}"))
        problem.may_cost = began or fault.may_cost
        return problem


def said(messages: Sequence[Message], goes_on: bool) -> list[tuple[str, str]]:
    """The talk as roles and words. Who cannot go on from an answer begun for it is told in words how to begin."""
    talk: list[tuple[str, str]] = [(message.role, message.content) for message in messages]
    if goes_on or len(talk) < 2 or talk[-1][0] != "assistant":
        return talk
    (role, words), (_, begun) = talk[-2:]
    return [*talk[:-2], (role, f"{words}\n\nBegin your answer with exactly this, and go on from there:\n{begun}")]


def _pause(seconds: float, why: str, cancel: threading.Event, lost: bool = False) -> Iterator[Waiting]:
    yield Waiting(why=f"{why}; asked again in {seconds:.1f} s", seconds=seconds, lost=lost)
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not cancel.wait(min(left, POLL_SECONDS)):
        yield Waiting()


def _seconds(fault: Fault, tries: int) -> float:
    """Before the next try: what the server asks for, else twice as long each time, and not all at the same moment."""
    return max(fault.wait_seconds or 0.0, FIRST_PAUSE_SECONDS * 2.0 ** (tries - 1) * random.uniform(0.8, 1.2))


def _no_entry(server: Server, fault: Fault) -> SetupProblem:
    if not server.key_env:
        return SetupProblem(
            f"The server at {server.address} wants a key ({fault.words}). Name the variable that holds it:"
            f" burnish config set models.{server.provider}.key_env MY_KEY"
        )
    return SetupProblem(
        f"The server at {server.address} refused the key in {server.key_env} ({fault.words}). Set the right one:"
        f" export {server.key_env}=…"
    )
