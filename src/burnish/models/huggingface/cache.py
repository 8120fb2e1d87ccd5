"""Keys and values of all slots in tensors that never move, and attention that reads them without copying."""

from typing import Any

import torch
from transformers import Cache

ATTENTION = "burnish_slots"


class SlotCache(Cache):  # type: ignore[misc]
    """For each layer one tensor [slots, heads, context, size]; a row is written at its own position.

    Reading a prompt (`reading`) fills the first positions of some slots; writing (`writing`) adds one position to every
    slot. What lies beyond a row's position is left over from earlier answers and must be masked.
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

    def reading(self, slots: torch.Tensor) -> None:
        """The next pass reads prompts from their first token on, one for each of these slots."""
        self._slots = slots

    def writing(self, positions: torch.Tensor, visible: int) -> None:
        """The next pass reads one token for every slot, and looks back at the first `visible` positions."""
        self._slots, self._positions, self._visible = None, positions, visible

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keep one layer's new keys and values, and return all that its attention should see."""
        return (
            self._kept(self.keys[layer_idx], key_states),
            self._kept(self.values[layer_idx], value_states),
        )

    def _kept(self, table: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
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
