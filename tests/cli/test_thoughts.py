"""Thoughts on the screen: folded to one line, in full with --verbose, and never in the answer."""

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from burnish.cli.screen import Screen, StreamedThoughts
from burnish.events import Broke, Decided, Event, ModelChunk, ModelReplied, ModelThought, Stopped
from tests.support import ESC, assert_words

WILD = f"{ESC}[2J{ESC}]0;title\x07[red]x[/red]\n\n\tthe loop"


def thought(text: str, ask_id: str = "draft-1", at: float = 100.0) -> ModelThought:
    return ModelThought(ask_id=ask_id, text=text, at=at)


def chunk(text: str, ask_id: str = "draft-1", at: float = 104.0) -> ModelChunk:
    return ModelChunk(ask_id=ask_id, text=text, at=at)


def replied(ask_id: str = "draft-1", at: float = 105.0) -> ModelReplied:
    return ModelReplied(ask_id=ask_id, purpose="draft", text="x", tokens_in=1, tokens_out=9, seconds=5.0, at=at)


def shown(*events: Event, verbose: bool = False) -> str:
    out = io.StringIO()
    screen = Screen(verbose, Console(file=out, highlight=False, width=200))
    for event in events:
        screen.watch(event)
    screen.pause()
    return out.getvalue()


def test_while_a_model_thinks_its_last_words_stand_on_one_line() -> None:
    thoughts = StreamedThoughts()
    for words in ("I look at it. ", "I see that the loop ", "ends too early ", "because"):
        thoughts.hear(thought(words))
    assert thoughts.now(55).endswith('14 tokens, "the loop ends too early because"')
    assert thoughts.now(24).endswith("14 tokens")


@pytest.mark.parametrize("room", range(10, 120, 7))
def test_the_line_is_never_wider_than_the_room_there_is(room: int) -> None:
    thoughts = StreamedThoughts()
    thoughts.hear(thought("循环 结束 得 太 早 because of the very-long-word-" + "x" * 50 + " and this " * 9))
    line = thoughts.now(max(room, 24))
    assert cell_len(line) <= max(room, 24)
    assert "\n" not in line


def test_several_who_think_at_once_are_counted_and_the_last_to_speak_is_shown() -> None:
    thoughts = StreamedThoughts()
    thoughts.hear(thought("one thing", "draft-1"))
    thoughts.hear(thought("another thing", "draft-2"))
    assert_words(thoughts.now(80))
    thoughts.fold("draft-2", 101.0)
    assert_words(thoughts.now(80))


def test_when_the_answer_begins_one_line_stands_for_the_thoughts() -> None:
    text = shown(thought("hm "), thought("well "), thought("so "), chunk("def f"), chunk("(): ..."), replied())
    assert text.count("(draft-1)") == 1
    assert "well" not in text
    assert_words(text)


def test_thoughts_without_an_answer_are_folded_at_the_end() -> None:
    assert_words(shown(thought("hm "), replied()))


@pytest.mark.parametrize(
    "end",
    [Decided(choice="ask", reason="…"), Stopped(reason="seconds"), Broke(error="ModelError", message="gone")],
)
def test_who_was_broken_off_does_not_think_for_ever(end: Event) -> None:
    screen = Screen(console=Console(file=io.StringIO(), width=100))
    screen.watch(thought("I begin to"))
    assert "I begin to" in screen._moving().plain
    screen.watch(end)
    assert "I begin to" not in screen._moving().plain


def test_an_answer_without_thoughts_has_no_such_line() -> None:
    assert "thought" not in shown(chunk("def f"), replied())


def test_nothing_of_a_thought_is_obeyed_by_the_terminal() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, highlight=False, width=100, color_system="standard")
    screen = Screen(console=console)
    screen.watch(thought(WILD))
    screen.watch(thought(ESC))
    screen.watch(thought("[2J"))
    moving = screen._moving()
    screen.pause()
    ours = re.compile(r"\x1b\[[\d;]*m|\x1b\[\?25[lh]|\x1b\[\d*[AK]|\x1b\[2K")
    assert not {ESC, "\x07"} & set(ours.sub("", out.getvalue()))
    assert "[red]x[/red] the loop" in moving.plain
    assert "\n" not in moving.plain


def test_verbose_shows_thoughts_in_full_marked_at_each_line() -> None:
    text = shown(thought("first I\nlook "), thought("at it"), chunk("def f(): ..."), replied(), verbose=True)
    assert "── draft-1 ──\n┊ first I\n┊ look at it\ndef f(): ...\n" in text
    assert "thought    for" not in text


def test_verbose_keeps_the_thoughts_of_those_who_wait_until_it_is_their_turn() -> None:
    text = shown(
        chunk("one", "draft-1"),
        thought("hm", "draft-2"),
        chunk("two", "draft-2"),
        chunk(" more", "draft-1"),
        replied("draft-1"),
        replied("draft-2"),
        verbose=True,
    )
    assert "── draft-1 ──\none more\n── draft-2 ──\n┊ hm\ntwo" in text
