"""A model behind a server, asked through LangChain: one way to stream, to cancel and to try again for all providers.

A question is asked again only while nothing of its answer has come: what a reader has seen is never taken back.
"""

import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any, ClassVar

from burnish.errors import BurnishError, ModelError, SetupProblem
from burnish.events import Message
from burnish.models.chunks import AnswerReader
from burnish.models.http import (
    Exchange,
    RequestFailed,
    current_exchange,
    describe_failure,
    explain_wrong_address,
    read_prompt_too_long,
    remove_secret,
)
from burnish.models.model import Ask, Done, Piece, Waiting
from burnish.models.providers import PACKAGES, ModelServer
from burnish.models.stream_thread import POLL_SECONDS, Answer, end_at_stop, stream_in_thread
from burnish.no_telemetry import disable_tracing

MOST_TRIES = 5
FIRST_PAUSE_SECONDS = 0.5
MOST_PAUSE_SECONDS = 60.0
"""A server that asks for a longer pause has no time for us today."""
PREFILL = "prefill"
SCHEMA = "json_schema"
"""In place of a parameter's name: each protocol has its own for it."""
SCHEMA_REFUSALS = ("format", "schema", "grammar", "output_config")
"""Words of a server that cannot hold a model to a schema, or not to this one."""
PREFILL_REFUSALS = ("prefill", "end with a user message", "last message must be", "continue_final_message")
"""How servers say that they do not go on from an answer that was begun for them."""


