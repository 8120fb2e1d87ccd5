"""The engine: one thread that gives waiting asks to free slots and moves all slots on together.

Asks wait a moment so that several prompts are read at once (reading a single one costs nearly as much as reading
twenty), and tokens are fetched in bursts, since each look at the device makes it wait for Python. A step looks back as
far as its longest row, so short rows have slots of their own; one that outgrows its slot is read again into a long one.
"""

import hashlib
import shutil
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AttentionInterface, AutoModelForCausalLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from burnish.errors import ModelError
from burnish.models.huggingface.slots import ATTENTION, EngineRow, Slots, attend, is_wide
from burnish.models.model import Done
from burnish.models.weights import TransformersSource, weights_folder

GATHER_SECONDS = 0.1
"""No ask waits longer than this for others to be read with, while a slot is free."""
ROOM = 0.25
"""The share of a short slot that must be left for the answer of a row that is put there."""
HAND_OVER_SECONDS = 0.25
"""How often a reader gets what is new: waking hundreds of threads at each token would cost more than the tokens."""

ENDS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<end_of_turn>", "</s>")
"""Tokens that end an answer wherever a vocabulary has them, as llama.cpp holds it."""


@dataclass(frozen=True)
class LoadedModel:
    """A model that is ready to answer."""

    network: Any
    tokenizer: Any
    ends: frozenset[int]

    @cached_property
    def grammar_tokens(self) -> Any:
        """The vocabulary as llguidance reads it; takes about a second."""
        from llguidance.hf import from_tokenizer

        size = self.network.get_output_embeddings().weight.shape[0]
        return from_tokenizer(self.tokenizer, n_vocab=size, eos_token=sorted(self.ends))


