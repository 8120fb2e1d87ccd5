"""The screen on a real terminal: colours are ours, never the model's."""

import io
import re
import time

from rich.console import Console

from burnish.cli.screen import Screen
from burnish.cli.story import tell
from burnish.events import (
    Applied,
    BaseEvent,
    CodeProposed,
    Compared,
    Decided,
    ModelChunk,
    ModelReplied,
    Move,
    Notice,
    Refused,
    RunFinished,
    RunStarted,
    SpecAgreed,
    Stopped,
    TestsFrozen,
    TestsProposed,
    Tweaked,
)
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
    SpecAgreed(entry_point="f", signature="f", given_tests=(WILD,), assumptions=(WILD,)),
    TestsFrozen(sha256="0" * 64, given=1),
    Decided(choice="round", reason=WILD, moves=(Move(kind="repair", version=3, round=1, base=0, model=1),)),
    Tweaked(base=0, tried=40, passed=1, seconds=0.5),
    Compared(groups=((1, 2), (3,)), inputs=(WILD,), apart=WILD),
    Refused(what=WILD, why=WILD),
    Applied(file=WILD, backup=WILD),
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


def shown(*events: BaseEvent) -> str:
    out = io.StringIO()
    screen = Screen(console=Console(file=out, highlight=False, width=200))
    for event in events:
        screen.watch(event)
    return out.getvalue()


def test_what_happens_is_one_short_line_each() -> None:
    assert "2 tests, sha256 abcabcabcabc" in shown(TestsFrozen(sha256="abc" * 20, given=1, model=1))
    assert "40 small edits of the code that was there tried, 1 pass" in shown(Tweaked(base=0, tried=40, passed=1))
    assert "versions alike on 1 input: 1, 2 | 3" in shown(Compared(groups=((1, 2), (3,)), inputs=("f(1)",)))
    assert "assumed    empty gives 0" in shown(
        SpecAgreed(entry_point="f", signature="f", assumptions=("empty gives 0",))
    )
    assert shown(TestsFrozen(sha256="abc", given=0)) == ""


def test_a_limit_that_stops_two_at_once_is_said_once() -> None:
    limit = Stopped(reason="calls", why="the limit of 0 calls is reached")
    assert shown(limit, limit).count("limit of 0 calls") == 1


def test_a_test_of_the_users_file_is_shown_by_its_name() -> None:
    spec = SpecAgreed(entry_point="f", signature="f", given_tests=("# test_f, from your file\ndef test_f(): ...",))
    assert "given      test_f\n" in shown(spec)
