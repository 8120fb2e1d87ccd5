"""The rows of a batch on the device: what each has read, written, and wants; and the one step that moves them all on.

Keys and values of all rows lie in tensors that never move, and attention reads them without copying.

Between two steps nothing travels to the device and nothing is waited for: the drawn tokens are the next step's input.
All shapes are fixed, so on CUDA the step is recorded once for each of a few widths and then replayed.

The next token is drawn for all rows at once, each by the settings of its own ask, in llama.cpp's default order, so that
`local:` and this engine draw from the same tokens: penalty, top_k, top_p, min_p, and the temperature last (top_p and
min_p see probabilities that no temperature has touched). Chance is a number computed from the ask's seed and the
position, so no neighbour in the batch can change it.
"""

import queue
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from transformers import Cache

from burnish.errors import ModelError
from burnish.models.model import Ask, Done

NARROWEST = 256
"""Looking back at fewer positions than this is no faster."""
ATTENTION = "burnish_slots"
TOP = 256
"""So many of the likeliest tokens are looked at; a row that wants more makes its step sort the whole vocabulary."""
FLOATS = ("temperature", "top_p", "min_p", "repetition_penalty")
_MASK = (1 << 63) - 1
News = list[int] | Done | ModelError | None
"""What a reader gets: tokens, the end, a failure, or None once its ask is cancelled."""


@dataclass(eq=False)
class EngineRow:
    """One ask on its way through the engine."""

    ask: Ask
    prompt: list[int]
    cancel: threading.Event
    news: "queue.SimpleQueue[News]" = field(default_factory=queue.SimpleQueue)
    since: float = field(default_factory=time.monotonic)
    written: list[int] = field(default_factory=list)
    grammar: Any = None
    """What of the schema is still to come (llguidance); None for free text."""
    handed: int = 0
    abandoned: bool = False
    """The reader has left, cancelled or not."""

    @property
    def tokens(self) -> list[int]:
        """All that has been read or written."""
        return self.prompt + self.written

    @property
    def unwanted(self) -> bool:
        """Whether the reader has left or cancelled."""
        return self.abandoned or self.cancel.is_set()

    def take(self, tokens: tuple[int, ...], ends: frozenset[int], room: int) -> Literal["", "stop", "length"]:
        """Add tokens up to the end of the answer; says whether and how it ended."""
        most = min(self.ask.max_tokens, room - len(self.prompt))
        for token in tokens:
            if token in ends:
                return "stop"
            self.written.append(token)
            if self.grammar:
                self.grammar.consume_token(token)
            if len(self.written) >= most:
                return "length"
        return ""

    def hand_over(self) -> None:
        """Give the reader what it has not seen."""
        if len(self.written) > self.handed:
            self.news.put(self.written[self.handed :])
            self.handed, self.since = len(self.written), time.monotonic()


