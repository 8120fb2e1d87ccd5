"""Prices: known offline, nothing for what runs here, and honestly unknown otherwise."""

import pytest

from burnish.models.prices import Price, price_of


@pytest.mark.parametrize("name", ["local:qwen2.5-coder-0.5b", "huggingface:any/thing", "scripted:demo"])
def test_what_runs_on_this_machine_costs_nothing(name: str) -> None:
    assert price_of(name) == Price(read=0, written=0)


@pytest.mark.parametrize("name", ["openai:gpt-4o", "anthropic:claude-sonnet-4-20250514", "google_genai:gemini-2.5-pro"])
def test_a_known_model_has_a_price_for_each_direction(name: str) -> None:
    price = price_of(name)
    assert price
    assert 0 < price.read < price.written < 1000
    assert price.of(1_000_000, 1_000_000) == pytest.approx(price.read + price.written)


@pytest.mark.parametrize("name", ["openai:no-such-model", "nobody:gpt-4o", "gpt-4o", "", ":", "openai:"])
def test_an_unknown_model_has_none(name: str) -> None:
    assert price_of(name) is None
