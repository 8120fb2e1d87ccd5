"""The model that callers see: turns an ask into tokens, waits for the engine's news, and turns them into text."""

import queue
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
import transformers

from burnish.errors import ModelError, PromptTooLong, blame
from burnish.models.adapters import Adapter
from burnish.models.huggingface.engine import BatchEngine, EngineSize, best_device
from burnish.models.huggingface.slots import EngineRow
from burnish.models.model import Ask, Chunk, Done, Piece, Waiting
from burnish.models.stream_thread import end_at_stop, wait_for_weights
from burnish.models.weights import TransformersSource

POLL_SECONDS = 0.1
POLL_SECONDS_ON_A_GPU = 0.5
"""Hundreds of readers wait there; the engine looks at every cancel after each burst, and wakes its reader."""

_engines: dict[tuple[TransformersSource, EngineSize], BatchEngine] = {}
_engines_lock = threading.Lock()
_tokenizer_lock = threading.Lock()


def engine_for(source: TransformersSource, size: EngineSize) -> BatchEngine:
    """The process's one engine for these weights, started if need be; one that broke is replaced."""
    with _engines_lock:
        engine = _engines.get((source, size))
        if engine is None or engine.problem:
            engine = _engines[source, size] = BatchEngine(source, size)
        return engine


class HuggingFaceModel:
    """A Transformers model that answers all waiting asks together. Loads at the first ask, or with `warm_up`."""

    def __init__(
        self, name: str, source: TransformersSource, size: EngineSize | None = None, adapter: Adapter | None = None
    ) -> None:
        self.name = name
        self.source = source
        self.adapter = adapter
        self.size = size or EngineSize.for_this_machine()
        self.slots = self.size.slots
        self.context = self.size.context
        self._poll_seconds = POLL_SECONDS_ON_A_GPU if best_device().type == "cuda" else POLL_SECONDS

    @property
    def engine(self) -> str:
        """What does the arithmetic, for tables that name it."""
        where = f"{torch.cuda.get_device_name()}, bfloat16" if best_device().type == "cuda" else "CPU, float32"
        running = _engines.get((self.source, self.size))
        eager = f"step by step ({running.eager_because})" if running and running.eager_because else ""
        parts = (f"transformers {transformers.__version__} on {where}", f"{self.slots} slots")
        trained = self.adapter.label if self.adapter else ""
        return ", ".join(filter(None, (*parts, self.source.quantisation, trained, eager)))

    def warm_up(self) -> None:
        """Begin to read the weights while the caller does something else."""
        for purpose in ("fix", "write"):
            self._engine_for(purpose)

    def close(self) -> None:
        """The engine stays for the process's next caller."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The answer, as it is written."""
        engine = self._engine_for(ask.purpose)
        yield from wait_for_weights(engine.ready, cancel)
        if cancel.is_set():
            return
        if engine.problem:
            raise ModelError(f"Transformers could not load {self.name}: {engine.problem}") from engine.problem
        row = EngineRow(ask, encode_prompt(ask, engine), cancel, grammar=_make_grammar(ask, engine))
        engine.submit(row)
        try:
            yield from end_at_stop(self._read(row, TokenDecoder(engine.loaded.tokenizer)), ask, self.counted)
        finally:
            row.abandoned = True

    def counted(self, ask: Ask, text: str) -> Done:
        """What an answer cost of which this much was read, by the model's own tokenizer."""
        engine = self._engine_for(ask.purpose)
        with _tokenizer_lock:
            written = engine.loaded.tokenizer(text, add_special_tokens=False)["input_ids"]
        return Done(tokens_in=len(encode_prompt(ask, engine)), tokens_out=len(written), ended="enough")

    def _engine_for(self, purpose: str) -> BatchEngine:
        """The engine of the base, or the one whose weights the adapter has changed."""
        changed = self.adapter is not None and self.adapter.answers(purpose)
        source = replace(self.source, adapter=str(self.adapter.peft)) if self.adapter and changed else self.source
        return engine_for(source, self.size)

    def _read(self, row: EngineRow, decoder: "TokenDecoder") -> Iterator[Chunk | Waiting | Done]:
        while not row.cancel.is_set():
            try:
                news = row.news.get(timeout=self._poll_seconds)
            except queue.Empty:
                yield Waiting()
                continue
            if news is None:
                return
            if isinstance(news, ModelError):
                raise news
            tokens = news if isinstance(news, list) else []
            if text := decoder.add(tokens, last=isinstance(news, Done)):
                yield Chunk(text=text)
            if isinstance(news, Done):
                yield news
                return


class TokenDecoder:
    """Tokens as text. A character that is not complete yet is held back."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._tokens: list[int] = []
        self._given = 0

    def add(self, tokens: list[int], last: bool = False) -> str:
        """The text that these tokens add; with the last of them, what was held back too."""
        self._tokens += tokens
        with _tokenizer_lock:
            text = str(self._tokenizer.decode(self._tokens, skip_special_tokens=True))
        text = text if last else text.rstrip("\ufffd")
        new, self._given = text[self._given :], max(len(text), self._given)
        return new


def _make_grammar(ask: Ask, engine: BatchEngine) -> Any:
    """What says which tokens may come next in an answer by a schema; None where there is none."""
    if not ask.json_schema:
        return None
    from llguidance import LLMatcher

    with blame(ModelError, "binding the answer to its schema"), _tokenizer_lock:
        matcher = LLMatcher(engine.loaded.grammar_tokens, LLMatcher.grammar_from_json_schema(ask.json_schema))
    if matcher.is_error():
        raise ModelError(f"the answer cannot be bound to its schema: {matcher.get_error()}")
    return matcher


def encode_prompt(ask: Ask, engine: BatchEngine) -> list[int]:
    """The ask in the model's own chat format. Raises PromptTooLong when it leaves no room for an answer."""
    tokenizer = engine.loaded.tokenizer
    begun = ask.messages[-1].content if ask.messages[-1].role == "assistant" else ""
    messages = [message.model_dump() for message in ask.messages[: -1 if begun else None]]
    with blame(ModelError, "putting the ask into the model's chat format"), _tokenizer_lock:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        tokens: list[int] = tokenizer(text + begun, add_special_tokens=False)["input_ids"]
    if len(tokens) >= engine.size.context:
        raise PromptTooLong(
            f"the prompt has {len(tokens)} tokens; the engine has room for {engine.size.context} in all"
        )
    return tokens
