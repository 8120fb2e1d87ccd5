"""What a person sees while checks run, on a terminal and without one."""

import io

from rich.console import Console

from burnish.cli.check_screen import CheckScreen, show_checks
from tests.checks.stand_ins import checked, said
from tests.support import ESC, assert_words


def on(terminal: bool, width: int = 100) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=width, highlight=False, color_system=None)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_without_a_terminal_each_answer_is_a_plain_line() -> None:
    console = on(terminal=False)
    with CheckScreen(console) as screen:
        screen.begin("tests")
        screen.advance("tests", 1, 3)
        screen.finish(said("tests", "passed", figure="5 passed"), 1.25)
        screen.begin("coverage")
        screen.finish(said("coverage", "not_run"), 0.5)
    assert_words(printed(console))


def test_on_a_terminal_a_long_check_shows_how_far_it_is_and_leaves_nothing_behind() -> None:
    console = on(terminal=True)
    with CheckScreen(console) as screen:
        screen.begin("mutation")
        screen.advance("mutation", 30, 120)
        frame = on(terminal=False)
        frame.print(screen)
        assert "mutation" in printed(frame)
        assert "30/120" in printed(frame)
        screen.advance("gone", 1, 2)
        screen.finish(said("mutation"), 1.0)
        frame = on(terminal=False)
        frame.print(screen)
        assert "✓ mutation" in printed(frame)
    assert printed(console).rstrip("\n").endswith((f"{ESC}[2K", f"{ESC}[?25h"))


def test_where_there_is_room_the_reasons_stand_in_the_table() -> None:
    found = checked(said("tests", "failed", "one of two failed"), said("quality", "passed", "fine"))
    wide, narrow = on(False, width=140), on(False, width=80)
    for console in (wide, narrow):
        show_checks(console, found, "burnish check x", None)
    assert "one of two failed" in next(line for line in printed(wide).splitlines() if line.startswith("tests"))
    assert "\nwhy\ntests         one of two failed\n" in printed(narrow)
    assert "(optional)" in printed(narrow)
