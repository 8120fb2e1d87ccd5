"""The menu of models, each with its price, its speed and what it is good for; and what a run is likely to take."""

import time

import httpx
import pytest

from burnish.agent.limits import Limits
from burnish.model_choice import Speed
from burnish.models.catalog import Weights
from burnish.models.discovery import ListedModel, ServerModels
from burnish.models.tokens import Price
from burnish.runs import Store
from burnish.web.model_menu import DEMO, estimate, list_menu
from burnish.web.page import translator
from tests.web.slow_weights import TINY
from tests.web.test_runs_page import keep

CLOUD, OLLAMA = "openai:big-70b", "ollama:small:3b"
SERVERS = (
    ServerModels(
        provider="openai",
        address="https://api.example",
        models=(ListedModel(name=CLOUD, price=Price(read=1.0, written=3.0)), ListedModel(name="openai:unpriced")),
    ),
    ServerModels(
        provider="ollama",
        address="http://127.0.0.1:1",
        models=(ListedModel(name=OLLAMA, price=Price(read=0.0, written=0.0)),),
    ),
)


def test_every_model_that_can_be_had_says_what_it_costs_how_fast_it_is_and_what_it_is_good_for(tiny: Weights) -> None:
    speeds = {OLLAMA: Speed(model=OLLAMA, tokens_per_second=40.0, at=1.0)}
    menu = {model.name: model for model in list_menu(SERVERS, speeds, translator("en"))}
    assert {TINY, CLOUD, OLLAMA, DEMO} <= {*menu}
    assert "harder tasks too" in menu[CLOUD].note
    assert "$4.00 for a million words written" in menu[CLOUD].note
    assert "30 words a second here" in menu[OLLAMA].note
    assert menu[OLLAMA].note.endswith("free")
    assert "price is not known" in menu["openai:unpriced"].note
    assert [menu[name].is_ready for name in (TINY, CLOUD, OLLAMA)] == [False, True, True]
    assert "14 kB" in menu[TINY].note or "has to be fetched once" in menu[TINY].note
    assert list(menu)[-1] == DEMO
    german = {model.name: model.note for model in list_menu(SERVERS, speeds, translator("de"))}
    assert not {german[name] for name in (CLOUD, OLLAMA, DEMO)} & {model.note for model in menu.values()}


def test_a_slow_model_is_not_said_to_write_nothing() -> None:
    speeds = {OLLAMA: Speed(model=OLLAMA, tokens_per_second=0.2, at=1.0)}
    note = next(model.note for model in list_menu(SERVERS, speeds, translator("en")) if model.name == OLLAMA)
    assert "< 1 words a second" in note


def test_the_estimate_is_from_earlier_runs_and_never_above_the_limits(store: Store) -> None:
    limits = Limits(seconds=60.0, dollars=0.5)
    first = estimate("local:qwen2.5-coder-1.5b", limits, store)
    assert (first.seconds, first.most_seconds, first.most_dollars, first.is_measured) == (60.0, 60.0, 0.0, False)
    keep(store, "one", at=time.time() - 7, model="local:qwen2.5-coder-1.5b")
    later = estimate("local:qwen2.5-coder-1.5b", limits, store)
    assert later.is_measured
    assert later.seconds < first.seconds
    assert estimate("openai:nobody-knows", limits, store).most_dollars is None


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"model": DEMO, "minutes": "1"}, "About 5 s, at most 60 s; it costs nothing."),
        ({"model": "openai:gpt-4o", "minutes": "10", "dollars": "0.3"}, "it costs at most $0.30"),
        ({"model": "openai:nobody-knows"}, "what it costs is not known"),
        ({"model": TINY}, "Before it begins, the model is fetched once"),
    ],
)
def test_the_form_says_before_the_start_how_long_and_at_most_how_much(
    client: httpx.Client, tiny: Weights, query: dict[str, str], said: str
) -> None:
    assert said in client.get("/write/estimate", params=query).text
    assert client.get("/write/estimate", params={"model": DEMO, "dollars": "much"}).status_code == 400
