"""The engine: one thread that gives waiting asks to free slots and moves all slots on together.

Asks wait a moment so that several prompts are read at once (reading a single one costs nearly as much as reading
twenty), and tokens are fetched in bursts, since each look at the device makes it wait for Python.
"""

import queue
import threading
import time
from dataclasses import dataclass, field
from typing import Literal

import torch

from burnish.errors import ModelError
from burnish.models.huggingface.loading import Loaded, device, load
from burnish.models.huggingface.sampling import is_wide
from burnish.models.huggingface.slots import Slots
from burnish.models.huggingface.source import Source
from burnish.models.model import Ask, Done

GATHER_SECONDS = 0.1
"""No ask waits longer than this for others to be read with, while a slot is free."""
HAND_OVER_SECONDS = 0.25
"""How often a reader gets what is new: waking hundreds of threads at each token would cost more than the tokens."""

News = list[int] | Done | ModelError | None
"""What a reader gets: tokens, the end, a failure, or None once its ask is cancelled."""


@dataclass(frozen=True)
class Size:
    """How much an engine does at once."""

    slots: int
    context: int = 2048
    burst: int = 1
    """Steps between two looks at the tokens; an answer that ends early wastes the rest of its burst."""
    reading_tokens: int = 2048
    """Prompt tokens, padding included, in one pass."""

    @classmethod
    def usual(cls) -> "Size":
        """What suits this machine."""
        return cls(slots=192, context=4096, burst=8, reading_tokens=16384) if device().type == "cuda" else cls(slots=4)


@dataclass
class Row:
    """One ask on its way through the engine."""

    ask: Ask
    prompt: list[int]
    cancel: threading.Event
    news: "queue.SimpleQueue[News]" = field(default_factory=queue.SimpleQueue)
    since: float = field(default_factory=time.monotonic)
    written: list[int] = field(default_factory=list)
    handed: int = 0
    abandoned: bool = False
    """The reader has left, cancelled or not."""

    @property
    def unwanted(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self.abandoned or self.cancel.is_set()

    def take(self, tokens: tuple[int, ...], ends: frozenset[int], room: int) -> Literal["", "stop", "length"]:
        """Add tokens up to the end of the answer; says whether and how it ended."""
        most = min(self.ask.max_tokens, room - len(self.prompt))
        for token in tokens:
            if token in ends:
                return "stop"
            self.written.append(token)
            if len(self.written) >= most:
                return "length"
        return ""

    def hand_over(self) -> None:
        """Give the reader what it has not seen."""
        if len(self.written) > self.handed:
            self.news.put(self.written[self.handed :])
            self.handed, self.since = len(self.written), time.monotonic()


class Engine:
    """Weights, slots and the thread that runs them. Loads in the background; broken once, it stays so."""

    def __init__(self, source: Source, size: Size) -> None:
        self.size = size
        self.ready = threading.Event()
        self.problem: BaseException | None = None
        self.loaded: Loaded
        self.slots: Slots
        self._change = threading.Condition()
        self._waiting: list[Row] = []
        self._rows: dict[int, Row] = {}
        threading.Thread(target=self._run, args=(source,), name="burnish-engine", daemon=True).start()

    def submit(self, row: Row) -> None:
        """Let an ask take its turn; its news come through its own queue. Raises ModelError on a broken engine."""
        with self._change:
            if self.problem:
                raise broken(self.problem)
            self._waiting.append(row)
            self._change.notify()

    def _run(self, source: Source) -> None:
        try:
            with torch.inference_mode():
                self.loaded = load(source, self.size.context)
                self.slots = Slots(self.loaded.network, self.size.slots, self.size.context)
                self.slots.check()
                self.slots.record()
                self.ready.set()
                while True:
                    self._turn()
        except BaseException as error:
            self._give_up(error)

    def _give_up(self, error: BaseException) -> None:
        with self._change:
            self.problem = error
            rows = [*self._rows.values(), *self._waiting]
            self._rows, self._waiting = {}, []
        for row in rows:
            row.news.put(broken(error))
        self.ready.set()

    def _turn(self) -> None:
        self._drop_cancelled()
        if fresh := self._admitted():
            self._read(fresh)
        if self._rows:
            self._write()

    def _drop_cancelled(self) -> None:
        for slot in [slot for slot, row in self._rows.items() if row.unwanted]:
            self._rows.pop(slot).news.put(None)
        with self._change:
            gone = [row for row in self._waiting if row.unwanted]
            self._waiting = [row for row in self._waiting if not row.unwanted]
        for row in gone:
            row.news.put(None)

    def _admitted(self) -> list[Row]:
        """The asks whose turn it is, in the order they came; sleeps while there is nothing at all to do."""
        with self._change:
            while not self._waiting and not self._rows:
                self._change.wait()
            free = self.size.slots - len(self._rows)
            enough = len(self._waiting) >= min(free, max(self.size.slots // 8, 1))
            late = bool(self._waiting) and time.monotonic() - self._waiting[0].since > GATHER_SECONDS
            if not free or (self._rows and not enough and not late):
                return []
            fresh, self._waiting = self._waiting[:free], self._waiting[free:]
            places = [slot for slot in range(self.size.slots) if slot not in self._rows]
            self._rows.update(zip(places, fresh, strict=False))
            return fresh

    def _read(self, fresh: list[Row]) -> None:
        chosen = {id(row) for row in fresh}
        entries = [(slot, row) for slot, row in self._rows.items() if id(row) in chosen]
        for pack in packed(entries, self.size.reading_tokens):
            asks = [row.ask for _, row in pack]
            places, prompts = [slot for slot, _ in pack], [row.prompt for _, row in pack]
            first = self.slots.read(places, prompts, asks, any(map(is_wide, asks)))
            for (slot, row), token in zip(pack, first, strict=True):
                self._take(slot, row, (token,))

    def _write(self) -> None:
        longest = max(len(row.prompt) + len(row.written) for row in self._rows.values()) + self.size.burst
        wide = any(is_wide(row.ask) for row in self._rows.values())
        tokens = self.slots.write(self.size.burst, longest, wide)
        for slot, row in list(self._rows.items()):
            self._take(slot, row, tokens[slot])

    def _take(self, slot: int, row: Row, tokens: tuple[int, ...]) -> None:
        ended = row.take(tokens, self.loaded.ends, self.size.context)
        if ended or time.monotonic() - row.since > HAND_OVER_SECONDS:
            row.hand_over()
        if ended:
            tokens_out = len(row.written) + (ended == "stop")  # the token that ends it counts, as in llama.cpp
            row.news.put(Done(tokens_in=len(row.prompt), tokens_out=tokens_out, ended=ended))
            del self._rows[slot]


def packed(entries: list[tuple[int, Row]], most_tokens: int) -> list[list[tuple[int, Row]]]:
    """Prompts to be read together: of like length, and not too many tokens with the padding."""
    packs: list[list[tuple[int, Row]]] = []
    for entry in sorted(entries, key=lambda entry: len(entry[1].prompt)):
        if packs and (len(packs[-1]) + 1) * len(entry[1].prompt) <= most_tokens:
            packs[-1].append(entry)
        else:
            packs.append([entry])
    return packs


def broken(error: BaseException) -> ModelError:
    """The failure of an engine as the failure of one ask."""
    problem = ModelError(f"the Transformers engine broke off: {type(error).__name__}: {error}")
    problem.__cause__ = error
    return problem
