"""The screen on a real terminal: colours are ours, never the model's."""

import io
import re
import time

import pytest
from rich.console import Console

from burnish.cli.screen import Screen
from burnish.cli.show_run import show_run
from burnish.events import (
    Applied,
    BaseEvent,
    CodeProposed,
    Compared,
    Decided,
    Event,
    ModelChunk,
    ModelReplied,
    Move,
    Mutated,
    NewTest,
    Notice,
    Refined,
    Refused,
    Reviewed,
    RunFinished,
    RunStarted,
    SpecAgreed,
    StepMeasured,
    Stopped,
    Strengthened,
    Survivor,
    TestsFrozen,
    TestsProposed,
    Tweaked,
)
from burnish.report.narrate import name_version
from burnish.runs import Run
from tests.iterated import iterated
from tests.support import ESC, assert_words

OURS = re.compile(r"\x1b\[[\d;]*m|\x1b\[\?25[lh]|\x1b\[\d*[AK]|\x1b\[2K")
"""Colours, and what a moving line needs."""
WILD = f"{ESC}[2J{ESC}]0;title\x07{ESC}]8;;https://example.org{ESC}\\[red]x[/red] [link=y]z[/link]\x9b1m"
EVENTS: list[Event] = [
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
    Mutated(version=1, mutants=0, noticed=0, why=WILD),
    Mutated(version=1, mutants=3, noticed=1, survivors=(Survivor(key=WILD, line=1, said=WILD),)),
    Strengthened(
        version=1,
        tests=(NewTest(test=WILD, origin="agreed", notices=(WILD,), why=WILD),),
        exposing=(WILD,),
        alike=(WILD,),
    ),
    Refined(check=WILD, base=1, version=2, kept=True, before=WILD, after=WILD),
    Refined(check=WILD, base=1, version=None, kept=False, before=WILD, why=WILD),
    StepMeasured(after=WILD, version=1, passed=1, tests=1, lines=1),
    Reviewed(where="tests", said="edited", words=WILD, text=WILD),
    Applied(file=WILD, backup=WILD),
    RunFinished(verdict="failed", why=WILD, disputed=(WILD,)),
]


def terminal() -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, force_terminal=True, highlight=False, width=100, color_system="standard"), out


def foreign(text: str) -> str:
    """What is left of a terminal's input when all that we send on purpose is taken away."""
    return OURS.sub("", text)


@pytest.mark.parametrize(
    "event",
    [
        Mutated(version=1, mutants=1, noticed=1),
        Mutated(version=1, mutants=2, noticed=2),
        Mutated(version=1, mutants=2, noticed=1),
        Tweaked(base=1, tried=1, passed=1, seconds=1),
        Tweaked(base=1, tried=9, passed=2, seconds=1),
    ],
)
def test_one_of_something_is_spoken_of_in_the_singular(event: Mutated | Tweaked) -> None:
    assert_words(shown(event))


@pytest.mark.slow
def test_a_live_screen_sends_no_escape_of_the_models() -> None:
    for verbose in (False, True):
        console, out = terminal()
        screen = Screen(verbose, console)
        for event in EVENTS:
            screen.watch(event)
        time.sleep(0.2)
        screen.goodbye(Run(EVENTS))
        screen.pause()
        assert not {ESC, "\x07", "\x9b"} & set(foreign(out.getvalue()))
        assert "[red]x[/red]" in foreign(out.getvalue())


def test_a_told_story_sends_no_escape_of_the_models() -> None:
    console, out = terminal()
    show_run(Run(EVENTS), console)
    assert not {ESC, "\x07", "\x9b"} & set(foreign(out.getvalue()))
    assert "[red]x[/red]" in foreign(out.getvalue())


def test_the_moving_line_is_taken_away_at_the_end() -> None:
    console, out = terminal()
    screen = Screen(console=console)
    screen.pause()
    screen.pause()
    assert out.getvalue().count("\x1b[?25l") == out.getvalue().count("\x1b[?25h")


def shown(*events: BaseEvent) -> str:
    out = io.StringIO()
    screen = Screen(console=Console(file=out, highlight=False, width=200))
    for event in events:
        screen.watch(event)
    return out.getvalue()


def test_what_happens_is_one_short_line_each() -> None:
    frozen = shown(TestsFrozen(sha256="abc" * 20, given=1, model=1))
    tweaked = shown(Tweaked(base=0, tried=40, passed=1))
    compared = shown(Compared(groups=((1, 2), (3,)), inputs=("f(1)",)))
    agreed = shown(SpecAgreed(entry_point="f", signature="f", assumptions=("empty gives 0",)))
    assert_words(frozen + tweaked + compared + agreed)
    assert shown(TestsFrozen(sha256="abc", given=0)) == ""


def test_a_limit_that_stops_two_at_once_is_said_once() -> None:
    limit = Stopped(reason="calls", why="the limit of 0 calls is reached")
    assert shown(limit, limit).count(limit.why[1:]) == 1


def test_a_test_of_the_users_file_is_shown_by_its_name() -> None:
    spec = SpecAgreed(entry_point="f", signature="f", given_tests=("# test_f, from your file\ndef test_f(): ...",))
    assert "given      test_f\n" in shown(spec)


def test_what_goes_unnoticed_and_what_is_left_of_it_is_told() -> None:
    tried = Mutated(version=1, mutants=14, noticed=11, seconds=2.0)
    new = (NewTest(test="assert f(1) == 1", origin="agreed", notices=("a",), why="3 of 4 versions say so"),)
    assert_words(shown(tried, Strengthened(version=1, tests=new, noticed=12, alike=("b",), seconds=3.0)))
    left_out = Strengthened(version=1, noticed=11, why="too little time is left")
    assert_words(shown(tried, left_out))
    assert_words(shown(Strengthened(version=1, exposing=("assert f(1) == 1",))))


def test_a_round_for_a_check_says_what_it_bought() -> None:
    kept = Refined(check="security", base=1, version=2, kept=True, before="1 finding", after="none")
    left = Refined(check="quality", base=1, version=2, kept=False, before="60", after="70", why="a test was lost")
    assert_words(shown(kept, left))


def test_show_lists_the_changes_the_tests_and_the_rows() -> None:
    out = io.StringIO()
    show_run(iterated(), Console(file=out, highlight=False, width=200))
    assert_words("\n".join(out.getvalue().splitlines()[2:]))  # the first line has the time of day


def test_show_compares_each_version_of_a_repair_with_the_users_file() -> None:
    codes = ("a = 1\nb = 1\n", "a = 2\nb = 1\n", "a = 2\nb = 2\n", "a = 1\nb = 1\n", "a = 2\nb = 1\n")
    versions = [CodeProposed(version=number, code=code, by="repair") for number, code in enumerate(codes)]
    out = io.StringIO()
    show_run(Run([EVENTS[0], *versions]), Console(file=out, highlight=False, width=200))
    changes = [line.split() for line in out.getvalue().splitlines() if re.match(r" *[-+][ab]", line)]
    first, second = (
        [["-a", "=", "1"], ["+a", "=", "2"]],
        [["-a", "=", "1"], ["-b", "=", "1"], ["+a", "=", "2"], ["+b", "=", "2"]],
    )
    assert changes == first + second
    assert [out.getvalue().count(f"the same as {name_version(number)}") for number in (0, 1)] == [1, 1]
