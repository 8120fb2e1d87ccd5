"""What an answer costs, and how much a listed model reads. The lists come with a package and are never fetched; what
runs on this machine costs nothing.
"""

import re
from contextlib import suppress
from functools import cache
from typing import Any

from burnish.events import Frozen
from burnish.models.providers import find_server

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
