"""How tests meet a model behind each protocol, and what they say to it."""

import threading
from collections.abc import Callable

from burnish.events import Message
from burnish.models.chat import ChatModel
from burnish.models.model import Ask, Chunk, Done, Piece, Waiting
from tests.models.peers import Peer

KINDS = ["openai", "anthropic", "ollama"]
KEY = "planted-key-1234567890"
HELLO = Ask(purpose="test", messages=(Message(role="user", content="Say hello."),), max_tokens=64, seed=3)

Meet = Callable[..., tuple[ChatModel, Peer]]


def answered(model: ChatModel, ask: Ask = HELLO) -> tuple[str, Done]:
    pieces = list(model.stream(ask, threading.Event()))
    done = pieces[-1]
    assert isinstance(done, Done)
    assert not any(isinstance(piece, Done) for piece in pieces[:-1])
    return text_of(pieces), done


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Chunk))


def said_of(pieces: list[Piece]) -> list[str]:
    return [piece.why for piece in pieces if isinstance(piece, Waiting) and piece.why]
