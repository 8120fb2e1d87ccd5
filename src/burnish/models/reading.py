"""From the chunks of LangChain's chat models to the pieces of an answer, whoever wrote it."""

import re
from collections.abc import Iterator
from typing import Any

from burnish.models.faults import Fault
from burnish.models.model import Ask, Chunk, Done, Thought
from burnish.models.thinking import Apart

WHY_ENDED = ("finish_reason", "stop_reason", "done_reason")
"""Where the OpenAI, Anthropic and Ollama protocols say why an answer ended."""
LENGTH = {"length", "max_tokens", "model_context_window_exceeded"}
DECLINED = {"content_filter", "refusal"}
MOST_CHARACTERS_PER_TOKEN = 6
"""An answer with more pieces than it may have tokens, and so many characters, is longer than was asked for."""
MOST_WRAPPING = 4096
"""Tokens that a server may add to a question: marks of who speaks, a system message of its own."""

_TOKENS = re.compile(r"[A-Za-z]{1,4}|\n\s*|\S")


class Reading:
    """One answer, as it is read. `take` each chunk, then `end`."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._apart = Apart()
        self._usage: dict[str, Any] = {}
        self._read_at_start = 0
        self._ended = ""
        self._pieces = 0
        self._characters = 0
        self._bytes = 0
        self._words = 0
        self._in_word = False

    @property
    def too_long(self) -> bool:
        """Whether the server goes on past the length it was asked for."""
        most = self._ask.most_tokens
        return self._pieces > most and self._characters > most * MOST_CHARACTERS_PER_TOKEN

    def take(self, chunk: Any) -> Iterator[Chunk | Thought]:
        """What one chunk adds."""
        self._usage = chunk.usage_metadata or self._usage
        about = chunk.response_metadata
        self._read_at_start = about.get("tokens_read") or self._read_at_start
        self._ended = next((str(about[key]) for key in WHY_ENDED if about.get(key)), self._ended)
        if thought := chunk.additional_kwargs.get("reasoning_content"):
            yield self._counted(Thought(text=str(thought)))
        for block in [chunk.content] if isinstance(chunk.content, str) else chunk.content:
            yield from self._block(block)

    def end(self) -> Iterator[Chunk | Thought | Done]:
        """The end, or a Fault where the server hung up before it."""
        yield from self._apart.rest()
        if self.too_long:
            self._ended = "length"
        if not self._ended:
            raise Fault("the server hung up before the end of the answer", passing=True)
        if self._ended in DECLINED:
            raise Fault(f"the model declined to answer ({self._ended})")
        yield self._done()

    def _block(self, block: Any) -> Iterator[Chunk | Thought]:
        if isinstance(block, dict) and block.get("type") in ("thinking", "reasoning"):
            if said := block.get("thinking") or block.get("reasoning"):
                yield self._counted(Thought(text=str(said)))
            return
        text = str(block.get("text") or "") if isinstance(block, dict) else block
        if text:
            self._count(text)
            yield from self._apart.sort(text)

    def _counted(self, thought: Thought) -> Thought:
        self._count(thought.text)
        return thought

    def _count(self, text: str) -> None:
        self._pieces += 1
        self._characters += len(text)
        self._bytes += len(text.encode("utf-8", "replace"))
        goes_on = self._in_word and not text[:1].isspace()
        self._words += len(text.split()) - goes_on
        self._in_word = not text[-1:].isspace()

    def _done(self) -> Done:
        """What it cost. No count is believed that cannot be right: caps and the record must not hang on it."""
        said, ask = self._usage, self._ask
        read = _said(said.get("input_tokens")) or self._read_at_start or roughly(ask)
        read = _between(_words(ask), read, _most_read(ask))
        written = _said(said.get("output_tokens")) or self._pieces
        written = _between(self._words, written, max(ask.most_tokens, self._bytes))
        return Done(
            tokens_in=read,
            tokens_out=written,
            ended="length" if self._ended in LENGTH else "stop",
            tokens_cached=min(read, _part(said.get("input_token_details"), "cache_read")),
            tokens_thought=min(written, _part(said.get("output_token_details"), "reasoning")),
        )


def roughly(ask: Ask) -> int:
    """About how many tokens a prompt has, where nobody has counted them: a token is some four bytes."""
    return sum(len(message.content.encode("utf-8", "replace")) // 4 + 8 for message in ask.messages)


def carefully(ask: Ask) -> int:
    """How many tokens a prompt may well have: each digit and each sign is one, and long words come in parts."""
    return sum(len(_TOKENS.findall(message.content)) + 8 for message in ask.messages)


def _words(ask: Ask) -> int:
    """Fewer tokens than words cannot have been read: none reaches from one into the next."""
    return sum(len(message.content.split()) for message in ask.messages)


def _most_read(ask: Ask) -> int:
    """More tokens than bytes cannot have been read, with what a server wraps around them."""
    return sum(len(message.content.encode("utf-8", "replace")) for message in ask.messages) + MOST_WRAPPING


def _between(least: int, count: int, most: int) -> int:
    return max(least, min(count, most))


def _said(count: object) -> int:
    """A count as the server says it; 0 where it is none."""
    return count if isinstance(count, int) and count > 0 else 0


def _part(details: Any, name: str) -> int:
    """One detail of a count; those of OpenAI's service tiers have the tier before the name."""
    numbers = [count for key, count in (details or {}).items() if str(key).endswith(name)]
    return sum(count for count in numbers if isinstance(count, int) and count > 0)
