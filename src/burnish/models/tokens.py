"""Tokens: how many a text has, how many a model can read at once, and what they cost.

What a call is booked at and what a server is believed to have read are one number: a cap must not hang on its word.
Prices come with a package and are never fetched; what runs on this machine costs nothing.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from burnish import config
from burnish.events import Frozen, Message
from burnish.models.model import Ask, Model
from burnish.models.providers import find_server

PER_MESSAGE, PER_QUESTION = 8, 64
"""Tokens that mark a message as one, and that a server may add to a question: a system message of its own."""
CHARACTERS_PER_TOKEN, MOST_PER_PIECE = 4, 8
"""About four; a piece with more than eight is surely more than one token."""
_PARTS = re.compile(r"[A-Za-z]{1,4}|\n\s*|\S")
_RUNS = re.compile(r"[^\w\s]?[^\W\d_]{1,16}|\d{1,8}|[^\w\s]{1,16}|_+")
EMBEDDED = ("local:", "huggingface:", "scripted:")
"""Who answers inside this process."""
FREE = (*EMBEDDED, "ollama:")
"""Who answers on this machine, or on one of the user's own."""
_CLOUD = re.compile(r"[:-]cloud$")
"""What an Ollama calls models that it does not run itself: `gpt-oss:120b-cloud`. Its owner pays for them."""
_PROVIDERS = {"google_genai": "google", "google_vertexai": "google", "azure_openai": "azure", "bedrock": "aws"}
"""What providers are called by the package, where that differs from the names that people type."""
_SAMPLE = 1000
"""Tokens that are priced to learn the rate: few enough for the rate of short prompts."""
MILLION = 1_000_000


def context_tokens(model: Model) -> int:
    """Tokens of question and answer that a model can read at once; 0 where it is unknown.

    The model, the user's file and the list of prices may know it.
    """
    own = int(getattr(model, "context", 0))
    return smallest_known(own, config.load().context_of(model.name)) or look_up_context(model.name)


def smallest_known(*sizes: int) -> int:
    """The smallest that is not 0: a setting cannot give a model more context than it has."""
    return min((size for size in sizes if size), default=0)


def estimate_tokens(text: str) -> int:
    """How many tokens a text may well have: each digit and each sign is one, and long words come in parts."""
    return len(_PARTS.findall(text))


def fewest_tokens(text: str) -> int:
    """How many it has at the least: no token reaches from one word, number or row of signs into the next, except from
    a sign into the word that follows it.
    """
    return len(_RUNS.findall(text))


def guess_tokens(pieces: int, characters: int) -> int:
    """About how many tokens a text has that came in so many pieces."""
    return pieces if characters <= MOST_PER_PIECE * pieces else characters // CHARACTERS_PER_TOKEN


def guess_prompt_tokens(ask: Ask) -> int:
    """About how many tokens a prompt has: a token is some four bytes."""
    return sum(_count_bytes(message) // CHARACTERS_PER_TOKEN + PER_MESSAGE for message in ask.messages)


def estimate_prompt_tokens(ask: Ask) -> int:
    """How many tokens a prompt may well have."""
    return sum(estimate_tokens(message.content) + PER_MESSAGE for message in ask.messages)


def fewest_prompt_tokens(ask: Ask) -> int:
    """How many tokens a prompt has at the least."""
    return sum(fewest_tokens(message.content) for message in ask.messages)


def most_prompt_tokens(messages: Sequence[Message]) -> int:
    """How many a prompt has at the most: no tokenizer makes one of less than a byte, and servers wrap them in a few."""
    return sum(_count_bytes(message) + PER_MESSAGE for message in messages) + PER_QUESTION


def _count_bytes(message: Message) -> int:
    return len(message.content.encode("utf-8", "replace"))


def read_count(value: object) -> int:
    """A number of bytes or tokens that a server sends; 0 for what cannot be one."""
    return value if isinstance(value, int) and 0 < value < 1 << 60 else 0


def read_counts(usage: object) -> dict[str, Any]:
    """What a server counts, without what cannot be a count: a client would break off at it."""
    pairs = usage.items() if isinstance(usage, dict) else ()
    # Details are counts as well, one level deeper.
    kept = {key: read_counts(value) if key.endswith("_details") else read_count(value) for key, value in pairs}
    return {key: value for key, value in kept.items() if value}


class Price(Frozen):
    """Dollars for a million tokens."""

    read: float
    written: float
    cached: float | None = None
    """For tokens that the provider had cached from an earlier ask; None where they cost what others do."""

    def of(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """Dollars for so many tokens read and written; the cached ones are among those read."""
        cached = self.read if self.cached is None else self.cached
        fresh = self.read * (tokens_in - tokens_cached) + cached * tokens_cached
        return (fresh + self.written * tokens_out) / MILLION


NOTHING = Price(read=0.0, written=0.0)


def is_free(name: str) -> bool:
    """Whether a model costs nothing by its name alone, as a record has it."""
    return name.startswith(FREE) and (name.startswith(EMBEDDED) or not _CLOUD.search(name))


def price_of(name: str) -> Price | None:
    """The price of a model by its `provider:model` name; None where it is unknown."""
    provider, _, model = name.partition(":")
    server = None if name.startswith(EMBEDDED) else find_server(name)
    if server and server.free is not None:  # the user knows best
        return NOTHING if server.free else None
    if is_free(name):
        return NOTHING
    if not model:
        return None
    if server is None or server.is_official:
        return _list_price(server.kind if server else provider, model)
    free = not _CLOUD.search(model) if server.kind == "ollama" else server.is_here
    return NOTHING if free else None


def is_assumed_free(name: str) -> bool:
    """Whether a model counts as free only because its server listens on this machine.

    Such a server may hand questions on to a cloud that is paid for. What Ollama hands on is known by its name.
    """
    server = None if name.startswith(EMBEDDED) else find_server(name)
    return server is not None and server.kind != "ollama" and server.is_here and server.free is None


@cache
def _list_price(provider: str, model: str) -> Price | None:
    def price_sample(**tokens: int) -> float:
        return float(_look_up(provider, model, **tokens).total_price) * MILLION / _SAMPLE

    try:
        return Price(
            read=price_sample(input_tokens=_SAMPLE, output_tokens=0),
            written=price_sample(input_tokens=0, output_tokens=_SAMPLE),
            cached=price_sample(input_tokens=_SAMPLE, cache_read_tokens=_SAMPLE, output_tokens=0),
        )
    except LookupError:
        return None


@cache
def _look_up(provider: str, model: str, **tokens: int) -> Any:
    """What the package says of so many tokens. Raises LookupError for a model that it does not list."""
    from genai_prices import Usage, calc_price

    return calc_price(Usage(**tokens), model, provider_id=_PROVIDERS.get(provider, provider))


def look_up_context(name: str) -> int:
    """Tokens of question and answer that a model of a provider's own cloud can read; 0 where the list has none.

    Another server may run anything under that name.
    """
    server = find_server(name)
    with suppress(LookupError):
        if server and server.is_official:
            return _look_up(server.kind, name.partition(":")[2], input_tokens=1).model.context_window or 0
    return 0
