"""From the chunks of LangChain's chat models to the pieces of an answer, whoever wrote it.

Thoughts that a server leaves in the text, `<think>…</think>` at its very beginning, are taken apart as they come.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal

from burnish.models.http import RequestFailed
from burnish.models.model import THOUGHTS_CLOSE, THOUGHTS_OPEN, Ask, Chunk, Done, Thought
from burnish.models.tokens import (
    estimate_prompt_tokens,
    estimate_tokens,
    fewest_prompt_tokens,
    fewest_tokens,
    most_prompt_tokens,
    read_count,
)
from burnish.redact import SecretFilter

END_KEYS = ("finish_reason", "stop_reason", "done_reason")
"""Where the OpenAI, Anthropic and Ollama protocols say why an answer ended."""
LENGTH = {"length", "max_tokens", "model_context_window_exceeded"}
ENDS: dict[str, Literal["stop_string"]] = {"stop_sequence": "stop_string"}
"""How the Anthropic protocol says that a stop string came; the others do not tell it from the end of an answer."""
DECLINED = {"content_filter", "refusal"}
CHARACTERS_PER_PIECE, MOST_CHARACTERS_PER_TOKEN = 6, 16
"""An answer with more pieces than it may have tokens, and so many characters for each, is longer than was asked for; so
is one, however few its pieces, with as many characters as no text has for each of its tokens."""
_BEGUN = "|".join(THOUGHTS_CLOSE[:size] for size in range(1, len(THOUGHTS_CLOSE)))
_MAY_CLOSE = re.compile(rf"(?:{_BEGUN})\Z")
_MAY_CLOSE_UNOPENED = re.compile(rf"(?:{_BEGUN}|{THOUGHTS_CLOSE}[ \t]*)\Z")
_CLOSES_UNOPENED = re.compile(rf"^{THOUGHTS_CLOSE}|{THOUGHTS_CLOSE}[ \t]*\n", re.MULTILINE)
"""At the beginning of a line or at the end of one: code that only speaks of the mark has quotes around it."""


class AnswerReader:
    """One answer, as it is read. `take` each chunk, then `end`. Where a server sends our key back, it is left out."""

    def __init__(self, ask: Ask, opened: bool = False, secret: str = "") -> None:
        self._ask = ask
        self._text_filter, self._thought_filter = SecretFilter(secret), SecretFilter(secret)
        self._splitter = ThoughtSplitter(opened)
        self._usage: dict[str, Any] = {}
        self._read_at_start = 0
        self._end_reason = ""
        self._pieces: list[str] = []
        self._characters = 0
        self._clipped = False

    @property
    def opened(self) -> bool:
        """Whether the model thinks in its text without an opening mark."""
        return self._splitter.opened

    @property
    def too_long(self) -> bool:
        """Whether the server goes on past the length it was asked for."""
        most = self._ask.most_tokens
        return self._clipped or (len(self._pieces) > most and self._characters > most * CHARACTERS_PER_PIECE)

    def take(self, chunk: Any) -> Iterator[Chunk | Thought]:
        """What one chunk adds."""
        self._usage = chunk.usage_metadata or self._usage
        metadata = chunk.response_metadata
        self._read_at_start = metadata.get("tokens_read") or self._read_at_start
        self._end_reason = next((str(metadata[key]) for key in END_KEYS if metadata.get(key)), self._end_reason)
        if thought := chunk.additional_kwargs.get("reasoning_content"):
            yield from self._add_thought(self._thought_filter.take(str(thought)))
        for block in [chunk.content] if isinstance(chunk.content, str) else chunk.content:
            if not isinstance(block, dict):
                yield from self._add_text(self._text_filter.take(block))
            elif block.get("type") not in ("thinking", "reasoning"):
                yield from self._add_text(self._text_filter.take(str(block.get("text") or "")))
            elif thought := block.get("thinking") or block.get("reasoning"):
                yield from self._add_thought(self._thought_filter.take(str(thought)))

    def end(self) -> Iterator[Chunk | Thought | Done]:
        """The end. Raises RequestFailed where the server hung up before it, or the model declined."""
        yield from self._add_thought(self._thought_filter.rest())
        yield from self._add_text(self._text_filter.rest())
        if self.too_long:  # we stopped reading, so the server's own reason never came
            self._end_reason = "length"
        yield from self._splitter.rest(cut=self._end_reason in LENGTH)
        if not self._end_reason:
            raise RequestFailed("the server hung up before the end of the answer", passing=True)
        if self._end_reason in DECLINED:
            raise RequestFailed(f"the model declined to answer ({self._end_reason})")
        yield self._count()

    def list_doubts(self, done: Done) -> dict[str, str]:
        """What is strange about it, kind by kind: a server that is not believed may charge for more all the same."""
        doubts = {}
        if self.too_long:
            doubts["length"] = f"goes on past the {self._ask.most_tokens:,} tokens it was asked for, and is cut there"
        claims = {"read": (self._claimed_read, done.tokens_in), "written": (self._claimed_written, done.tokens_out)}
        for what, (claimed, counted) in claims.items():
            if claimed > counted:
                doubts[what] = f"says {claimed:,} tokens {what}, more than there can be; {counted:,} are counted"
        return doubts

    def _add_text(self, text: str) -> Iterator[Chunk | Thought]:
        if text := self._clip(text):
            yield from self._splitter.split(text)

    def _add_thought(self, text: str) -> Iterator[Thought]:
        if text := self._clip(text):
            self._splitter.expect_no_thoughts()
            yield Thought(text=text)

    def _clip(self, text: str) -> str:
        """The text, or what of it is within the length that was asked for."""
        room = self._ask.most_tokens * MOST_CHARACTERS_PER_TOKEN - self._characters
        self._clipped = self._clipped or len(text) > room
        text = text[:room]
        if text:
            self._pieces.append(text)
            self._characters += len(text)
        return text

    def _count(self) -> Done:
        """What it cost. No count is believed that cannot be right: caps and the record must not hang on it."""
        ask, text = self._ask, "".join(self._pieces)
        read = min(self._claimed_read or estimate_prompt_tokens(ask), most_prompt_tokens(ask.messages))
        read = max(read, fewest_prompt_tokens(ask))  # a server that cut the prompt counts too few
        written = self._claimed_written or max(estimate_tokens(text), len(self._pieces))
        written = min(max(written, fewest_tokens(text)), ask.most_tokens)
        return Done(
            tokens_in=read,
            tokens_out=written,
            ended="length" if self._end_reason in LENGTH else ENDS.get(self._end_reason, "stop"),
            tokens_cached=min(read, _sum_details(self._usage.get("input_token_details"), "cache_read")),
            tokens_thought=min(written, _sum_details(self._usage.get("output_token_details"), "reasoning")),
        )

    @property
    def _claimed_read(self) -> int:
        return read_count(self._usage.get("input_tokens")) or self._read_at_start

    @property
    def _claimed_written(self) -> int:
        return read_count(self._usage.get("output_tokens"))


def _sum_details(details: Any, name: str) -> int:
    """One detail of a count; those of OpenAI's service tiers have the tier before the name."""
    return sum(read_count(count) for key, count in (details or {}).items() if str(key).endswith(name))


