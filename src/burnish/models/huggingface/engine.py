"""The engine: one thread that gives waiting asks to free slots and moves all slots on together.

Asks wait a moment so that several prompts are read at once (reading a single one costs nearly as much as reading
twenty), and tokens are fetched in bursts, since each look at the device makes it wait for Python. A step looks back as
far as its longest row, so short rows have slots of their own; one that outgrows its slot is read again into a long one.
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
ROOM = 0.25
"""The share of a short slot that must be left for the answer of a row that is put there."""
HAND_OVER_SECONDS = 0.25
"""How often a reader gets what is new: waking hundreds of threads at each token would cost more than the tokens."""

News = list[int] | Done | ModelError | None
"""What a reader gets: tokens, the end, a failure, or None once its ask is cancelled."""


@dataclass(frozen=True)
class Size:
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
    def usual(cls) -> "Size":
        """What suits this machine."""
        if device().type != "cuda":
            return cls(slots=4)
        return cls(slots=256, context=4096, short_slots=192, short_context=1024, burst=8, reading_tokens=16384)

    @property
    def pools(self) -> tuple[tuple[int, int], ...]:
        """Slots and the room of each, the short ones first."""
        short = ((self.short_slots, self.short_context),) if self.short_slots else ()
        return (*short, (self.slots - self.short_slots, self.context))


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
    def tokens(self) -> list[int]:
        """All that has been read or written."""
        return self.prompt + self.written

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


class Pool:
    """Slots of one length, and who is in them."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.rows: dict[int, Row] = {}

    @property
    def free(self) -> list[int]:
        """The slots nobody is in."""
        return [slot for slot in range(self.slots.count) if slot not in self.rows]

    def has_room(self, row: Row) -> bool:
        """Whether the row fits with a good part of its answer still to come."""
        return len(row.tokens) <= (1 - ROOM) * self.slots.context

    def outgrown(self, burst: int) -> list[int]:
        """The slots whose rows could run over in the next burst."""
        return [slot for slot, row in self.rows.items() if len(row.tokens) + burst > self.slots.context]