class ChatModel(ABC):
    """What all models behind a server share; a provider adds how to ask it.

    What a server refuses (a temperature, an answer begun for it) is learnt from its refusal: it is left out of the
    same question, which is asked again at once, and of all further ones.
    """

    slots = 4
    protocol: ClassVar[str]
    optional: ClassVar[tuple[str, ...]] = ("temperature", "top_p", "seed", "stop")
    """Parameters that an answer can do without."""

    def __init__(self, name: str, model: str, server: ModelServer) -> None:
        self.name = name
        self.model = model
        self.server = server
        self.thinking = server.thinking
        """Tokens for thoughts that each ask of this model has beside those for its answer."""
        self.refused: set[str] = set() if server.continues is not False else {PREFILL}
        self.remarks: dict[str, str] = {}
        """Shown to the user with the first answer, each kind once."""
        self._key = server.key
        self._remarked: set[str] = set()
        self._opened = False
        """Whether its thoughts are opened in the prompt, so that only their end is in the text."""

    @property
    @abstractmethod
    def chat(self) -> Any:
        """LangChain's chat model; made once."""

    @abstractmethod
    def request(self, ask: Ask, messages: list[tuple[str, str]]) -> Iterator[Any]:
        """LangChain's chunks of one answer, without what is `refused`."""

    @property
    def profile(self) -> dict[str, Any]:
        """What LangChain knows of a model by this name; nothing of most."""
        return dict(getattr(self.chat, "profile", None) or {})

    @property
    def engine(self) -> str:
        """What carries the answers, with its version."""
        package = PACKAGES[self.server.kind].partition(">")[0]
        return f"{self.protocol} ({package} {version(package)})"

    def drop_refused(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters without those that the server refuses."""
        return {name: value for name, value in parameters.items() if name not in self.refused}

    def bind_schema(self, ask: Ask) -> dict[str, Any]:
        """The parameter that holds the answer to its schema; none where there is none, or the server refuses it."""
        return {} if SCHEMA in self.refused else ask.response_format

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
                for piece in self._try_once(ask, cancel):
                    began = began or not isinstance(piece, Waiting)
                    yield piece
                return
            except RequestFailed as failure:
                if not began and self._learn_refusal(failure, left_out, bool(ask.json_schema)):
                    continue  # not one of the tries: the next question is another one
                too_late = tries >= MOST_TRIES or failure.wait_seconds > MOST_PAUSE_SECONDS
                if began or too_late or not failure.passing:
                    raise self._explain(failure, tries, began) from None  # the cause may say the key
                # Twice as long each time, and not all at the same moment, unless the server asks for more.
                pause = max(failure.wait_seconds, FIRST_PAUSE_SECONDS * 2.0 ** (tries - 1) * random.uniform(0.8, 1.2))
                why = f"{self.name}: {failure.words}; asked again in {pause:.1f} s"
                yield Waiting(why=why, seconds=pause, lost=failure.may_cost)
                until = time.monotonic() + pause
                while (left := until - time.monotonic()) > 0 and not cancel.wait(min(left, POLL_SECONDS)):
                    yield Waiting()
                tries += 1

    def _try_once(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        exchange = Exchange(ask.most_tokens)

        def translate(error: BaseException) -> BaseException:
            known = isinstance(error, BurnishError | RequestFailed)
            return error if known else describe_failure(error, self._key, exchange)

        # A server that honours the stop strings sends nothing behind them; one that does not is read to its end.
        return end_at_stop(stream_in_thread(self._answer(ask, exchange), cancel, translate, exchange.hang_up), ask)

    def _answer(self, ask: Ask, exchange: Exchange) -> Answer:
        told = ask.messages_with_schema if SCHEMA in self.refused else ask.messages
        messages = format_messages(told, PREFILL not in self.refused)
        opened = self._opened and messages[-1][0] != "assistant"
        reader = AnswerReader(ask, opened, self._key)
        yield from self._remark(self.remarks)
        # Both hold for this thread only, so they begin here, where the answer is read.
        current_exchange.set(exchange)
        with disable_tracing():
            for chunk in self.request(ask, messages):
                yield from reader.take(chunk)
                if reader.too_long:
                    break
            for piece in reader.end():
                if isinstance(piece, Done):
                    # Learnt from whole answers only, and only where this one differs from what was expected.
                    self._opened = reader.opened if reader.opened != opened else self._opened
                    yield from self._remark(reader.list_doubts(piece))
                yield piece

    def _remark(self, remarks: dict[str, str]) -> Iterator[Waiting]:
        """Pieces that tell the user what is unusual about this server, each kind once."""
        new = {kind: words for kind, words in remarks.items() if kind not in self._remarked}
        self._remarked |= new.keys()
        yield from (Waiting(why=f"{self.name} {words}") for words in new.values())

    def _learn_refusal(self, failure: RequestFailed, left_out: frozenset[str], has_schema: bool) -> bool:
        """Whether the server refuses something that can be left out.

        Another thread may have learnt it meanwhile; what counts is what this question was asked with.
        """
        if failure.status not in (400, 422):
            return False
        words = failure.words.lower()
        new = {name for name in self.optional if name in words}
        new |= {PREFILL} if any(sign in words for sign in PREFILL_REFUSALS) else set()
        new |= {SCHEMA} if has_schema and any(sign in words for sign in SCHEMA_REFUSALS) else set()
        self.refused |= new
        return bool(new - left_out)

    def _explain(self, failure: RequestFailed, tries: int, began: bool) -> BurnishError:
        server, wrong = self.server, failure.wrong_address
        if wrong and not began:
            return explain_wrong_address(server, wrong, self._key)
        if failure.status in (401, 403) and not server.key_env:
            return SetupProblem(
                f"The server at {server.address} wants a key ({failure.words}). Name the variable that holds it:"
                f" burnish config set models.{server.provider}.key_env MY_KEY"
            )
        if failure.status in (401, 403):
            return SetupProblem(
                f"The server at {server.address} refused the key in {server.key_env} ({failure.words}). Set the right"
                f" one: export {server.key_env}=…"
            )
        if failure.status == 404:
            return SetupProblem(
                f"The server at {server.address} does not know {self.model!r}: {failure.words} See what is there, or"
                f" whether the address is right: burnish models"
            )
        if too_long := read_prompt_too_long(failure):
            return too_long
        often = f" (asked {tries} times)" if tries > 1 else ""
        where = " in the middle of its answer" if began else ""
        problem = ModelError(remove_secret(self._key, f"{self.name} broke off{where}: {failure.words}{often}"))
        problem.may_cost = began or failure.may_cost
        return problem


def format_messages(messages: Sequence[Message], can_continue: bool) -> list[tuple[str, str]]:
    """The messages as LangChain takes them. A model that cannot continue a prefilled answer is asked in words to."""
    pairs: list[tuple[str, str]] = [(message.role, message.content) for message in messages]
    if can_continue or len(pairs) < 2 or pairs[-1][0] != "assistant":
        return pairs
    (role, words), (_, begun) = pairs[-2:]
    return [*pairs[:-2], (role, f"{words}\n\nBegin your answer with exactly this, and go on from there:\n{begun}")]
