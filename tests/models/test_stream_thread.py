"""An answer is read in a thread of its own, whoever writes it: what the reader may count on."""

import threading
import time
from collections.abc import Iterator

import pytest

from burnish.errors import ModelError
from burnish.models.model import Ask, Chunk, Done, Piece, Thought, Waiting
from burnish.models.stream_thread import Answer, end_at_stop, stream_in_thread

DONE = Done(tokens_in=1, tokens_out=2)
pytestmark = pytest.mark.timeout(20)


class Server:
    """Answers with these pieces, then waits until it is hung up on."""

    def __init__(self, *pieces: Chunk | Done) -> None:
        self.pieces = pieces
        self.hung_up = threading.Event()
        self.closed_by = ""
        self.closed = threading.Event()

    def answer(self) -> Answer:
        try:
            yield from self.pieces
            self.hung_up.wait(10)
            yield Chunk(text="too late")
        finally:
            self.closed_by = threading.current_thread().name
            self.closed.set()

    def read(self, cancel: threading.Event) -> Iterator[object]:
        return stream_in_thread(self.answer(), cancel, lambda error: error, self.hung_up.set)


def test_pieces_come_in_order_and_nothing_after_the_end() -> None:
    server = Server(Chunk(text="a"), Chunk(text="b"), DONE, Chunk(text="c"))
    pieces = [piece for piece in server.read(threading.Event()) if not isinstance(piece, Waiting)]
    assert pieces == [Chunk(text="a"), Chunk(text="b"), DONE]
    assert server.hung_up.is_set()


def test_a_cancel_need_not_wait_for_the_next_token() -> None:
    server, cancel = Server(Chunk(text="a")), threading.Event()
    began = 0.0
    for piece in server.read(cancel):
        if isinstance(piece, Waiting):
            cancel.set()
            began = began or time.monotonic()
    assert 0 < time.monotonic() - began < 0.25
    assert server.hung_up.is_set()


def test_what_an_answer_has_open_is_closed_by_the_thread_that_opened_it() -> None:
    server = Server(Chunk(text="a"))
    stream = server.read(threading.Event())
    assert next(piece for piece in stream if isinstance(piece, Chunk))
    stream.close()  # type: ignore[attr-defined]
    assert server.closed.wait(2)
    assert server.closed_by == "burnish-pump"


def test_what_breaks_an_answer_off_is_raised_where_it_is_read_in_our_words() -> None:
    def breaks() -> Answer:
        yield Chunk(text="a")
        raise OSError("gone")

    def named(error: BaseException) -> BaseException:
        return ModelError(f"the line is {error}")

    stream = stream_in_thread(breaks(), threading.Event(), named)
    with pytest.raises(ModelError, match="the line is gone"):
        list(stream)


def test_an_answer_that_stops_without_its_end_is_not_waited_for() -> None:
    def stops() -> Answer:
        yield Chunk(text="a")

    with pytest.raises(ModelError):
        list(stream_in_thread(stops(), threading.Event(), lambda error: error))


TEXT = "def f(x):\n    return x\n```\nIt returns x."
STOPPING = Ask(purpose="test", messages=(), stop=("\n```", "never"))


def cut(*pieces: Chunk | Thought | Done, ask: Ask = STOPPING, leaves: bool = False) -> list[Piece]:
    count = (lambda _, text: Done(tokens_in=1, tokens_out=len(text), ended="enough")) if leaves else None
    return list(end_at_stop(iter(pieces), ask, count))


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Chunk))


@pytest.mark.parametrize("leaves", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_an_answer_ends_before_its_stop_string_wherever_that_is_cut_into_pieces(size: int, leaves: bool) -> None:
    pieces = [Chunk(text=TEXT[at : at + size]) for at in range(0, len(TEXT), size)]
    got = cut(*pieces, DONE, leaves=leaves)
    assert text_of(got) == "def f(x):\n    return x"
    done = got[-1]
    assert isinstance(done, Done)
    assert done.ended == "stop_string"
    assert done.tokens_out == (len("def f(x):\n    return x") if leaves else DONE.tokens_out)


@pytest.mark.parametrize("stop", [("",), ("x" * 1001,), ("a", "b", "c", "d", "e")])
def test_stop_strings_that_are_empty_too_long_or_too_many_are_refused(stop: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="stop"):
        Ask(purpose="test", messages=(), stop=stop)


def test_what_only_looks_like_the_beginning_of_a_stop_string_is_handed_out() -> None:
    got = cut(Chunk(text="a\n"), Chunk(text="``"), Chunk(text="b\n`"), DONE)
    assert text_of(got) == "a\n``b\n`"
    assert got[-1] == DONE, "the end is the model's own"


def test_the_first_of_several_stop_strings_counts_and_one_in_the_thoughts_does_not() -> None:
    ask = STOPPING.model_copy(update={"stop": ("xyz", "b")})
    assert text_of(cut(Thought(text="b"), Chunk(text="aab xyz"), DONE, ask=ask)) == "aa"


def test_text_that_turns_out_to_be_thoughts_stops_nothing() -> None:
    pieces = (Chunk(text="never"), Thought(text="never", instead=True), Chunk(text="yes"), DONE)
    assert text_of(cut(*pieces)) == "yes"
    assert cut(*pieces)[-1] == DONE


def test_an_ask_without_stop_strings_gets_its_pieces_as_they_are() -> None:
    pieces = [Chunk(text="a"), Thought(text="b"), DONE]
    assert cut(*pieces, ask=STOPPING.model_copy(update={"stop": ()})) == pieces
