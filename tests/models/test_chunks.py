"""Thoughts are told from the answer, however they are sent and the text is cut into pieces."""

import threading

import pytest

from burnish.models.chunks import ThoughtSplitter
from burnish.models.model import Chunk, Done, Piece, Thought
from tests.models.meeting import HELLO, Meet, text_of
from tests.models.peers import Turn

pytestmark = pytest.mark.timeout(20)


def sorted_out(pieces: list[str], opened: bool = False, cut: bool = False) -> tuple[str, str]:
    apart, text, thoughts = ThoughtSplitter(opened), "", ""
    told = [part for piece in pieces for part in apart.split(piece)] + list(apart.rest(cut))
    for part in told:
        text, thoughts = ("", "") if part.instead else (text, thoughts)
        text += part.text if isinstance(part, Chunk) else ""
        thoughts += part.text if isinstance(part, Thought) else ""
    return text, thoughts


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 100])
@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize(
    ("text", "answer", "thoughts"),
    [
        ("<think>a < b</think>\n\nx </think> y", "x </think> y", "a < b"),
        ("a </th b\n</think>\n\nx\n</think>\ny", "x\n</think>\ny", "a </th b\n"),
        ("so it is 2.</think>\nx", "x", "so it is 2."),
        ("so it is 2.</think>  \n\nx", "x", "so it is 2."),
        ("</think>\n\nx", "x", ""),
        ("just an answer <", "just an answer <", ""),
        ("", "", ""),
    ],
)
def test_text_is_sorted_alike_in_pieces_of_any_size(
    size: int, opened: bool, text: str, answer: str, thoughts: str
) -> None:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    got, thought = sorted_out(pieces, opened)
    assert (got.lstrip(), thought) == (answer, thoughts)


def test_thoughts_that_are_cut_off_stay_thoughts_where_they_were_begun_or_are_known() -> None:
    assert sorted_out(["<think>hm, ", "well"], cut=True) == ("", "hm, well")
    assert sorted_out(["hm, ", "well"], opened=True, cut=True) == ("", "hm, well")
    assert sorted_out(["hm, ", "well"], cut=True) == ("hm, well", "")


@pytest.mark.slow
def test_thoughts_are_kept_apart_from_the_answer(meet: Meet) -> None:
    model, peer = meet(Turn(thoughts="let me see", thought=3, written=9))
    pieces = list(model.stream(HELLO, threading.Event()))
    assert text_of(pieces) == "Hello there, you two."
    thoughts = "".join(piece.text for piece in pieces if isinstance(piece, Thought))
    if peer.asked[0][0] != "/api/chat":  # Ollama keeps to itself what was not asked for
        assert thoughts == "let me see"
        assert pieces[-1] == Done(tokens_in=11, tokens_out=9, tokens_thought=3)


@pytest.mark.slow
def test_thoughts_inside_the_text_are_taken_out_of_it(meet: Meet) -> None:
    model, _ = meet(Turn(text="<think> is it 2? </think>\n\nIt is </think> 2."))
    pieces = list(model.stream(HELLO, threading.Event()))
    assert text_of(pieces) == "It is </think> 2."
    assert "".join(piece.text for piece in pieces if isinstance(piece, Thought)) == " is it 2? "


UNOPENED = "Is it n * 3?\n```python\nn * 3\n```\nNo, that is wrong.\n</think>\n\nIt is n * 2."


def kept(pieces: list[Piece]) -> tuple[str, str]:
    """The answer and the thoughts, once all has come."""
    text = thoughts = ""
    for piece in pieces:
        if isinstance(piece, Chunk | Thought) and piece.instead:
            text = thoughts = ""
        text += piece.text if isinstance(piece, Chunk) else ""
        thoughts += piece.text if isinstance(piece, Thought) else ""
    return text, thoughts


def test_thoughts_that_were_opened_in_the_prompt_are_no_part_of_the_answer(meet: Meet) -> None:
    model, _ = meet(Turn(text=UNOPENED, written=60))
    for number in range(2):
        pieces = list(model.stream(HELLO, threading.Event()))
        assert kept(pieces) == ("It is n * 2.", UNOPENED.partition("</think>")[0])
        taken_back = [piece for piece in pieces if isinstance(piece, Thought) and piece.instead]
        assert len(taken_back) == (1 if number == 0 else 0), "the second time it is known from the first word on"


def test_who_thinks_at_one_time_and_not_at_another_is_understood_each_time(meet: Meet) -> None:
    plain, cut = Turn(text="It is 4.", written=9), Turn(text="Well, let me see", length=True, written=9)
    model, _ = meet(Turn(text=UNOPENED, written=60), cut, plain, plain)
    answers = [kept(list(model.stream(HELLO, threading.Event()))) for _ in range(4)]
    assert answers[1:] == [("", "Well, let me see"), ("It is 4.", ""), ("It is 4.", "")]


@pytest.mark.parametrize(
    "text", ['Use text.split("</think>")[-1] here.', "Write <think>\nso\n</think>\n\naround it.", "a </think> b"]
)
def test_an_answer_that_speaks_of_thoughts_is_left_alone(meet: Meet, text: str) -> None:
    assert kept(list(meet(Turn(text=text, written=30))[0].stream(HELLO, threading.Event()))) == (text, "")
