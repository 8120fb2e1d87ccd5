"""Weights and tokenizer, read through Transformers, on the best device there is."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AttentionInterface, AutoModelForCausalLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from burnish.errors import ModelError
from burnish.models.huggingface.cache import ATTENTION, attend
from burnish.models.huggingface.source import Source

ENDS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<end_of_turn>", "</s>")
"""Tokens that end an answer wherever a vocabulary has them, as llama.cpp holds it."""


@dataclass(frozen=True)
class Loaded:
    """A model that is ready to answer."""

    network: Any
    tokenizer: Any
    ends: frozenset[int]


def device() -> torch.device:
    """The GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load(source: Source, context: int) -> Loaded:
    """Read the weights: bfloat16 on a GPU, float32 on a processor. Refuses kinds of layers the engine cannot run.

    No code of a repository is run, whatever its files ask for: unless told so, Transformers would ask the terminal.
    """
    where: dict[str, Any] = {"gguf_file": source.gguf} if source.gguf else {}
    safe = {} if source.gguf else {"use_safetensors": True}  # the other format of the hub is a pickle
    _prepare()
    tokenizer = AutoTokenizer.from_pretrained(source.place, trust_remote_code=False, **where)
    dtype = torch.bfloat16 if device().type == "cuda" else torch.float32
    network = AutoModelForCausalLM.from_pretrained(
        source.place, dtype=dtype, attn_implementation=ATTENTION, trust_remote_code=False, **where, **safe
    )
    _refuse_other_layers(network.config, context)
    return Loaded(network.to(device()).eval(), tokenizer, _ends(tokenizer, network))


def _prepare() -> None:
    AttentionInterface.register(ATTENTION, attend)
    torch.backends.cuda.enable_cudnn_sdp(False)  # it plans each new shape anew, and prompts come in all shapes
    disable_progress_bar()
    with suppress(ImportError):
        from transformers import modeling_gguf_pytorch_utils as reader

        reader.tqdm = lambda tensors, **words: tensors  # a bar of its own, that would run across our screen


def _refuse_other_layers(config: Any, context: int) -> None:
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    window = getattr(config, "sliding_window", None) or context
    if kinds - {"full_attention", "sliding_attention"} or ("sliding_attention" in kinds and window < context):
        raise ModelError(f"the engine runs layers of full attention only; this model has {', '.join(sorted(kinds))}")


def _ends(tokenizer: Any, network: Any) -> frozenset[int]:
    vocabulary = tokenizer.get_vocab()
    named = {vocabulary[token] for token in ENDS if token in vocabulary}
    said: list[Any] = [tokenizer.eos_token_id]
    with suppress(AttributeError):
        configured = network.generation_config.eos_token_id
        said += configured if isinstance(configured, list) else [configured]
    return frozenset(named | {token for token in said if token is not None})
