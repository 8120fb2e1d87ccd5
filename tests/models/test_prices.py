"""Prices: known offline, nothing for what runs here, and honestly unknown otherwise."""

from pathlib import Path

import pytest

from burnish.agent.limits import Limits, check_priced, explain_missing_cap
from burnish.errors import SetupProblem
from burnish.models.tokens import Price, look_up_context, price_of


@pytest.mark.parametrize(
    "name", ["local:qwen2.5-coder-0.5b", "huggingface:any/thing", "scripted:demo", "ollama:any:7b"]
)
def test_what_runs_on_this_machine_costs_nothing(name: str) -> None:
    assert price_of(name) == Price(read=0, written=0)


@pytest.mark.parametrize("name", ["ollama:gpt-oss:120b-cloud", "ollama:glm-4.6:cloud", "box:gpt-oss:120b-cloud"])
def test_what_an_ollama_hands_on_to_a_cloud_has_no_known_price(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text('[models.box]\nkind = "ollama"\nbase_url = "http://127.0.0.1:1"\n')
    assert price_of(name) is None
    assert price_of(name.replace("cloud", "coder")) == Price(read=0, written=0)


@pytest.mark.parametrize("name", ["openai:gpt-4o", "anthropic:claude-sonnet-4-20250514", "google_genai:gemini-2.5-pro"])
def test_a_known_model_has_a_price_for_each_direction(name: str) -> None:
    price = price_of(name)
    assert price
    assert 0 < price.read < price.written < 1000
    assert price.of(1_000_000, 1_000_000) == pytest.approx(price.read + price.written)


def test_cached_tokens_have_their_own_price_and_are_among_those_read() -> None:
    price = price_of("openai:gpt-4o")
    assert price
    assert price.cached == pytest.approx(price.read / 2)
    assert price.of(1_000_000, 0, 1_000_000) == pytest.approx(price.cached)
    assert Price(read=2, written=3).of(1_000_000, 0, 500_000) == 2


def test_a_server_on_this_machine_costs_nothing_and_another_has_no_known_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text(
        '[models.lab]\nbase_url = "http://127.0.0.1:1/v1"\n[models.far]\nbase_url = "https://example.org/v1"\n'
        '[models.openai]\nbase_url = "https://example.org/v1"\n'
    )
    assert price_of("lab:any") == Price(read=0, written=0)
    assert price_of("far:any") is None
    assert price_of("openai:gpt-4o") is None, "who sells it under that name elsewhere may ask any price"


@pytest.mark.parametrize(
    ("kind", "address", "model"),
    [("openai", "https://api.openai.com/v1", "gpt-4o"), ("anthropic", "https://api.anthropic.com", "claude-haiku-4-5")],
)
def test_a_cloud_has_its_price_and_its_context_under_any_name(
    tmp_path: Path, kind: str, address: str, model: str
) -> None:
    own = price_of(f"{kind}:{model}")
    (tmp_path / "config.toml").write_text(
        f'[models.work]\nkind = "{kind}"\nbase_url = "{address}/"\nkey_env = "WORK_KEY"\n'
        f'[models.{kind}]\nbase_url = "https://example.org/v1"\n'
    )
    assert price_of(f"work:{model}") == own is not None
    assert look_up_context(f"work:{model}") > 100_000
    assert price_of("work:no-such-model") is None
    assert price_of(f"{kind}:{model}") is None, "elsewhere it may have any price"


@pytest.mark.parametrize("name", ["openai:no-such-model", "nobody:gpt-4o", "gpt-4o", "", ":", "openai:"])
def test_an_unknown_model_has_none(name: str) -> None:
    assert price_of(name) is None


@pytest.mark.parametrize(
    "name", ["openai:gpt-4o", "openai:gpt-4o-mini", "anthropic:claude-sonnet-4-20250514", "anthropic:claude-haiku-4-5"]
)
@pytest.mark.parametrize(("read", "cached", "written"), [(1200, 0, 300), (1200, 1000, 300), (5000, 5000, 1)])
def test_an_answer_costs_what_the_package_of_prices_says(name: str, read: int, cached: int, written: int) -> None:
    from genai_prices import Usage, calc_price

    provider, _, model = name.partition(":")
    usage = Usage(input_tokens=read, cache_read_tokens=cached, output_tokens=written)
    price = price_of(name)
    assert price
    assert price.cached is not None
    assert price.cached < price.read
    expected = float(calc_price(usage, model, provider_id=provider).total_price)
    assert price.of(read, written, cached) == pytest.approx(expected)


def settings_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str) -> None:
    monkeypatch.setenv("BURNISH_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text(f'[models.lab]\nbase_url = "http://127.0.0.1:1/v1"\n{more}')


def test_a_dollar_cap_says_that_a_server_on_this_machine_may_be_a_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_of(tmp_path, monkeypatch, "")
    capped = Limits(dollars=1.0)
    assert explain_missing_cap(capped, "lab:any").endswith(f"--tokens {capped.tokens}")
    assert "models.lab.free true" in explain_missing_cap(capped, "scripted:demo", "lab:any")
    assert not explain_missing_cap(Limits(), "lab:any"), "without a cap nothing is void"
    assert not explain_missing_cap(capped, "scripted:demo", "local:x", "huggingface:x", "openai:gpt-4o")


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_the_users_own_address_of_a_cloud_on_this_machine_is_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    settings_of(tmp_path, monkeypatch, f'[models.{kind}]\nbase_url = "http://localhost:4000"\n')
    assert f"models.{kind}.free true" in explain_missing_cap(Limits(dollars=1.0), f"{kind}:gpt-4o")


def test_who_calls_a_server_free_is_believed_wherever_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far = '[models.far]\nbase_url = "https://example.org/v1"\nfree = true\n'
    settings_of(tmp_path, monkeypatch, f"free = true\n{far}")
    assert price_of("lab:any") == price_of("far:any") == Price(read=0, written=0)
    assert not explain_missing_cap(Limits(dollars=1.0), "lab:any", "far:any")


def test_a_server_that_is_called_dear_has_no_known_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings_of(tmp_path, monkeypatch, "free = false\n[models.ollama]\nfree = false\n")
    for name in ("lab:any", "ollama:any"):
        assert price_of(name) is None
        with pytest.raises(SetupProblem, match="--tokens"):
            check_priced(Limits(dollars=1.0), name)
