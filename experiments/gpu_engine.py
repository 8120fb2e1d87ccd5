"""A model for big tables on a GPU: Transformers in this process, with one queue that batches all waiting asks.

Takes our GGUF files (dequantised to bfloat16), so the weights are those of `local:`; the arithmetic is not, and tables
name the engine. Sampling is seeded per batch, not per ask.
"""

import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LogitsProcessor, LogitsProcessorList

from burnish.models.model import Ask, Chunk, Done, Waiting

MOST_AT_ONCE = 96
MOST_TOKENS = 512
"""A whole batch waits for its longest answer; MBPP needs no longer one."""


class PerRow(LogitsProcessor):
    """Each row of a batch has its own temperature and top_p."""

    def __init__(self, asks: list[Ask], device: torch.device) -> None:
        self.temperature = torch.tensor([max(ask.temperature, 1e-4) for ask in asks], device=device)[:, None]
        self.top_p = torch.tensor([ask.top_p for ask in asks], device=device)[:, None]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """The scores with each row's settings applied."""
        scores = scores.float() / self.temperature
        ranked, order = scores.sort(descending=True)
        share = ranked.softmax(-1)
        beyond = share.cumsum(-1) - share > self.top_p
        return scores.masked_fill(beyond.scatter(-1, order, beyond), float("-inf"))


class GpuModel:
    """Answers asks from many threads, as many at once as are waiting."""

    slots = MOST_AT_ONCE

    def __init__(self, weights: Path) -> None:
        self.name = f"huggingface:{weights.name}"
        where = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        dtype = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        self.tokens = AutoTokenizer.from_pretrained(**where, padding_side="left")
        self.model = AutoModelForCausalLM.from_pretrained(**where, dtype=dtype).to(self.device).eval()
        ends = {self.tokens.eos_token_id, self.tokens.pad_token_id, *_listed(self.model.generation_config.eos_token_id)}
        self.ends = torch.tensor(sorted(end for end in ends if end is not None), device=self.device)
        self.waiting: queue.Queue[tuple[Ask, queue.SimpleQueue[Any]]] = queue.Queue()
        threading.Thread(target=self._serve, daemon=True).start()

    def warm_up(self) -> None:
        """Loaded when it was made."""

    def close(self) -> None:
        """Stays for the process's next caller."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Waiting | Done]:
        """The whole answer in one piece."""
        reply: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.waiting.put((ask, reply))
        while True:
            try:
                answer = reply.get(timeout=0.5)
            except queue.Empty:
                yield Waiting()
                continue
            if isinstance(answer, Exception):
                raise answer
            text, done = answer
            yield Chunk(text=text)
            yield done
            return

    def _serve(self) -> None:
        while True:
            batch = [self.waiting.get()]
            while len(batch) < MOST_AT_ONCE:
                try:
                    batch.append(self.waiting.get(timeout=0.05))
                except queue.Empty:
                    break
            try:
                answers: list[Any] = self._answer([ask for ask, _ in batch])
            except Exception as error:
                answers = [error] * len(batch)
            for (_, reply), answer in zip(batch, answers, strict=True):
                reply.put(answer)

    @torch.inference_mode()
    def _answer(self, asks: list[Ask]) -> list[tuple[str, Done]]:
        prompts = [
            self.tokens.apply_chat_template(
                [message.model_dump() for message in ask.messages], tokenize=False, add_generation_prompt=True
            )
            for ask in asks
        ]
        rows = self.tokens(prompts, return_tensors="pt", padding=True, add_special_tokens=False).to(self.device)
        torch.manual_seed(asks[0].seed)
        out = self.model.generate(
            **rows,
            max_new_tokens=min(MOST_TOKENS, max(ask.max_tokens for ask in asks)),
            do_sample=True,
            temperature=1.0,
            top_p=1.0,
            top_k=0,
            repetition_penalty=1.0,
            logits_processor=LogitsProcessorList([PerRow(asks, self.device)]),
            pad_token_id=self.tokens.pad_token_id,
        )
        read = rows["attention_mask"].sum(1).tolist()
        written = out[:, rows["input_ids"].shape[1] :]
        return [self._done(ask, count, row) for ask, count, row in zip(asks, read, written, strict=True)]

    def _done(self, ask: Ask, tokens_in: int, row: torch.Tensor) -> tuple[str, Done]:
        kept = row[: ask.max_tokens]
        ends = torch.isin(kept, self.ends).nonzero()
        kept = kept[: ends[0, 0]] if len(ends) else kept
        text = self.tokens.decode(kept, skip_special_tokens=True)
        return text, Done(tokens_in=tokens_in, tokens_out=len(kept), ended="stop" if len(ends) else "length")


def _listed(value: int | list[int] | None) -> list[int]:
    return value if isinstance(value, list) else [] if value is None else [value]
