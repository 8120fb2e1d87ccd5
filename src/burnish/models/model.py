"""Who answers: one way to ask, whatever stands behind the name."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, Protocol, Self, runtime_checkable

from pydantic import AfterValidator, Field, model_validator

from burnish.events import Frozen, Message
from burnish.json_schema import check_schema, read_by_schema
from burnish.text import replace_surrogates

Words = Annotated[str, AfterValidator(replace_surrogates)]
"""What a model wrote: any text that a file can hold."""
Progress = Callable[[int, int, str], None]
"""Told while weights are fetched: bytes so far, bytes in all, where they come from."""

THOUGHTS_OPEN, THOUGHTS_CLOSE = "<think>", "</think>"
"""What stands around thoughts in the text of a model that has no other place for them."""


class Ask(Frozen):
    """One question to a model, with everything that decides its answer."""

    purpose: str
    messages: tuple[Message, ...]
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 1024
    seed: int = 0
    top_k: int = 40
    """Only the k most likely tokens are drawn from; 0 means all.

    This default and the next are llama.cpp's, set here so that every engine draws alike.
    """
    min_p: float = 0.05
    """Tokens less likely than this share of the likeliest one are left out."""
    repetition_penalty: float = 1.0
    """Above 1, tokens of the prompt and of the answer so far become less likely; 1 changes nothing."""
    thinking: int = 0
    """Tokens for thoughts, beside those of the answer. With 0, thinking is switched off where the model can do that."""

    json_schema: Annotated[str, AfterValidator(check_schema)] = ""
    """What the answer must be as data, from `freeze_schema`; empty for free text. Engines that can be bound to it are;
    `read_data` judges every answer."""
    stop: tuple[Annotated[str, Field(min_length=1, max_length=1000)], ...] = Field(default=(), max_length=4)
    """The answer ends before the first of these that it would hold. Four at most, as servers take no more; and none so
    long that looking for its beginning in every piece would take longer than the answer."""

    @model_validator(mode="after")
    def _refuse_begun_data(self) -> Self:
        if self.json_schema and self.messages and self.messages[-1].role == "assistant":
            raise ValueError("an answer that has a schema cannot be begun for the model: the schema is for all of it")
        return self

    def read_data(self, text: str, ended: str = "stop") -> Any:
        """The answer as the data that the schema asks for. Raises NotBySchema with the reason."""
        return read_by_schema(self.json_schema, text, ended)

    @property
    def response_format(self) -> dict[str, Any]:
        """The schema as OpenAI's protocol takes it, and LangChain for the others; empty where there is none."""
        if not self.json_schema:
            return {}
        wanted = {"name": "answer", "strict": True, "schema": json.loads(self.json_schema)}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}

    @property
    def messages_with_schema(self) -> tuple[Message, ...]:
        """The messages for a model that nothing binds to the schema: the last one tells it."""
        if not self.json_schema:
            return self.messages
        last = self.messages[-1]
        told = f"{last.content}\n\nAnswer with JSON only, by this JSON schema:\n{self.json_schema}"
        return (*self.messages[:-1], last.model_copy(update={"content": told}))

    @property
    def most_tokens(self) -> int:
        """Tokens that may be written in all."""
        return self.max_tokens + self.thinking


class Chunk(Frozen):
    """A few more characters of the answer."""

    text: Words
    instead: bool = False
    """Whether it stands for all that came before, which was taken for thoughts."""


class Thought(Frozen):
    """A few more characters of what the model says to itself before it answers; never part of the answer."""

    text: Words
    instead: bool = False
    """Whether it stands for all that came before, which was taken for the answer."""


class Waiting(Frozen):
    """Nothing to read yet, and why: weights are loading, another process has the cores.

    Comes at least twice a second while nothing else does, so that the reader can look at the clock.
    """

    why: str = ""
    seconds: float = 0.0
    """For how long nothing will come at least, where that is known: a caller with less time left can stop now."""
    lost: bool = False
    """Whether an answer was lost on its way and is asked for again: it may have to be paid for all the same."""
    is_idle: bool = False
    """Whether nothing is done for us meanwhile, as another process has the cores: no limit of time counts it."""


class Done(Frozen):
    """The end of the answer, with what it cost.

    Providers count differently; here `tokens_in` is everything that was read, from a cache or not, and `tokens_out`
    everything that was written, thoughts too. The two last numbers are parts of those, never beside them.
    """

    tokens_in: int
    tokens_out: int
    ended: Literal["stop", "length", "enough", "stop_string"] = "stop"
    """"enough" when the reader left because all that was wanted was there; "stop_string" when one of the ask's came.
    OpenAI's and Ollama's protocols call that "stop", too, where the server itself ended the answer."""
    tokens_cached: int = 0
    """Of those read, how many the provider had cached from an earlier ask, and sells cheaper."""
    tokens_thought: int = 0
    """Of those written, how many were thoughts, where the provider says so."""


Piece = Chunk | Thought | Waiting | Done
"""What an answer comes in."""


class Model(Protocol):
    """Something that answers.

    Promises: `stream` may be called from several threads at once; an answer ends with exactly one `Done`;
    setting `cancel` ends it within a tenth of a second without one. Raises ModelError when it cannot answer, and
    SetupProblem when only the user can change that: a key that is refused, a model that the server does not have.
    """

    name: str
    slots: int
    """How many answers it writes at once without slowing each other down much."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The answer, as it is written."""
        ...

    def warm_up(self) -> None:
        """Begin to load in the background; returns at once."""
        ...

    def close(self) -> None:
        """Let go of what this process holds for the model."""
        ...


@runtime_checkable
class Leavable(Protocol):
    """A model whose answers may be left before their end: the rest costs nothing, and it counts the tokens itself."""

    def counted(self, ask: Ask, text: str) -> Done:
        """What an answer cost of which this much was read."""
        ...
