"""The model that callers see: turns an ask into tokens, waits for the engine's news, and turns them into text."""

import queue
import threading
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import torch
import transformers

from burnish.errors import ModelError, PromptTooLong, blame
from burnish.models.huggingface.engine import Engine, Row, Size
from burnish.models.huggingface.loading import device
from burnish.models.huggingface.source import Source
from burnish.models.model import Ask, Chunk, Done, Waiting

POLL_SECONDS = 0.1
POLL_SECONDS_ON_A_GPU = 0.5
"""Hundreds of readers wait there; the engine looks at every cancel after each burst, and wakes its reader."""

_engines: dict[tuple[Source, Size], Engine] = {}
_engines_lock = threading.Lock()
_tokenizer_lock = threading.Lock()


def engine_for(source: Source, size: Size) -> Engine:
    """The process's one engine for these weights, started if need be; one that broke is replaced."""
    with _engines_lock:
        engine = _engines.get((source, size))
        if engine is None or engine.problem:
            engine = _engines[source, size] = Engine(source, size)
        return engine


class HuggingFaceModel:
    """A Transformers model that answers all waiting asks together. Loads at the first ask, or with `warm_up`."""

    def __init__(self, name: str, source: Source, size: Size | None = None) -> None:
        self.name = name
        self.source = source
        self.size = size or Size.usual()
        self.slots = self.size.slots
        self.context = self.size.context
        self._poll_seconds = POLL_SECONDS_ON_A_GPU if device().type == "cuda" else POLL_SECONDS

    @property
    def engine(self) -> str:
        """What does the arithmetic, for tables that name it."""
        return ", ".join(part for part in (self._machine, f"{self.slots} slots", self.source.said, self._eager) if part)

    @cached_property
    def _machine(self) -> str:
        cuda = device().type == "cuda"
        where = f"{torch.cuda.get_device_name()}, bfloat16" if cuda else "CPU, float32"
        return f"transformers {transformers.__version__} on {where}"

    @property
    def _eager(self) -> str:
        engine = _engines.get((self.source, self.size))
        return f"step by step ({engine.eager_because})" if engine and engine.eager_because else ""

    def warm_up(self) -> None:
        """Begin to read the weights while the caller does something else."""
        engine_for(self.source, self.size)

    def close(self) -> None:
        """The engine stays for the process's next caller."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Waiting | Done]:
        """The answer, as it is written."""
        engine = engine_for(self.source, self.size)
        if not engine.ready.is_set():
            yield Waiting(why="reading the weights")
        while not engine.ready.wait(POLL_SECONDS):
            if cancel.is_set():
                return
            yield Waiting()
        if engine.problem:
            raise ModelError(f"Transformers could not load {self.name}: {engine.problem}") from engine.problem
        row = Row(ask, prompt_of(ask, engine), cancel)
        engine.submit(row)
        try:
            yield from self._read(row, Words(engine.loaded.tokenizer))
        finally:
            row.abandoned = True

    def counted(self, ask: Ask, text: str) -> Done:
        """What an answer cost of which this much was read, by the model's own tokenizer."""
        engine = engine_for(self.source, self.size)
        with _tokenizer_lock:
            written = engine.loaded.tokenizer(text, add_special_tokens=False)["input_ids"]
        return Done(tokens_in=len(prompt_of(ask, engine)), tokens_out=len(written), ended="enough")

    def _read(self, row: Row, words: "Words") -> Iterator[Chunk | Waiting | Done]:
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
            if text := words.more(news) if isinstance(news, list) else words.rest():
                yield Chunk(text=text)
            if isinstance(news, Done):
                yield news
                return


class Words:
    """Tokens as text. A character that is not complete yet is held back."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._tokens: list[int] = []
        self._said = 0

    def more(self, tokens: list[int]) -> str:
        """The text that these tokens add."""
        self._tokens += tokens
        return self._new(self._text().rstrip("\ufffd"))

    def rest(self) -> str:
        """What was held back."""
        return self._new(self._text())

    def _text(self) -> str:
        with _tokenizer_lock:
            return str(self._tokenizer.decode(self._tokens, skip_special_tokens=True))

    def _new(self, text: str) -> str:
        new, self._said = text[self._said :], max(len(text), self._said)
        return new


def prompt_of(ask: Ask, engine: Engine) -> list[int]:
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
