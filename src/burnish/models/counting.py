"""How many tokens a text has, where nobody has counted them for us, or where a server's count is to be judged.

What a call is booked at and what a server is believed to have read are one number: a cap must not hang on its word.
"""

import re
from collections.abc import Sequence
from typing import Any

from burnish.events import Message
from burnish.models.model import Ask

PER_MESSAGE, PER_QUESTION = 8, 64
"""Tokens that mark a message as one, and that a server may add to a question: a system message of its own."""
_PARTS = re.compile(r"[A-Za-z]{1,4}|\n\s*|\S")
_RUNS = re.compile(r"[^\w\s]?[^\W\d_]{1,16}|\d{1,8}|[^\w\s]{1,16}|_+")


def careful(text: str) -> int:
    """How many tokens a text may well have: each digit and each sign is one, and long words come in parts."""
    return len(_PARTS.findall(text))


def fewest(text: str) -> int:
    """How many it has at the least: no token reaches from one word, number or row of signs into the next, except from
    a sign into the word that follows it.
    """
    return len(_RUNS.findall(text))


def roughly(ask: Ask) -> int:
    """About how many tokens a prompt has: a token is some four bytes."""
    return sum(_bytes(message) // 4 + PER_MESSAGE for message in ask.messages)


def carefully(ask: Ask) -> int:
    """How many tokens a prompt may well have."""
    return sum(careful(message.content) + PER_MESSAGE for message in ask.messages)


def fewest_read(ask: Ask) -> int:
    """How many tokens a prompt has at the least."""
    return sum(fewest(message.content) for message in ask.messages)


def most_read(messages: Sequence[Message]) -> int:
    """How many a prompt has at the most: no tokenizer makes one of less than a byte, and servers wrap them in a few."""
    return sum(_bytes(message) + PER_MESSAGE for message in messages) + PER_QUESTION


def whole(said: object) -> int:
    """A number of bytes or tokens that a server says; 0 for what can be none."""
    return said if isinstance(said, int) and 0 < said < 1 << 60 else 0


def counts(told: object) -> dict[str, Any]:
    """What a server counts, as it came over the wire, without what can be no count: a client would break off at it."""
    pairs = told.items() if isinstance(told, dict) else ()
    kept = {key: counts(said) if key.endswith("_details") else whole(said) for key, said in pairs}
    return {key: said for key, said in kept.items() if said}


def _bytes(message: Message) -> int:
    return len(message.content.encode("utf-8", "replace"))
