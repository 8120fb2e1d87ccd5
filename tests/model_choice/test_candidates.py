"""Who is there: what lies on the disk and what servers have, and nobody is waited for."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish import config
from burnish.model_choice import ModelCandidate, TrackRecord, find_candidates, guess_strength, writes_code
from burnish.models.discovery import ListedModel, ServerModels
from burnish.models.providers import ModelServer
from burnish.models.tokens import Price
from tests.models.peers import MODEL, Peer, serving


@pytest.fixture
def peer() -> Iterator[Peer]:
    with serving(Peer()) as there:
        yield there


def test_nothing_is_there() -> None:
    assert find_candidates({}).candidates == []


def test_a_server_of_ones_own_on_this_machine_is_free(peer: Peer) -> None:
    config.put("models.lab.base_url", peer.base_url("openai"))
    assert find_candidates({}).candidates == [
        ModelCandidate(name=f"lab:{MODEL}", where="server", strength="middle", dollars=0.0)
    ]


@pytest.mark.slow
def test_an_ollama_is_found_where_it_listens(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_ollama")
    monkeypatch.setenv("OLLAMA_HOST", peer.address)
    assert [one.name for one in find_candidates({}).candidates] == [f"ollama:{MODEL}"]


def test_a_model_of_which_its_ollama_says_that_it_does_not_talk_is_nobody_to_choose(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langchain_ollama")
    monkeypatch.setenv("OLLAMA_HOST", peer.address)
    peer.talks = False
    assert find_candidates({}).candidates == []


def test_a_weights_file_of_ones_own_that_was_used_before_is_there_as_long_as_it_exists(tmp_path: Path) -> None:
    name = f"local:{tmp_path}/own-7b.gguf"
    assert find_candidates({name: TrackRecord(runs=1)}).candidates == []
    (tmp_path / "own-7b.gguf").touch()
    assert find_candidates({name: TrackRecord(runs=1)}).candidates == [ModelCandidate(name=name, strength="strong")]
    with (tmp_path / "own-7b.gguf").open("r+b") as file:
        file.truncate(1 << 40)
    assert find_candidates({name: TrackRecord(runs=1)}).candidates == [], (
        "a terabyte of weights fits into no memory here"
    )


@pytest.mark.slow
def test_a_server_that_never_answers_delays_nobody(peer: Peer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        config.put("models.mute.base_url", f"http://127.0.0.1:{mute.getsockname()[1]}/v1")
        config.put("models.lab.base_url", peer.base_url("openai"))
        began = time.monotonic()
        assert [one.name for one in find_candidates({}).candidates] == [f"lab:{MODEL}"]
        assert time.monotonic() - began < 1.5


def test_a_cloud_is_not_even_asked_unless_money_may_be_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    asked: list[str] = []

    def nobody(server: ModelServer) -> ServerModels:
        asked.append(server.provider)
        return ServerModels(provider=server.provider, address=server.address, answers=False)

    monkeypatch.setattr("burnish.model_choice.list_models", nobody)
    found = find_candidates({})
    assert "openai" not in asked
    assert [server.provider for server in found.not_asked] == ["openai"]
    assert find_candidates({}, may_spend=True).not_asked == []
    assert "openai" in asked


def test_a_server_cannot_slip_in_a_second_model_or_what_does_not_fit_into_memory(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.put("models.lab.base_url", peer.base_url("openai"))
    names = ["lab:fine", "lab:a,openai:gpt-4.1", "lab:\x1b[2J", "lab:two words", "lab:" + "x" * 300, "lab:[bold]b"]
    listed = [ListedModel(name=name, price=Price(read=0, written=0)) for name in names]
    listed += [ListedModel(name="lab:vast", price=Price(read=0, written=0), bytes=1 << 60)]
    shelf = ServerModels(provider="lab", address=peer.address, models=tuple(listed))
    monkeypatch.setattr("burnish.model_choice.list_models", lambda server: shelf if server.provider == "lab" else None)
    assert [one.name for one in find_candidates({}).candidates] == ["lab:fine"]


@pytest.mark.parametrize(
    "name",
    [
        "ollama:nomic-embed-text",
        "openai:whisper-1",
        "openai:gpt-image-1",
        "ollama:gpt-oss:120b-cloud",
        "openai:tts-1",
        "openai:o1-pro",
        "openai:gpt-3.5-turbo-instruct",
        "openai:gpt-5-codex",
        "openai:text-embedding-3-small",
        "ollama:qwen2.5-coder:7b-base",
        "ollama:deepseek-coder:6.7b-base-q4_0",
        "lab:Qwen/Qwen3-8B-Base",
        "ollama:codellama:7b-code",
        "ollama:codellama:7b-code-q4_K_M",
        "ollama:codegemma:code",
        "ollama:codellama:13b-python",
        "ollama:sqlcoder:15b",
        "ollama:gte-qwen2:7b",
        "lab:Alibaba-NLP/gte-Qwen2-7B-instruct",
        "ollama:paraphrase-multilingual",
        "lab:intfloat/multilingual-e5-large",
        "ollama:starcoder2",
        "ollama:starcoder2:15b",
        "ollama:moondream:latest",
        "lab:codebert-base",
    ],
)
def test_what_writes_no_code_or_sends_it_elsewhere_is_nobody_to_choose(name: str) -> None:
    assert not writes_code(ListedModel(name=name))


@pytest.mark.parametrize(
    "name",
    [
        "openai:gpt-4.1",
        "openai:gpt-5-mini",
        "openai:o3",
        "anthropic:claude-sonnet-4-5",
        "ollama:qwen2.5-coder:7b",
        "ollama:gpt-oss:20b",
        "lab:google/gemini-2.5-pro",
        "lab:Qwen/Qwen2.5-Coder-7B-Instruct",
        "ollama:codestral:latest",
        "lab:mixtral-8x7b",
        "ollama:granite-code:8b",
        "ollama:starcoder2:15b-instruct",
        "ollama:gemma3n:e4b",
        "ollama:codellama:7b-instruct",
        "lab:x-ai/grok-code-fast-1",
        "lab:AgentPublic/albert-8b",
        "ollama:qwen3-coder:30b",
    ],
)
def test_what_writes_code_may_be_chosen(name: str) -> None:
    assert writes_code(ListedModel(name=name))


@pytest.mark.parametrize(
    ("name", "weights", "size"),
    [
        ("ollama:qwen2.5-coder:0.5b", 398_000_000, "small"),
        ("ollama:qwen2.5-coder:7b", 2_000_000_000, "strong"),
        ("ollama:phi3:latest", 2_200_000_000, "middle"),
        ("ollama:smollm:latest", 300_000_000, "small"),
        ("openai:gpt-4.1-mini", 0, "middle"),
        ("anthropic:claude-3-5-haiku-latest", 0, "middle"),
        ("google:gemini-2.5-pro", 0, "strong"),
    ],
)
def test_the_size_is_what_the_name_says_else_what_the_weights_weigh(name: str, weights: int, size: str) -> None:
    assert guess_strength(ListedModel(name=name, bytes=weights)) == size
