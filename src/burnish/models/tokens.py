"""Estimates of how many tokens a text has, and how many a model can read at once.

What a call is booked at and what a server is believed to have read are one number: a cap must not hang on its word.
"""

import re
from collections.abc import Sequence
from typing import Any

from burnish import config
from burnish.events import Message
from burnish.models.model import Ask, Model
from burnish.models.prices import look_up_context

PER_MESSAGE, PER_QUESTION = 8, 64
"""Tokens that mark a message as one, and that a server may add to a question: a system message of its own."""
CHARACTERS_PER_TOKEN, MOST_PER_PIECE = 4, 8
"""About four; a piece with more than eight is surely more than one token."""
_PARTS = re.compile(r"[A-Za-z]{1,4}|\n\s*|\S")
_RUNS = re.compile(r"[^\w\s]?[^\W\d_]{1,16}|\d{1,8}|[^\w\s]{1,16}|_+")


def context_tokens(model: Model) -> int:
    """Tokens of question and answer that a model can read at once; 0 where it is unknown.

    The model, the user's file and the list of prices may know it.
    """
    own = int(getattr(model, "context", 0))
    return smallest_known(own, config.load().context.get(model.name, 0)) or look_up_context(model.name)


def smallest_known(*sizes: int) -> int:
    """The smallest that is not 0: a setting cannot give a model more context than it has."""
    return min((size for size in sizes if size), default=0)


def estimate_tokens(text: str) -> int:
    """How many tokens a text may well have: each digit and each sign is one, and long words come in parts."""
    return len(_PARTS.findall(text))


def fewest_tokens(text: str) -> int:
    """How many it has at the least: no token reaches from one word, number or row of signs into the next, except from
    a sign into the word that follows it.
    """
    return len(_RUNS.findall(text))


def guess_tokens(pieces: int, characters: int) -> int:
    """About how many tokens a text has that came in so many pieces."""
    return pieces if characters <= MOST_PER_PIECE * pieces else characters // CHARACTERS_PER_TOKEN


def guess_prompt_tokens(ask: Ask) -> int:
    """About how many tokens a prompt has: a token is some four bytes."""
    return sum(_count_bytes(message) // CHARACTERS_PER_TOKEN + PER_MESSAGE for message in ask.messages)


def estimate_prompt_tokens(ask: Ask) -> int:
    """How many tokens a prompt may well have."""
    return sum(estimate_tokens(message.content) + PER_MESSAGE for message in ask.messages)


def fewest_prompt_tokens(ask: Ask) -> int:
    """How many tokens a prompt has at the least."""
    return sum(fewest_tokens(message.content) for message in ask.messages)


def most_prompt_tokens(messages: Sequence[Message]) -> int:
    """How many a prompt has at the most: no tokenizer makes one of less than a byte, and servers wrap them in a few."""
    return sum(_count_bytes(message) + PER_MESSAGE for message in messages) + PER_QUESTION


def _count_bytes(message: Message) -> int:
    return len(message.content.encode("utf-8", "replace"))


def read_count(value: object) -> int:
    """A number of bytes or tokens that a server sends; 0 for what cannot be one."""
    return value if isinstance(value, int) and 0 < value < 1 << 60 else 0


def read_counts(usage: object) -> dict[str, Any]:
    """What a server counts, without what cannot be a count: a client would break off at it."""
    pairs = usage.items() if isinstance(usage, dict) else ()
    # Details are counts as well, one level deeper.
    kept = {key: read_counts(value) if key.endswith("_details") else read_count(value) for key, value in pairs}
    return {key: value for key, value in kept.items() if value}
