"""What an answer costs. Prices come with a package and are never fetched; what runs on this machine costs nothing."""

import re
from functools import cache

from burnish.events import Frozen

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
    """For tokens that the provider had at hand from an earlier ask; None where they cost what others do."""

    def of(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """Dollars for so many tokens read and written; the cached ones are among those read."""
        cached = self.read if self.cached is None else self.cached
        fresh = self.read * (tokens_in - tokens_cached) + cached * tokens_cached
        return (fresh + self.written * tokens_out) / MILLION


def is_free(name: str) -> bool:
    """Whether a model costs nothing by its name alone, as a record has it."""
    return name.startswith(FREE) and (name.startswith(EMBEDDED) or not _CLOUD.search(name))


def price_of(name: str) -> Price | None:
    """The price of a model by its `provider:model` name; None when nobody has told us."""
    provider, _, model = name.partition(":")
    if is_free(name) and not _is_called_dear(name):
        return Price(read=0.0, written=0.0)
    if not provider or not model:
        return None
    from burnish.models.providers import server_of

    server = server_of(name)
    if server and server.free is not None:
        return Price(read=0.0, written=0.0) if server.free else None
    if server is None or server.is_official:
        return _listed(server.kind if server else provider, model)
    if server.kind == "ollama":
        return None if _CLOUD.search(model) else Price(read=0.0, written=0.0)
    return Price(read=0.0, written=0.0) if server.is_here else None


def _is_called_dear(name: str) -> bool:
    """Whether the user has said that the server costs something."""
    from burnish.models.providers import server_of

    server = None if name.startswith(EMBEDDED) else server_of(name)
    return server is not None and server.free is False


def is_taken_as_free(name: str) -> bool:
    """Whether a model costs nothing only because its server listens on this machine, and nobody has said so: it may
    hand questions on to a cloud that is paid for. What Ollama hands on is known by its name.
    """
    from burnish.models.providers import server_of

    server = None if name.startswith(EMBEDDED) else server_of(name)
    return server is not None and server.kind != "ollama" and server.is_here and server.free is None


@cache
def _listed(provider: str, model: str) -> Price | None:
    from genai_prices import Usage, calc_price

    def dollars(**tokens: int) -> float:
        price = calc_price(Usage(**tokens), model, provider_id=_PROVIDERS.get(provider, provider))
        return float(price.total_price) * MILLION / _SAMPLE

    try:
        return Price(
            read=dollars(input_tokens=_SAMPLE, output_tokens=0),
            written=dollars(input_tokens=0, output_tokens=_SAMPLE),
            cached=dollars(input_tokens=_SAMPLE, cache_read_tokens=_SAMPLE, output_tokens=0),
        )
    except LookupError:
        return None


def context_of(name: str) -> int:
    """Tokens that a listed model can have in mind; 0 where nobody has told us."""
    from burnish.models.providers import server_of

    provider, _, model = name.partition(":")
    server = server_of(name)
    return _window(server.kind if server and server.is_official else provider, model)


@cache
def _window(provider: str, model: str) -> int:
    from genai_prices import Usage, calc_price

    try:
        known = calc_price(Usage(input_tokens=1), model, provider_id=_PROVIDERS.get(provider, provider))
    except LookupError:
        return 0
    return known.model.context_window or 0