def best_device() -> torch.device:
    """The GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load_weights(source: TransformersSource, context: int) -> LoadedModel:
    """Read the weights: bfloat16 on a GPU, float32 on a processor. Refuses kinds of layers the engine cannot run."""
    AttentionInterface.register(ATTENTION, attend)
    torch.backends.cuda.enable_cudnn_sdp(False)  # it plans each new shape anew, and prompts come in all shapes
    dtype = torch.bfloat16 if best_device().type == "cuda" else torch.float32
    network, tokenizer = read_network(source, dtype, ATTENTION)
    if source.adapter:
        network = add_adapter(network, Path(source.adapter)).merge_and_unload()
    kinds = set(getattr(network.config, "layer_types", None) or ["full_attention"])
    window = getattr(network.config, "sliding_window", None) or context
    if kinds - {"full_attention", "sliding_attention"} or ("sliding_attention" in kinds and window < context):
        raise ModelError(f"the engine runs layers of full attention only; this model has {', '.join(sorted(kinds))}")
    vocabulary = tokenizer.get_vocab()
    ends = {vocabulary.get(token) for token in ENDS} | {tokenizer.eos_token_id}
    configured = getattr(getattr(network, "generation_config", None), "eos_token_id", None)
    ends |= {*configured} if isinstance(configured, list) else {configured}
    return LoadedModel(network.to(best_device()).eval(), tokenizer, frozenset(ends - {None}))


def read_network(source: TransformersSource, dtype: torch.dtype, attention: str) -> tuple[Any, Any]:
    """The network of some weights, without any adapter, and its tokenizer. A GGUF file is converted once, and kept.

    No code of a repository is run, whatever its files ask for; by default Transformers would ask the user.
    """
    disable_progress_bar()
    with suppress(ImportError):
        from transformers import modeling_gguf_pytorch_utils as reader

        reader.tqdm = lambda tensors, **words: tensors  # a bar of its own, that would run across our screen
    kept = find_converted(source, dtype) if source.gguf else None
    is_converted = kept is not None and kept.exists()
    where: dict[str, Any] = {"gguf_file": source.gguf} if source.gguf and not is_converted else {}
    safe = {} if where else {"use_safetensors": True}  # the other format of the hub is a pickle
    place = str(kept) if is_converted else source.place
    tokenizer = AutoTokenizer.from_pretrained(place, trust_remote_code=False, **where)
    network = AutoModelForCausalLM.from_pretrained(
        place, dtype=dtype, attn_implementation=attention, trust_remote_code=False, **where, **safe
    )
    if kept and not is_converted:
        keep_converted(network, tokenizer, kept)
    return network, tokenizer


def add_adapter(network: Any, folder: Path, is_trainable: bool = False) -> Any:
    """The network with a LoRA beside its weights. Raises ModelError where that is a pickle, which could run code."""
    from peft import PeftModel

    if not (folder / "adapter_model.safetensors").is_file():
        raise ModelError(f"there are no numbers in {folder}, or in a form that could run code: safetensors is wanted")
    return PeftModel.from_pretrained(network, str(folder), is_trainable=is_trainable)


def find_converted(source: TransformersSource, dtype: torch.dtype) -> Path:
    """Where a GGUF file lies as Transformers reads it in a second: to dequantise it takes a minute each time.

    The name says which file, as it is now, and who converted it.
    """
    file = Path(source.place) / source.gguf
    facts = file.stat()
    version = f"{facts.st_size} {facts.st_mtime_ns} {dtype} {transformers.__version__}"
    marks = [hashlib.sha256(text.encode()).hexdigest()[:8] for text in (str(file.resolve()), version)]
    return weights_folder() / "-".join((file.stem, *marks))


def keep_converted(network: Any, tokenizer: Any, folder: Path) -> None:
    """Keep weights and tokenizer for the next start, in place of those of an older file; it is there whole or not at
    all. Where there is no room for it, the next start is as slow as this one.
    """
    with (
        suppress(OSError, ValueError),
        tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}") as place,
    ):
        made = Path(place) / "made"
        # All weights are plain numbers by now; Transformers still holds the network to be quantised, and would refuse.
        network.hf_quantizer = None
        vars(network.config).pop("quantization_config", None)
        network.save_pretrained(made)
        tokenizer.save_pretrained(made)
        for one in folder.parent.iterdir():
            if one.name.startswith(f"{folder.name.rpartition('-')[0]}-"):
                shutil.rmtree(one, ignore_errors=True)
        made.rename(folder)


@dataclass(frozen=True)
class EngineSize:
    """How much an engine does at once."""

    slots: int
    context: int = 2048
    short_slots: int = 0
    """How many of the slots are short ones."""
    short_context: int = 0
    """Tokens of prompt and answer for which a short slot has room."""
    burst: int = 1
    """Steps between two looks at the tokens; an answer that ends early wastes the rest of its burst."""
    reading_tokens: int = 2048
    """Prompt tokens, padding included, in one pass."""

    @classmethod
    def for_this_machine(cls) -> "EngineSize":
        """What suits this machine."""
        if best_device().type != "cuda":
            return cls(slots=4)
        return cls(slots=256, context=4096, short_slots=192, short_context=1024, burst=8, reading_tokens=16384)

    @property
    def pools(self) -> tuple[tuple[int, int], ...]:
        """Slots and the room of each, the short ones first."""
        short = ((self.short_slots, self.short_context),) if self.short_slots else ()
        return (*short, (self.slots - self.short_slots, self.context))


class BatchEngine:
    """Weights, slots and the thread that runs them. Loads in the background; broken once, it stays so."""

    def __init__(self, source: TransformersSource, size: EngineSize) -> None:
        self.size = size
        self.ready = threading.Event()
        self.problem: BaseException | None = None
        self.loaded: LoadedModel
        self.pools: list[Slots] = []
        self._change = threading.Condition()
        self._waiting: list[EngineRow] = []
        threading.Thread(target=self._run, args=(source,), name="burnish-engine", daemon=True).start()

    @property
    def eager_because(self) -> str:
        """Why steps are not replayed on a device that could; empty when they are."""
        return next((pool.eager_because for pool in self.pools if pool.eager_because), "")

    @property
    def under_way(self) -> list[EngineRow]:
        """The rows that are being written."""
        return [row for pool in self.pools for row in pool.rows.values()]

    def submit(self, row: EngineRow) -> None:
        """Let an ask take its turn; its news come through its own queue. Raises ModelError on a broken engine."""
        with self._change:
            if self.problem:
                raise explain_broken_engine(self.problem)
            self._waiting.append(row)
            self._change.notify()

    def _run(self, source: TransformersSource) -> None:
        try:
            with torch.inference_mode():
                self.loaded = load_weights(source, self.size.context)
                for count, context in self.size.pools:
                    slots = Slots(self.loaded.network, count, context)
                    slots.check()
                    slots.record()
                    self.pools.append(slots)
                self.ready.set()
                while True:
                    self._drop_cancelled()
                    for pool, fresh in self._admit():
                        self._read(pool, fresh)
                    for pool in self.pools:
                        if pool.rows:
                            self._write(pool)
        except BaseException as error:
            with self._change:
                self.problem = error
                rows = [*self.under_way, *self._waiting]
                self.pools, self._waiting = [], []
            for row in rows:
                row.news.put(explain_broken_engine(error))
            self.ready.set()

    def _drop_cancelled(self) -> None:
        # Each row is asked once: whether it is unwanted may change at any moment.
        with self._change:
            gone = [row for row in self._waiting if row.unwanted]
            self._waiting = [row for row in self._waiting if row not in gone]
        for pool in self.pools:
            gone += [pool.rows.pop(slot) for slot, row in list(pool.rows.items()) if row.unwanted]
        for row in gone:
            row.news.put(None)

    def _admit(self) -> list[tuple[Slots, list[int]]]:
        """The slots that were filled, in the order the asks came; sleeps while there is nothing at all to do."""
        with self._change:
            busy = bool(self.under_way)
            while not self._waiting and not busy:
                self._change.wait()
            enough = len(self._waiting) >= max(self.size.slots // 8, 1)
            late = bool(self._waiting) and time.monotonic() - self._waiting[0].since > GATHER_SECONDS
            if busy and not enough and not late:
                return []
            free = [[slot for slot in range(pool.count) if slot not in pool.rows] for pool in self.pools]
            filled: list[list[int]] = [[] for _ in self.pools]
            left: list[EngineRow] = []
            for row in self._waiting:
                # The shortest slots with room for a good part of the answer come first; the longest take any row.
                fitting = (
                    number
                    for number, pool in enumerate(self.pools)
                    if free[number] and (pool is self.pools[-1] or len(row.tokens) <= (1 - ROOM) * pool.context)
                )
                if (number := next(fitting, None)) is None:
                    left.append(row)
                    continue
                filled[number].append(free[number].pop(0))
                self.pools[number].rows[filled[number][-1]] = row
            self._waiting = left
            return [(pool, slots) for pool, slots in zip(self.pools, filled, strict=True) if slots]

    def _read(self, pool: Slots, fresh: list[int]) -> None:
        entries = [(slot, pool.rows[slot]) for slot in fresh]
        for pack in pack_prompts(entries, self.size.reading_tokens):
            first = pool.read(pack, any(is_wide(row.ask) for _, row in pack))
            for (slot, row), token in zip(pack, first, strict=True):
                self._take(pool, slot, row, (token,))

    def _write(self, pool: Slots) -> None:
        if pool is not self.pools[-1]:
            # Rows that outgrow their slots wait for a longer one, before all others, and are then read again.
            room = pool.context - self.size.burst
            moved = [pool.rows.pop(slot) for slot, row in list(pool.rows.items()) if len(row.tokens) > room]
            with self._change:
                self._waiting = moved + self._waiting
        longest = max((len(row.tokens) for row in pool.rows.values()), default=0) + self.size.burst
        wide = any(is_wide(row.ask) for row in pool.rows.values())
        tokens = pool.write(self.size.burst, longest, wide) if pool.rows else []
        for slot, row in list(pool.rows.items()):
            self._take(pool, slot, row, tokens[slot])

    def _take(self, pool: Slots, slot: int, row: EngineRow, tokens: tuple[int, ...]) -> None:
        ended = row.take(tokens, self.loaded.ends, self.size.context)
        if ended or time.monotonic() - row.since > HAND_OVER_SECONDS:
            row.hand_over()
        if ended:
            tokens_out = len(row.written) + (ended == "stop")  # the token that ends it counts, as in llama.cpp
            row.news.put(Done(tokens_in=len(row.prompt), tokens_out=tokens_out, ended=ended))
            del pool.rows[slot]


def pack_prompts(entries: list[tuple[int, EngineRow]], most_tokens: int) -> list[list[tuple[int, EngineRow]]]:
    """Texts to be read together: of like length, and not too many tokens with the padding."""
    packs: list[list[tuple[int, EngineRow]]] = []
    for entry in sorted(entries, key=lambda entry: len(entry[1].tokens)):
        if packs and (len(packs[-1]) + 1) * len(entry[1].tokens) <= most_tokens:
            packs[-1].append(entry)
        else:
            packs.append([entry])
    return packs


def explain_broken_engine(error: BaseException) -> ModelError:
    """The failure of an engine as the failure of one ask."""
    problem = ModelError(f"the Transformers engine broke off: {type(error).__name__}: {error}")
    problem.__cause__ = error
    return problem
