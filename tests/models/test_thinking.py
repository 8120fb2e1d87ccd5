"""Thoughts are told from the answer however the text is cut into pieces."""

import pytest

from burnish.models.model import Chunk, Thought
from burnish.models.thinking import Apart


def sorted_out(pieces: list[str], opened: bool = False, cut: bool = False) -> tuple[str, str]:
    apart, text, thoughts = Apart(opened), "", ""
    told = [part for piece in pieces for part in apart.sort(piece)] + list(apart.rest(cut))
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
