"""An adapter says the same to llama.cpp as to PEFT, on the real weights; off, it changes nothing."""

from pathlib import Path
from typing import Any

import pytest

from burnish.commands.train import keep_adapter
from burnish.learn.recipe import Recipe
from burnish.models.local import LocalModel, server_for
from burnish.models.weights import ensure_weights, find_transformers_source
from tests.conftest import SMALL

torch = pytest.importorskip("torch", reason="torch is not installed: the extra [train]")
peft = pytest.importorskip("peft", reason="peft is not installed: the extra [train]")
pytestmark = [
    pytest.mark.model,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"),
]
TEXT = "def double(n):\n    return"
NEAR = 0.2
"""How far log-probabilities may be apart: llama.cpp computes with quantised numbers, PEFT with what they stand for."""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The real network with a random adapter that is large enough to be seen."""
    from burnish.learn.gguf_lora import PROJECTIONS
    from burnish.models.huggingface.engine import read_network

    made, tokenizer = read_network(find_transformers_source(SMALL), torch.float32, "sdpa")
    targets = [name.partition(".")[2] for name in PROJECTIONS]
    torch.manual_seed(3)
    changed = peft.get_peft_model(made, peft.LoraConfig(r=8, lora_alpha=16, target_modules=targets))
    for name, weight in changed.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.02)
    return changed, tokenizer


def by_peft(network: Any, tokens: list[int]) -> dict[int, float]:
    with torch.inference_mode():
        scores = network(torch.tensor([tokens])).logits[0, -1].log_softmax(-1)
    best = scores.topk(10)
    return dict(zip(best.indices.tolist(), best.values.tolist(), strict=True))


def by_llama(model: LocalModel, tokens: list[int], scale: float) -> dict[int, float]:
    server = server_for(model.settings)
    server.ready.wait()
    question = {"prompt": tokens, "n_predict": 1, "n_probs": 30, "temperature": 0.0, "cache_prompt": False}
    said = server.post("/completion", {**question, "lora": [{"id": 0, "scale": scale}]}, seconds=120)
    return {one["id"]: one["logprob"] for one in said["completion_probabilities"][0]["top_logprobs"]}


def test_llama_cpp_and_peft_agree_with_the_adapter_and_without(network: Any, tmp_path: Path) -> None:
    changed, tokenizer = network
    changed.save_pretrained(tmp_path / "peft")
    adapter = keep_adapter(
        tmp_path / "peft", Recipe(kind="sft", base=SMALL.replace("local", "huggingface"), data=""), "mine"
    )
    model = LocalModel(f"{SMALL}+mine", ensure_weights(SMALL), adapter=adapter)
    assert adapter.label in model.engine
    tokens = tokenizer(TEXT)["input_ids"]
    on = by_peft(changed, tokens)
    with changed.disable_adapter():
        off = by_peft(changed, tokens)
    for wanted, scale in ((on, 1.0), (off, 0.0)):
        got = by_llama(model, tokens, scale)
        assert max(abs(got[token] - value) for token, value in list(wanted.items())[:5]) < NEAR
    moved = max(abs(on.get(token, -20.0) - value) for token, value in off.items())
    assert moved > 5 * NEAR, "an adapter that moves nothing would prove nothing"
