"""No cap hangs on a server's word: how long an answer may be, and what is counted of it."""

import threading
from typing import Any

import pytest

from burnish.events import Message
from burnish.models.model import Done
from burnish.models.tokens import most_prompt_tokens
from tests.models.meeting import HELLO, Meet, answered, said_of, text_of
from tests.models.peers import Turn

pytestmark = pytest.mark.timeout(20)


@pytest.mark.slow
def test_an_endless_answer_ends_at_its_length(meet: Meet) -> None:
    model, peer = meet(Turn(fault="endless"))
    text, done = answered(model)
    assert done.ended == "length"
    assert len(text) < 64 * 16
    assert peer.hung_up.wait(2)


@pytest.mark.parametrize("written", [7, 200_000])
def test_a_few_big_pieces_end_at_their_length_as_well(meet: Meet, written: int) -> None:
    big = tuple("#" + "x(y)+" * 4000 for _ in range(10))
    model, _ = meet(Turn(pieces=big, written=written))
    pieces = list(model.stream(HELLO, threading.Event()))
    assert len(text_of(pieces)) == HELLO.max_tokens * 16
    assert pieces[-1].ended == "length"  # type: ignore[union-attr]
    assert pieces[-1].tokens_out == HELLO.max_tokens  # type: ignore[union-attr]
    assert any(f" {HELLO.max_tokens} " in why for why in said_of(pieces))


def test_one_big_piece_that_is_not_too_long_is_not_cut(meet: Meet) -> None:
    text = "def double(number):\n    return number * 2  # twice\n" * 5
    pieces = list(meet(Turn(pieces=(text,), written=60))[0].stream(HELLO, threading.Event()))
    assert text_of(pieces) == text
    assert (pieces[-1].ended, said_of(pieces)) == ("stop", [])  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, -5, "many", 11.5, 1e300, None, [7], {"all": 7}])
def test_counts_that_cannot_be_right_are_replaced_by_our_own(meet: Meet, count: Any) -> None:
    text, done = answered(meet(Turn(read=count, written=count, cached=count, thought=count))[0])
    assert text == "Hello there, you two."
    assert 0 < done.tokens_in <= most_prompt_tokens(HELLO.messages)
    assert done.tokens_out == 8


@pytest.mark.parametrize(("written", "least"), [(0, 400), (1, 300)])
def test_one_big_piece_that_nobody_counted_is_counted_by_what_is_in_it(meet: Meet, written: int, least: int) -> None:
    dense = "a=(b+c)*d[1];" * 50
    _, done = answered(meet(Turn(pieces=(dense,), written=written))[0], HELLO.model_copy(update={"max_tokens": 2000}))
    assert least < done.tokens_out <= len(dense)


def test_a_count_of_more_than_there_can_be_is_cut_to_what_there_can_be_and_that_is_said_once(meet: Meet) -> None:
    model, _ = meet(Turn(read=10**13, written=10**13, cached=10**12, thought=10**12))
    pieces = list(model.stream(HELLO, threading.Event()))
    done = pieces[-1]
    assert isinstance(done, Done)
    assert done.tokens_in == most_prompt_tokens(HELLO.messages)
    assert done.tokens_out == HELLO.max_tokens
    assert done.tokens_cached <= done.tokens_in
    assert done.tokens_thought <= done.tokens_out
    assert len(said_of(pieces)) == 2
    assert "10,000,000,000,000" in said_of(pieces)[0]
    assert said_of(list(model.stream(HELLO, threading.Event()))) == []


@pytest.mark.slow
def test_a_count_of_fewer_tokens_than_words_is_not_believed(meet: Meet) -> None:
    long = HELLO.model_copy(update={"messages": (Message(role="user", content="hi " * 3000),), "max_tokens": 1024})
    _, done = answered(meet(Turn(text="word " * 900, read=1, written=1))[0], long)
    assert (done.tokens_in, done.tokens_out) == (3000, 900)


def test_cached_tokens_are_among_those_read(meet: Meet) -> None:
    model, peer = meet(Turn(read=70, cached=60))
    _, done = answered(model)
    assert (done.tokens_in, done.tokens_cached) == (70, 0 if "/api/chat" in peer.asked[0][0] else 60)