class Engine:
    """Weights, slots and the thread that runs them. Loads in the background; broken once, it stays so."""

    def __init__(self, source: Source, size: Size) -> None:
        self.size = size
        self.ready = threading.Event()
        self.problem: BaseException | None = None
        self.loaded: Loaded
        self.pools: list[Pool] = []
        self._change = threading.Condition()
        self._waiting: list[Row] = []
        threading.Thread(target=self._run, args=(source,), name="burnish-engine", daemon=True).start()

    @property
    def eager_because(self) -> str:
        """Why steps are not replayed on a device that could; empty when they are."""
        return next((pool.slots.eager_because for pool in self.pools if pool.slots.eager_because), "")

    @property
    def under_way(self) -> list[Row]:
        """The rows that are being written."""
        return [row for pool in self.pools for row in pool.rows.values()]

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
                self.pools = [Pool(self._slots(*pool)) for pool in self.size.pools]
                self.ready.set()
                while True:
                    self._turn()
        except BaseException as error:
            self._give_up(error)

    def _slots(self, count: int, context: int) -> Slots:
        slots = Slots(self.loaded.network, count, context)
        slots.check()
        slots.record()
        return slots

    def _give_up(self, error: BaseException) -> None:
        with self._change:
            self.problem = error
            rows = [*self.under_way, *self._waiting]
            self.pools, self._waiting = [], []
        for row in rows:
            row.news.put(broken(error))
        self.ready.set()

    def _turn(self) -> None:
        self._drop_cancelled()
        for pool, fresh in self._admitted():
            self._read(pool, fresh)
        for pool in self.pools:
            if pool.rows:
                self._write(pool)

    def _drop_cancelled(self) -> None:
        for pool in self.pools:
            for slot in [slot for slot, row in pool.rows.items() if row.unwanted]:
                pool.rows.pop(slot).news.put(None)
        with self._change:
            gone = [row for row in self._waiting if row.unwanted]
            self._waiting = [row for row in self._waiting if not row.unwanted]
        for row in gone:
            row.news.put(None)

    def _admitted(self) -> list[tuple[Pool, list[int]]]:
        """The slots that were filled, in the order the asks came; sleeps while there is nothing at all to do."""
        with self._change:
            busy = bool(self.under_way)
            while not self._waiting and not busy:
                self._change.wait()
            enough = len(self._waiting) >= max(self.size.slots // 8, 1)
            late = bool(self._waiting) and time.monotonic() - self._waiting[0].since > GATHER_SECONDS
            if busy and not enough and not late:
                return []
            places = {id(pool): pool.free for pool in self.pools}
            filled: dict[int, list[int]] = {id(pool): [] for pool in self.pools}
            left: list[Row] = []
            for row in self._waiting:
                pool = next((pool for pool in self._fitting(row) if places[id(pool)]), None)
                if pool is None:
                    left.append(row)
                    continue
                slot = places[id(pool)].pop(0)
                pool.rows[slot] = row
                filled[id(pool)].append(slot)
            self._waiting = left
            return [(pool, filled[id(pool)]) for pool in self.pools if filled[id(pool)]]

    def _fitting(self, row: Row) -> list[Pool]:
        """The pools that a row may go to, the shortest first; the longest takes whatever there is."""
        return [pool for pool in self.pools[:-1] if pool.has_room(row)] + self.pools[-1:]

    def _read(self, pool: Pool, fresh: list[int]) -> None:
        entries = [(slot, pool.rows[slot]) for slot in fresh]
        for pack in packed(entries, self.size.reading_tokens):
            asks = [row.ask for _, row in pack]
            places, texts = [slot for slot, _ in pack], [row.tokens for _, row in pack]
            first = pool.slots.read(places, texts, asks, any(map(is_wide, asks)))
            for (slot, row), token in zip(pack, first, strict=True):
                self._take(pool, slot, row, (token,))

    def _write(self, pool: Pool) -> None:
        if pool is not self.pools[-1]:
            self._move_on(pool)
        longest = max((len(row.tokens) for row in pool.rows.values()), default=0) + self.size.burst
        wide = any(is_wide(row.ask) for row in pool.rows.values())
        tokens = pool.slots.write(self.size.burst, longest, wide) if pool.rows else []
        for slot, row in list(pool.rows.items()):
            self._take(pool, slot, row, tokens[slot])

    def _move_on(self, pool: Pool) -> None:
        """Rows that outgrow their slots wait for a longer one, before all others, and are then read again."""
        moved = [pool.rows.pop(slot) for slot in pool.outgrown(self.size.burst)]
        with self._change:
            self._waiting = moved + self._waiting

    def _take(self, pool: Pool, slot: int, row: Row, tokens: tuple[int, ...]) -> None:
        ended = row.take(tokens, self.loaded.ends, self.size.context)
        if ended or time.monotonic() - row.since > HAND_OVER_SECONDS:
            row.hand_over()
        if ended:
            tokens_out = len(row.written) + (ended == "stop")  # the token that ends it counts, as in llama.cpp
            row.news.put(Done(tokens_in=len(row.prompt), tokens_out=tokens_out, ended=ended))
            del pool.rows[slot]


def packed(entries: list[tuple[int, Row]], most_tokens: int) -> list[list[tuple[int, Row]]]:
    """Texts to be read together: of like length, and not too many tokens with the padding."""
    packs: list[list[tuple[int, Row]]] = []
    for entry in sorted(entries, key=lambda entry: len(entry[1].tokens)):
        if packs and (len(packs[-1]) + 1) * len(entry[1].tokens) <= most_tokens:
            packs[-1].append(entry)
        else:
            packs.append([entry])
    return packs


def broken(error: BaseException) -> ModelError:
    """The failure of an engine as the failure of one ask."""
    problem = ModelError(f"the Transformers engine broke off: {type(error).__name__}: {error}")
    problem.__cause__ = error
    return problem
