"""What an answer costs. Prices come with a package and are never fetched; what runs on this machine costs nothing."""

from functools import cache

from burnish.events import Frozen

FREE = ("local:", "huggingface:", "scripted:")
"""Who answers on this machine."""
_PROVIDERS = {"google_genai": "google", "google_vertexai": "google", "azure_openai": "azure", "bedrock": "aws"}
"""What providers are called by the package, where that differs from the names that people type."""
_SAMPLE = 1000
"""Tokens that are priced to learn the rate: few enough for the rate of short prompts."""
MILLION = 1_000_000


class Price(Frozen):
    """Dollars for a million tokens."""

    read: float
    written: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Dollars for so many tokens read and written."""
        return (self.read * tokens_in + self.written * tokens_out) / MILLION


@cache
def price_of(name: str) -> Price | None:
    """The price of a model by its `provider:model` name; None when nobody has told us."""
    if name.startswith(FREE):
        return Price(read=0.0, written=0.0)
    provider, _, model = name.partition(":")
    if not provider or not model:
        return None
    from genai_prices import Usage, calc_price

    try:
        known = _PROVIDERS.get(provider, provider)
        read = calc_price(Usage(input_tokens=_SAMPLE, output_tokens=0), model, provider_id=known)
        written = calc_price(Usage(input_tokens=0, output_tokens=_SAMPLE), model, provider_id=known)
    except LookupError:
        return None
    scale = MILLION / _SAMPLE
    return Price(read=float(read.total_price) * scale, written=float(written.total_price) * scale)