class ThoughtSplitter:
    """Splits an answer's text into thoughts and answer. Only what the answer begins with can be a thought.

    Where a model's chat template opens the thoughts in the prompt, only their end is in the text: once that comes, all
    before it was thought. A model that did so before is taken to do so again (`opened`), unless no end comes.
    """

    def __init__(self, opened: bool = False) -> None:
        self.opened = opened
        self._text = ""
        self._closed: tuple[str, int] | None = None
        """The thoughts, once their end has come, and where the text goes on after it."""
        self._beside = False
        self._given = ("", "")
        """The thoughts and the answer that were handed out."""

    def split(self, text: str) -> Iterator[Chunk | Thought]:
        """The pieces that are decided by now; the rest is held back until more text has come."""
        self._text += text
        return self._hand_out(*self._separate())

    def expect_no_thoughts(self) -> None:
        """Thoughts come beside the text: none is in it that was not opened there."""
        self._beside, self.opened = True, False

    def rest(self, cut: bool = False) -> Iterator[Chunk | Thought]:
        """What was held back when the answer came to its end, or was cut."""
        return self._hand_out(*self._separate(ended=True, cut=cut))

    def _separate(self, ended: bool = False, cut: bool = False) -> tuple[str, str]:
        """The thoughts and the answer in the text so far, without an end that may become a mark."""
        # The whole text is looked at each time, so that it makes no difference where a server cuts it into pieces.
        text, start = self._text, self._text.lstrip()
        if self._closed:
            thought, place = self._closed
            return thought, text[place:].lstrip("\n")
        if not ended and THOUGHTS_OPEN.startswith(start):
            return "", ""
        marked = start.startswith(THOUGHTS_OPEN)
        if marked or (self.opened and start):
            begin = len(text) - len(start) + len(THOUGHTS_OPEN) if marked else 0
            thought, closes, _ = text[begin:].partition(THOUGHTS_CLOSE)
            if closes:
                self._closed = thought, begin + len(thought) + len(closes)
                return self._separate()
            if marked or cut or not ended:
                return thought if ended else _MAY_CLOSE.sub("", thought), ""
            self.opened = False  # it did not think this time
            return "", text
        found = None if self._beside else _CLOSES_UNOPENED.search(text, len(self._given[1]))
        if found and THOUGHTS_OPEN not in text[: found.start()]:
            self._closed, self.opened = (text[: found.start()], found.end()), True
            return self._separate()
        sure = ended or self._beside or THOUGHTS_OPEN in text
        return "", text if sure else _MAY_CLOSE_UNOPENED.sub("", text)

    def _hand_out(self, thought: str, answer: str) -> Iterator[Chunk | Thought]:
        """What is new; in place of all that was handed out, where that was taken for the other kind."""
        instead = not (thought.startswith(self._given[0]) and answer.startswith(self._given[1]))
        old_thought, old_answer = ("", "") if instead else self._given
        self._given = thought, answer
        if new := thought[len(old_thought) :]:
            yield Thought(text=new, instead=instead)
            instead = False
        if new := answer[len(old_answer) :]:
            yield Chunk(text=new, instead=instead)
