"""From the chunks of LangChain's chat models to the pieces of an answer, whoever wrote it."""

from collections.abc import Iterator
from typing import Any

from burnish.discreet import SecretFilter
from burnish.models.counting import careful, carefully, fewest, fewest_read, most_read
from burnish.models.faults import Fault
from burnish.models.model import Ask, Chunk, Done, Thought
from burnish.models.thinking import Apart

WHY_ENDED = ("finish_reason", "stop_reason", "done_reason")
"""Where the OpenAI, Anthropic and Ollama protocols say why an answer ended."""
LENGTH = {"length", "max_tokens", "model_context_window_exceeded"}
DECLINED = {"content_filter", "refusal"}
CHARACTERS_PER_PIECE, CHARACTERS_PER_TOKEN = 6, 16
"""An answer with more pieces than it may have tokens, and so many characters for each, is longer than was asked for; so
is one, however few its pieces, with as many characters as no text has for each of its tokens."""


class Reading:
    """One answer, as it is read. `take` each chunk, then `end`. Where a server sends our key back, it is left out."""

    def __init__(self, ask: Ask, opened: bool = False, secret: str = "") -> None:
        self._ask = ask
        self._text_filter, self._thought_filter = SecretFilter(secret), SecretFilter(secret)
        self._apart = Apart(opened)
        self._usage: dict[str, Any] = {}
        self._read_at_start = 0
        self._ended = ""
        self._came: list[str] = []
        self._characters = 0
        self._clipped = False

    @property
    def opened(self) -> bool:
        """Whether the model thinks in its text without an opening mark."""
        return self._apart.opened

    @property
    def too_long(self) -> bool:
        """Whether the server goes on past the length it was asked for."""
        most = self._ask.most_tokens
        return self._clipped or (len(self._came) > most and self._characters > most * CHARACTERS_PER_PIECE)

    def take(self, chunk: Any) -> Iterator[Chunk | Thought]:
        """What one chunk adds."""
        self._usage = chunk.usage_metadata or self._usage
        about = chunk.response_metadata
        self._read_at_start = about.get("tokens_read") or self._read_at_start
        self._ended = next((str(about[key]) for key in WHY_ENDED if about.get(key)), self._ended)
        if thought := chunk.additional_kwargs.get("reasoning_content"):
            yield from self._thought(self._thought_filter.take(str(thought)))
        for block in [chunk.content] if isinstance(chunk.content, str) else chunk.content:
            yield from self._block(block)

    def end(self) -> Iterator[Chunk | Thought | Done]:
        """The end, or a Fault where the server hung up before it."""
        yield from self._thought(self._thought_filter.rest())
        yield from self._text(self._text_filter.rest())
        if self.too_long:
            self._ended = "length"
        yield from self._apart.rest(cut=self._ended in LENGTH)
        if not self._ended:
            raise Fault("the server hung up before the end of the answer", passing=True)
        if self._ended in DECLINED:
            raise Fault(f"the model declined to answer ({self._ended})")
        yield self._done()

    def doubts(self, done: Done) -> dict[str, str]:
        """What is strange about it, kind by kind: a server that is not believed may charge for more all the same."""
        told = {}
        if self.too_long:
            told["length"] = f"goes on past the {self._ask.most_tokens:,} tokens it was asked for, and is cut there"
        counts = {"read": (self._said_read, done.tokens_in), "written": (self._said_written, done.tokens_out)}
        for what, (said, counted) in counts.items():
            if said > counted:
                told[what] = f"says {said:,} tokens {what}, more than there can be; {counted:,} are counted"
        return told

    def _block(self, block: Any) -> Iterator[Chunk | Thought]:
        if isinstance(block, dict) and block.get("type") in ("thinking", "reasoning"):
            if said := block.get("thinking") or block.get("reasoning"):
                yield from self._thought(self._thought_filter.take(str(said)))
            return
        said = str(block.get("text") or "") if isinstance(block, dict) else block
        yield from self._text(self._text_filter.take(said))

    def _text(self, text: str) -> Iterator[Chunk | Thought]:
        if text := self._kept(text):
            yield from self._apart.sort(text)

    def _thought(self, text: str) -> Iterator[Thought]:
        if text := self._kept(text):
            self._apart.know()
            yield Thought(text=text)

    def _kept(self, text: str) -> str:
        """The text, or what of it is within the length that was asked for."""
        room = self._ask.most_tokens * CHARACTERS_PER_TOKEN - self._characters
        self._clipped = self._clipped or len(text) > room
        text = text[:room]
        if text:
            self._came.append(text)
            self._characters += len(text)
        return text

    def _done(self) -> Done:
        """What it cost. No count is believed that cannot be right: caps and the record must not hang on it."""
        ask, said, text = self._ask, self._usage, "".join(self._came)
        read = min(self._said_read or carefully(ask), most_read(ask.messages))
        read = max(read, fewest_read(ask))
        written = self._said_written or max(careful(text), len(self._came))
        written = min(max(written, fewest(text)), ask.most_tokens)
        return Done(
            tokens_in=read,
            tokens_out=written,
            ended="length" if self._ended in LENGTH else "stop",
            tokens_cached=min(read, _part(said.get("input_token_details"), "cache_read")),
            tokens_thought=min(written, _part(said.get("output_token_details"), "reasoning")),
        )

    @property
    def _said_read(self) -> int:
        return _said(self._usage.get("input_tokens")) or self._read_at_start

    @property
    def _said_written(self) -> int:
        return _said(self._usage.get("output_tokens"))


def _said(count: object) -> int:
    """A count as the server says it; 0 where it is none."""
    return count if isinstance(count, int) and count > 0 else 0


def _part(details: Any, name: str) -> int:
    """One detail of a count; those of OpenAI's service tiers have the tier before the name."""
    numbers = [count for key, count in (details or {}).items() if str(key).endswith(name)]
    return sum(count for count in numbers if isinstance(count, int) and count > 0)
