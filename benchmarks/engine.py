"""How much faster a model writes many answers together than one after the other. Needs the extra [hf].

    python benchmarks/engine.py huggingface:qwen2.5-coder-1.5b [answers at once]

Prints tokens a second for both and their ratio. With `tiny` for a name, a random model of two layers is made first: its
ratio says nothing about a GPU, only that the engine runs.
"""

import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from burnish.events import Message
from burnish.models.model import Ask, Done, Model
from burnish.models.names import open_model

TOKENS = 160
SECONDS = 15
"""Each way gets so long; whoever is writing then still ends."""


def main(name: str, at_once: int | None = None) -> float:
    with tempfile.TemporaryDirectory() as folder:
        model = open_model(f"huggingface:{tiny(Path(folder))}" if name == "tiny" else name)
        started = time.monotonic()
        written(model, 0, seconds=0)
        print(
            f"{model.name}: ready after {time.monotonic() - started:.1f} s; {getattr(model, 'engine', '')}", flush=True
        )
        seconds = 2 if name == "tiny" else SECONDS
        many = at_once or model.slots
        alone = speed(model, 1, seconds)
        print(f"1 at a time: {alone:.0f} tokens/s", flush=True)
        together = speed(model, many, seconds)
        print(f"{many} at a time: {together:.0f} tokens/s; ratio {together / alone:.1f}", flush=True)
        return together / alone


def speed(model: Model, at_once: int, seconds: float) -> float:
    """Tokens a second with so many readers, each asking again as soon as it is answered."""
    started = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        tokens = sum(pool.map(lambda reader: written(model, reader, seconds), range(at_once)))
    return tokens / (time.monotonic() - started)


def written(model: Model, reader: int, seconds: float) -> int:
    """The tokens one reader gets in a while; at least one answer."""
    started, tokens, turn = time.monotonic(), 0, 0
    while not turn or time.monotonic() - started < seconds:
        for piece in model.stream(question(reader, turn), threading.Event()):
            tokens += piece.tokens_out if isinstance(piece, Done) else 0
        turn += 1
    return tokens


def question(reader: int, turn: int) -> Ask:
    """Prompts of many lengths, and settings as in a table: warm, each with its own seed."""
    words = f"Reader {reader}, question {turn}: write a long, well commented Python function. " + "Think. " * (
        reader % 40
    )
    message = Message(role="user", content=words)
    return Ask(purpose="benchmark", messages=(message,), max_tokens=TOKENS, temperature=0.8, seed=1000 * reader + turn)


def tiny(folder: Path) -> Path:
    """A random model whose tokens are bytes; what it writes means nothing."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    torch.set_num_threads(1)
    letters = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    inner = Tokenizer(models.BPE(vocab=letters, merges=[]))
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|im_end|>")
    tokenizer.chat_template = "{% for m in messages %}{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}"
    tokenizer.save_pretrained(folder)
    config = Qwen2Config(
        vocab_size=320, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, initializer_range=0.3, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "tiny", int(sys.argv[2]) if len(sys.argv) > 2 else None)
