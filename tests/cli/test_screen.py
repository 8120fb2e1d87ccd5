"""The screen on a real terminal: colours are ours, never the model's."""

import io
import re
import time

from rich.console import Console

from burnish.cli.screen import Screen
from burnish.cli.story import tell
from burnish.events import CodeProposed, ModelChunk, ModelReplied, Notice, RunFinished, RunStarted, TestsProposed
from burnish.runs import Run
from tests.support import ESC

OURS = re.compile(r"\x1b\[[\d;]*m|\x1b\[\?25[lh]|\x1b\[\d*[AK]|\x1b\[2K")
"""Colours, and what a moving line needs."""
WILD = f"{ESC}[2J{ESC}]0;title\x07{ESC}]8;;https://example.org{ESC}\\[red]x[/red] [link=y]z[/link]\x9b1m"
EVENTS = [
    RunStarted(run_id="x", verb="write", prompt=WILD, model="m", burnish="0"),
    Notice(text=WILD),
    ModelChunk(ask_id="draft-1", text=WILD),
    ModelChunk(ask_id="draft-1", text=ESC),
    ModelChunk(ask_id="draft-1", text="[2J"),
    ModelReplied(ask_id="draft-1", purpose="draft", text=WILD, tokens_in=1, tokens_out=2, seconds=1.0),
    TestsProposed(tests=(WILD,)),
    CodeProposed(version=1, code=WILD * 2, by="draft", problem=WILD),
    CodeProposed(version=2, code=f"x = 1\n{WILD}", by="reflect"),
    RunFinished(verdict="failed", why=WILD, disputed=(WILD,)),
]


def terminal() -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, force_terminal=True, highlight=False, width=100, color_system="standard"), out


def foreign(text: str) -> str:
    """What is left of a terminal's input when all that we send on purpose is taken away."""
    return OURS.sub("", text)


def test_a_live_screen_sends_no_escape_of_the_models() -> None:
    for verbose in (False, True):
        console, out = terminal()
        screen = Screen(verbose, console)
        for event in EVENTS:
            screen.watch(event)
        time.sleep(0.2)
        screen.goodbye(Run(EVENTS))
        screen.close()
        assert not {ESC, "\x07", "\x9b"} & set(foreign(out.getvalue()))
        assert "[red]x[/red]" in foreign(out.getvalue())


def test_a_told_story_sends_no_escape_of_the_models() -> None:
    console, out = terminal()
    tell(Run(EVENTS), console)
    assert not {ESC, "\x07", "\x9b"} & set(foreign(out.getvalue()))
    assert "[red]x[/red]" in foreign(out.getvalue())


def test_the_moving_line_is_taken_away_at_the_end() -> None:
    console, out = terminal()
    screen = Screen(console=console)
    screen.close()
    screen.close()
    assert out.getvalue().count("\x1b[?25l") == out.getvalue().count("\x1b[?25h")
