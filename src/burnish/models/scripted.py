"""`scripted:…`: a model that answers from a script. Ships with the package, for tests and demos."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from pydantic import TypeAdapter

from burnish.errors import ModelError, SetupProblem
from burnish.models.model import THOUGHTS_CLOSE, THOUGHTS_OPEN, Ask, Chunk, Done, Piece, Thought
from burnish.models.stream_thread import end_at_stop

Script = Sequence[str] | Mapping[str, Sequence[str]]
_SCRIPT = TypeAdapter(list[str] | dict[str, list[str]])
KNOWS_TASKS = ("gold", "buggy")
"""Names that only an evaluation can open: it knows the tasks, and what their answers are."""
FILE = "file:"


class ScriptedModel:
    """Answers from a script: a list of replies in order, or a list for each purpose ("tests", "draft", "repair"…).

    A purpose may be narrowed to asks that say something: `"page: glider gun"`. The longest that fits is taken.
    The last reply of a list is given again when the list has run out; an empty list is a model that has no answer.
    A reply comes a word at a time, as a model would write it, or in one piece (`whole`). One that begins with
    `<think>…</think>` is a thinker's: where an ask has tokens for thoughts, so many words of them come before the rest.
    """

    slots = 4
    engine = "script"

    def __init__(self, script: Script, name: str = "scripted:inline", whole: bool = False) -> None:
        self.name = name
        self.whole = whole
        self._lock = threading.Lock()
        self._script = script if isinstance(script, Mapping) else {"": script}
        self._given: dict[str, int] = {}
        self.asked: list[Ask] = []

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The next reply of the script."""
        return end_at_stop(self._write(ask, cancel), ask, count_words)

    def _write(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        reply, thoughts = self._next_reply(ask), []
        if reply.startswith(THOUGHTS_OPEN) and THOUGHTS_CLOSE in reply:
            thought, _, reply = reply.removeprefix(THOUGHTS_OPEN).partition(THOUGHTS_CLOSE)
            thoughts, reply = thought.split()[: ask.thinking], reply.lstrip("\n")
        words = reply.split(" ")
        texts = [reply] if self.whole else [*(word + " " for word in words[:-1]), words[-1]]
        pieces: list[Chunk | Thought] = [Thought(text=f"{word} ") for word in thoughts]
        for piece in pieces + [Chunk(text=text) for text in texts]:
            if cancel.is_set():
                return
            yield piece
        done = count_words(ask, reply)
        yield done.model_copy(update={"tokens_out": done.tokens_out + len(thoughts), "tokens_thought": len(thoughts)})

    def warm_up(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to let go of."""

    def afresh(self) -> "ScriptedModel":
        """The same script, from its beginning."""
        return ScriptedModel(self._script, self.name, self.whole)

    def _next_reply(self, ask: Ask) -> str:
        with self._lock:
            self.asked.append(ask)
            said = "\n".join(message.content for message in ask.messages)
            split = {key: key.partition(": ") for key in self._script}
            fitting = (key for key, (purpose, _, words) in split.items() if purpose == ask.purpose and words in said)
            key = max(fitting, key=len, default="")
            replies = self._script.get(key, [])
            if not replies:
                raise ModelError(f"the script {self.name!r} has no reply for {ask.purpose!r}")
            place = self._given.get(key, 0)
            self._given[key] = place + 1
            return replies[min(place, len(replies) - 1)]


def count_words(ask: Ask, text: str) -> Done:
    """What an answer cost: a word is a token here."""
    words = len(text.split(" "))
    return Done(
        tokens_in=sum(len(message.content.split()) for message in ask.messages),
        tokens_out=min(words, ask.max_tokens),
        ended="length" if words > ask.max_tokens else "stop",
    )


def open_scripted(name: str) -> ScriptedModel:
    """`demo` and the other scripts that ship, or a JSON file of the user's.

    A reply `file:NAME` is the text of a file in the script's folder.
    """
    if name in KNOWS_TASKS:
        raise SetupProblem(
            f"The model 'scripted:{name}' answers from a benchmark's own rows, so it only works there",
            f"burnish eval humanevalfix --model scripted:{name}",
        )
    shipped = files("burnish.models") / "scripts"
    path = Path(name)
    own = path.suffix == ".json" and path.is_file()
    if not own and not (shipped / f"{name}.json").is_file():
        known = sorted(entry.name.removesuffix(".json") for entry in shipped.iterdir() if entry.is_file())
        raise SetupProblem(
            f"There is no script {name!r}. Shipped ones: {', '.join(known)}. Name one of them, or a JSON file",
            f"--model scripted:{known[0]}",
        )
    folder = path.parent if own else shipped
    with suppress(OSError, ValueError):  # a ValidationError is a ValueError, as is text in no UTF-8
        given = _SCRIPT.validate_json((path if own else shipped / f"{name}.json").read_bytes(), strict=True)
        script = {
            key: [
                (folder / reply.removeprefix(FILE)).read_text("utf-8") if reply.startswith(FILE) else reply
                for reply in replies
            ]
            for key, replies in (given.items() if isinstance(given, dict) else [("", given)])
        }
        return ScriptedModel(script, name=f"scripted:{name}")
    raise SetupProblem(
        f"The file {str(path)!r} is no script: that is a JSON list of replies, or such a list for each purpose "
        '("tests", "draft", "repair"…). To see one at work, type',
        'burnish write "…" --model scripted:demo',
    )