class SlotCache(Cache):  # type: ignore[misc]
    """For each layer one tensor [slots, heads, context, size]; a row is written at its own position.

    Reading a prompt fills the first positions of some slots; writing adds one position to every slot. What lies beyond
    a row's position is left over from earlier answers and must be masked.
    """

    def __init__(self, config: Any, slots: int, context: int, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(layers=[])
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        shape = (config.num_hidden_layers, slots, config.num_key_value_heads, context, size)
        self.keys = torch.zeros(shape, dtype=dtype, device=device)
        self.values = torch.zeros(shape, dtype=dtype, device=device)
        self._rows = torch.arange(slots, device=device)
        self._slots: torch.Tensor | None = None
        self._positions = self._rows
        self._visible = context

    def begin_reading(self, slots: torch.Tensor) -> None:
        """The next pass reads prompts from their first token on, one for each of these slots."""
        self._slots = slots

    def begin_writing(self, positions: torch.Tensor, visible: int) -> None:
        """The next pass reads one token for every slot, and looks back at the first `visible` positions."""
        self._slots, self._positions, self._visible = None, positions, visible

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keep one layer's new keys and values, and return all that its attention should see."""
        return (
            self._store(self.keys[layer_idx], key_states),
            self._store(self.values[layer_idx], value_states),
        )

    def _store(self, table: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        if self._slots is not None:
            table[:, :, : states.shape[2]].index_copy_(0, self._slots, states)
            return states
        table[self._rows, :, self._positions] = states[:, :, 0]
        return table[:, :, : self._visible]


def attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attention for the two passes of the engine.

    Without a mask it is causal: prompts that are padded on the right. With one, each row has one query, and the query
    heads that share a key head are given as so many queries of that head, so that no key is copied for them.
    """
    if attention_mask is None:
        out = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=scaling, enable_gqa=query.shape[1] != key.shape[1]
        )
        return out.transpose(1, 2).contiguous(), None
    rows, heads, _, size = query.shape
    shared = query.reshape(rows, key.shape[1], heads // key.shape[1], size)
    out = torch.nn.functional.scaled_dot_product_attention(shared, key, value, attn_mask=attention_mask, scale=scaling)
    return out.reshape(rows, 1, heads, size), None


class Slots:
    """A fixed number of rows, each with room for `context` tokens of prompt and answer."""

    def __init__(self, network: Any, count: int, context: int) -> None:
        self.count, self.context = count, context
        self.rows: dict[int, EngineRow] = {}
        """The rows in the slots; who puts them there also takes them out."""
        self.device, self.dtype = network.device, network.dtype
        self.widths = [context]
        """How far back a step may look, the narrowest first: the context, and its halves."""
        while self.widths[0] % 2 == 0 and self.widths[0] // 2 >= NARROWEST:
            self.widths.insert(0, self.widths[0] // 2)
        self.eager_because = ""
        """Why no step could be recorded on a device that could replay it."""
        self._network, self._body = network, network.get_decoder()
        self._head = network.get_output_embeddings()
        self._cache = SlotCache(network.config.get_text_config(), count, context, self.dtype, self.device)
        self._columns = torch.arange(context, device=self.device)
        self._tokens = self._zeros(count)
        self._positions = self._zeros(count)
        self._seen = self._zeros(count, self._head.weight.shape[0], dtype=torch.bool)
        self._floats = torch.ones(count, 4, device=self.device)
        self._ints = self._zeros(count, 2)
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}

    def _zeros(self, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def read(self, entries: list[tuple[int, EngineRow]], wide: bool) -> list[int]:
        """Read rows into slots, whatever was in them, and return the next token of each answer."""
        places, rows = [slot for slot, _ in entries], [row for _, row in entries]
        prompts, asks = [row.tokens for row in rows], [row.ask for row in rows]
        longest = min(-(-max(map(len, prompts)) // 32) * 32, self.context)
        padded = [prompt + prompt[-1:] * (longest - len(prompt)) for prompt in prompts]  # so padding is never new
        ids, slots, last = (self._tensor(rows) for rows in (padded, places, [len(prompt) - 1 for prompt in prompts]))
        floats, ints = (self._tensor(rows) for rows in tabulate_settings(asks))
        seen = self._zeros(len(places), self._seen.shape[1], dtype=torch.bool).scatter_(1, ids, True)
        scores = apply_penalty(self._read(ids, slots, last), seen, floats)
        self._forbid(scores, dict(enumerate(rows)))
        picked = draw_tokens(scores, floats, ints[:, 0], random_numbers(ints[:, 1], last), wide)
        self._tokens[slots], self._positions[slots] = picked, last + 1
        self._floats[slots], self._ints[slots] = floats, ints
        self._seen[slots] = seen.scatter_(1, picked[:, None], True)
        return list(picked.tolist())

    def write(self, steps: int, longest: int, wide: bool) -> list[tuple[int, ...]]:
        """Move all rows on by some tokens: those tokens, slot by slot. No row that matters grows beyond `longest`.

        Beside a row with a schema it is one token, outside the recorded step: Python must see it to know what may come.
        """
        bound = any(row.grammar for row in self.rows.values())
        steps = 1 if bound else steps
        visible = next((width for width in self.widths if width >= longest), self.context)
        history = torch.empty(steps, self.count, dtype=torch.int64, device=self.device)
        for step in range(steps):
            if visible in self._graphs and not wide and not bound:
                self._graphs[visible].replay()
            else:
                self._step(visible, wide)
            history[step].copy_(self._tokens)
        return list(zip(*history.cpu().tolist(), strict=True))

    def _tensor(self, rows: list[Any]) -> torch.Tensor:
        return torch.tensor(rows, device=self.device)

    def _read(self, ids: torch.Tensor, slots: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        self._cache.begin_reading(slots)
        positions = self._columns[: ids.shape[1]][None]
        hidden = self._run_network(ids, positions.expand(ids.shape[0], -1), None)
        return self._scores(hidden[torch.arange(ids.shape[0], device=self.device), last])

    def _step(self, visible: int, wide: bool) -> None:
        scores = apply_penalty(self._score_next(visible), self._seen, self._floats)
        self._forbid(scores, self.rows)
        picked = draw_tokens(
            scores, self._floats, self._ints[:, 0], random_numbers(self._ints[:, 1], self._positions), wide
        )
        self._tokens.copy_(picked)
        self._seen.scatter_(1, picked[:, None], True)
        self._positions.add_(1).clamp_(max=self.context - 1)  # a row that has ended runs on until it is refilled

    def _forbid(self, scores: torch.Tensor, rows: dict[int, EngineRow]) -> None:
        """Leave the rows that have a schema only the tokens that it allows next."""
        for place, row in rows.items():
            if row.grammar:
                packed = torch.frombuffer(bytearray(row.grammar.compute_bitmask()), dtype=torch.uint8)
                bits = (packed[:, None] >> torch.arange(8)) & 1
                scores[place].masked_fill_(bits.flatten()[: scores.shape[1]].to(scores.device) == 0, -torch.inf)

    def _score_next(self, visible: int) -> torch.Tensor:
        """The scores of every row's next token."""
        hides = self._columns[:visible][None] > self._positions[:, None]
        mask = self._zeros(self.count, visible, dtype=self.dtype).masked_fill_(hides, -torch.inf)
        self._cache.begin_writing(self._positions, visible)
        return self._scores(
            self._run_network(self._tokens[:, None], self._positions[:, None], mask[:, None, None])[:, 0]
        )

    def _run_network(self, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        out: torch.Tensor = self._body(
            input_ids=ids, position_ids=positions, attention_mask=mask, past_key_values=self._cache, use_cache=True
        ).last_hidden_state
        return out

    def _scores(self, hidden: torch.Tensor) -> torch.Tensor:
        """Scores in float32: rounded to bfloat16, the likeliest two tokens would often be one number."""
        weight, bias = self._head.weight, self._head.bias
        half = hidden.is_cuda and hidden.dtype != torch.float32
        scores = torch.mm(hidden, weight.t(), out_dtype=torch.float32) if half else (hidden @ weight.t()).float()
        return scores if bias is None else scores + bias.float()

    def check(self) -> None:
        """Raise ModelError unless reading and one step give the scores of the model's own forward pass."""
        ids = (torch.arange(9, device=self.device) * 7 + 5) % self._seen.shape[1]
        self._network.set_attn_implementation("sdpa")
        wanted = self._network(input_ids=ids[None], use_cache=False).logits[0, -2:].float()
        self._network.set_attn_implementation(ATTENTION)
        slot = self._zeros(1)
        read = self._read(ids[None, :-1], slot, slot + 7)[0]
        self._tokens[0], self._positions[0] = ids[-1], 8
        got = torch.stack([read, self._score_next(self.widths[0])[0]])
        self._clear()
        off = float((got - wanted).abs().max() / wanted.abs().max())
        if not off < 0.05:
            raise ModelError(f"the engine and the model's own forward pass differ by {off:.3g} of the highest score")

    def record(self) -> None:
        """On CUDA, record the step for each width; what cannot be recorded is run step by step (`eager_because`)."""
        if self.device.type != "cuda":
            return
        try:
            for width in reversed(self.widths):
                self._graphs[width] = self._record_width(width)
                self._compare(width)
        except Exception as error:
            self._graphs.clear()
            self.eager_because = f"recording failed: {type(error).__name__}: {error}"
        self._clear()

    def _record_width(self, width: int) -> torch.cuda.CUDAGraph:
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                self._step(width, False)
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        pool = next((other.pool() for other in self._graphs.values()), None)
        with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
            self._step(width, False)
        return graph

    def _compare(self, width: int) -> None:
        """Raise unless a replay draws what the step itself draws, but for a few rows on the brink."""
        drawn_by = []
        for move in (lambda: self._step(width, False), self._graphs[width].replay):
            self._clear()
            self._tokens.copy_(torch.arange(self.count, device=self.device) % self._seen.shape[1])
            move()
            drawn_by.append(self._tokens.clone())
        same = float((drawn_by[0] == drawn_by[1]).float().mean())
        if same < 0.9:
            raise ModelError(f"a replay of the recorded step agrees in {same:.0%} of the rows")

    def _clear(self) -> None:
        for state in (self._tokens, self._positions, self._seen):
            state.zero_()


def tabulate_settings(asks: list[Ask]) -> tuple[list[list[float]], list[list[int]]]:
    """The settings of asks as two tables of numbers: columns FLOATS, and top_k and seed."""
    floats = [[float(getattr(ask, name)) for name in FLOATS] for ask in asks]
    return floats, [[ask.top_k, ask.seed & _MASK] for ask in asks]


def is_wide(ask: Ask) -> bool:
    """Whether this ask may draw a token beyond the TOP likeliest ones."""
    return ask.temperature > 0 and not 0 < ask.top_k <= TOP


def apply_penalty(logits: torch.Tensor, seen: torch.Tensor, floats: torch.Tensor) -> torch.Tensor:
    """Tokens of the prompt and of the answer so far made less likely: positive scores divided, others multiplied."""
    penalty = floats[:, 3:4]
    return torch.where(seen, torch.where(logits > 0, logits / penalty, logits * penalty), logits)


def random_numbers(seeds: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """One number in [0, 1) for each seed and position: two rounds of a 64-bit mixing function, no state."""
    mixed = _mix(_mix(seeds + 0x1E3779B97F4A7C15) + positions * 0x2545F4914F6CDD1D)
    return _shift_right(mixed, 40).to(torch.float32) / float(1 << 24)


def _mix(x: torch.Tensor) -> torch.Tensor:
    x = (x ^ _shift_right(x, 30)) * -0x40A7B892E31B1A47
    x = (x ^ _shift_right(x, 27)) * -0x6B2FB644ECCEEE15
    return x ^ _shift_right(x, 31)


def _shift_right(x: torch.Tensor, bits: int) -> torch.Tensor:
    """A shift to the right that fills with zeros; torch's own repeats the sign."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def draw_tokens(
    scores: torch.Tensor, floats: torch.Tensor, top_k: torch.Tensor, chance: torch.Tensor, wide: bool = False
) -> torch.Tensor:
    """One token for each row; temperature 0 means exactly the likeliest."""
    best, order = scores.sort(descending=True) if wide else scores.topk(min(TOP, scores.shape[1]))
    temperature, kept = floats[:, 0:1], _choose_tokens(best, floats, top_k)
    heated = (best - best[:, :1]) / temperature.clamp(min=1e-6)
    heap = heated.masked_fill(~kept, -torch.inf).softmax(-1).cumsum(-1)
    place = (heap <= chance[:, None] * heap[:, -1:]).sum(-1, keepdim=True).minimum(kept.sum(-1, keepdim=True) - 1)
    return torch.where(floats[:, 0] > 0, order.gather(1, place)[:, 0], scores.argmax(-1))


def _choose_tokens(best: torch.Tensor, floats: torch.Tensor, top_k: torch.Tensor) -> torch.Tensor:
    """Which of the sorted tokens may be drawn. Each rule keeps the first few, and the likeliest always stays."""
    top_p, min_p = floats[:, 1:2], floats[:, 2:3]
    rank = torch.arange(best.shape[1], device=best.device)[None]
    kept = (top_k[:, None] <= 0) | (rank < top_k[:, None])
    share = best.masked_fill(~kept, -torch.inf).softmax(-1)
    kept &= (share.cumsum(-1) - share < top_p) | (top_p >= 1)
    kept &= best >= best[:, :1] + min_p.log()
    return kept | (rank == 0)
