"""How the next token is drawn, for all rows at once, each by the settings of its own ask.

The order is llama.cpp's default one, so that `local:` and this engine draw from the same tokens: penalty, top_k, top_p,
min_p, and the temperature last (top_p and min_p see probabilities that no temperature has touched). Chance is a number
computed from the ask's seed and the position, so no neighbour in the batch can change it. Every operation has a shape
known beforehand and none waits for the device: the whole may be recorded as a CUDA graph.
"""

import torch

from burnish.models.model import Ask

TOP = 256
"""So many of the likeliest tokens are looked at; a row that wants more makes its step sort the whole vocabulary."""
FLOATS = ("temperature", "top_p", "min_p", "repetition_penalty")
INTS = ("top_k", "seed")
_MASK = (1 << 63) - 1


def tabulate_settings(asks: list[Ask]) -> tuple[list[list[float]], list[list[int]]]:
    """The settings of asks as two tables of numbers: columns FLOATS and INTS."""
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
