"""Every kind of model keeps the same promises: from a script, behind each protocol, and with real weights."""

from pathlib import Path
from typing import Any

import pytest

from burnish.events import Message
from burnish.models.local import LlamaSettings, LocalModel, server_for
from burnish.models.model import Ask, Model
from burnish.models.names import open_model
from burnish.models.scripted import ScriptedModel
from tests.models.contract import answer, keeps_its_promises
from tests.models.peers import MODEL, Peer, Turn, serving

WORDS = " ".join(map(str, range(1000)))
KINDS = ["openai", "anthropic", "ollama"]


def script(_: str, question: dict[str, Any]) -> Turn:
    """A short answer, or a long one that is cut where it was asked to be."""
    most = question.get("max_tokens") or question.get("max_completion_tokens") or question["options"]["num_predict"]
    text = WORDS if "Count" in str(question["messages"]) else "Hello!"
    return Turn(text=" ".join(text.split(" ")[:most]), length=len(text.split(" ")) > most, read=5, written=1)


def named(file: Path, kind: str, address: str, more: str = "") -> Model:
    file.write_text(f'[models.lab]\nkind = "{kind}"\nbase_url = "{address}"\n{more}')
    return open_model(f"lab:{MODEL}")


def test_a_scripted_model_keeps_its_promises() -> None:
    keeps_its_promises(ScriptedModel(["Hello!"] * 5 + [WORDS]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_behind_a_server_keeps_its_promises(kind: str, tmp_path: Path) -> None:
    with serving(Peer(script=script)) as peer:
        keeps_its_promises(named(tmp_path / "config.toml", kind, peer.base_url(kind)))


@pytest.fixture
def llama(model_weights: Path) -> str:
    """The address of llama.cpp's own server, which speaks two of the protocols."""
    server = server_for(LlamaSettings(model_weights))
    assert server.ready.wait(200)
    return server.address


ASKS = [
    Ask(purpose="test", messages=tuple(Message(role=role, content=text) for role, text in talk), max_tokens=60)  # type: ignore[arg-type]
    for talk in (
        [("user", "Write a Python function that doubles a number. Only the code.")],
        [("system", "You are terse."), ("user", "Name three primes.")],
        [("user", "Write `is_even(n)` in Python."), ("assistant", "```python\ndef is_even(n):\n")],
    )
]


@pytest.mark.model
@pytest.mark.timeout(400)
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_llama_cpps_own_server_keeps_them_behind_each_protocol(kind: str, llama: str, tmp_path: Path) -> None:
    address = f"{llama}/v1" if kind == "openai" else llama
    keeps_its_promises(named(tmp_path / "config.toml", kind, address))


@pytest.mark.model
@pytest.mark.timeout(400)
def test_the_same_weights_give_the_same_greedy_answers_embedded_and_behind_a_server(
    llama: str, model_weights: Path, tmp_path: Path
) -> None:
    local = LocalModel("local:small", model_weights)
    served = named(tmp_path / "config.toml", "openai", f"{llama}/v1", "continues = true\n")
    for ask in ASKS:
        (text, done), (same_text, same) = answer(served, ask), answer(local, ask)
        assert text == same_text
        assert (done.tokens_in, done.tokens_out, done.ended) == (same.tokens_in, same.tokens_out, same.ended)
