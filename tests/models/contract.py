"""What every model promises, whatever stands behind its name: one function that any of them can be handed to."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from burnish.events import Message
from burnish.models.model import Ask, Chunk, Done, Model, Thought, Waiting

HELLO = Ask(purpose="test", messages=(Message(role="user", content="Say hello in one word."),), max_tokens=8, seed=1)
COUNT = HELLO.model_copy(update={"messages": (Message(role="user", content="Count to 1000."),), "max_tokens": 400})
PIECES = Chunk | Thought | Waiting | Done


def answer(model: Model, ask: Ask) -> tuple[str, Done]:
    """The text of an answer and its end, of which there is exactly one."""
    pieces = list(model.stream(ask, threading.Event()))
    assert all(isinstance(piece, PIECES) for piece in pieces)
    assert [piece for piece in pieces if isinstance(piece, Done)] == pieces[-1:]
    done = pieces[-1]
    assert isinstance(done, Done)
    return "".join(piece.text for piece in pieces if isinstance(piece, Chunk)), done


def keeps_its_promises(model: Model) -> None:
    """A short answer, four at once, one that is cut to its length, and one that is cancelled."""
    text, done = answer(model, HELLO)
    assert text.strip()
    assert done.tokens_in > 0
    assert 0 < done.tokens_out <= HELLO.max_tokens
    with ThreadPoolExecutor(4) as pool:
        assert all(said for said, _ in pool.map(lambda _: answer(model, HELLO), range(4)))
    assert answer(model, COUNT.model_copy(update={"max_tokens": 3}))[1].ended == "length"
    cancel, asked = threading.Event(), 0.0
    for piece in model.stream(COUNT, cancel):
        assert not isinstance(piece, Done)
        if isinstance(piece, Chunk) and not cancel.is_set():
            cancel.set()
            asked = time.monotonic()
    assert asked
    assert time.monotonic() - asked < 1, "a tenth of a second, on a machine that has nothing else to do"
    assert model.name
    assert model.slots >= 1
    model.close()
