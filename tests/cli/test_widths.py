"""On a terminal of 40 columns lines fit and words stay whole; what is piped has no lines drawn and none broken."""

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

import burnish
from burnish import Run, Store
from burnish.cli.io import print_hanging, print_table
from burnish.cli.screen import Screen
from tests.cli.conftest import Call
from tests.iterated import EVENTS

COLUMNS = 40
DRAWN = re.compile("[─-╿]")
WHY = "a sentence that is longer than forty columns and has to go on"


@pytest.fixture(params=["narrow", "piped"])
def console(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The kind of console that commands print to in this test, 40 columns wide."""
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setattr(Console, "is_terminal", property(lambda self: request.param == "narrow"))
    return str(request.param)


def written(console: Console) -> list[str]:
    assert isinstance(console.file, io.StringIO)
    return Text.from_ansi(console.file.getvalue()).plain.splitlines()


def open_console(width: int, terminal: bool = True) -> Console:
    return Console(file=io.StringIO(), width=width, force_terminal=terminal, highlight=False)


def widest(lines: list[str]) -> int:
    return max(cell_len(line) for line in lines)


def make_table() -> Table:
    table = Table("check", "verdict", "", "why")
    table.add_row("security", Text("failed"), "", WHY)
    return table


def test_a_table_is_a_paragraph_a_row_where_columns_have_no_room() -> None:
    console = open_console(COLUMNS)
    print_table(console, make_table())
    assert widest(written(console)) <= COLUMNS
    assert " ".join(" ".join(written(console)).split()) == f"security: verdict failed; why {WHY}"


def test_a_table_that_is_piped_has_a_line_a_row_and_no_box() -> None:
    console = open_console(COLUMNS, terminal=False)
    print_table(console, make_table())
    head, row = written(console)
    assert row.split() == ["security", "failed", *WHY.split()]
    assert not DRAWN.search(head + row)


@pytest.mark.parametrize("width", [COLUMNS, 59, 60, 80, 200])
def test_a_text_hangs_below_its_beginning_and_no_word_is_cut(width: int) -> None:
    console = open_console(width)
    print_hanging(console, Text("files"), Text(f"{WHY} {WHY}"), 12)
    first, *more = written(console)
    assert widest([first, *more]) <= width
    assert all(line.startswith("  " if width < 60 else " " * 12) for line in more)
    assert " ".join([first, *more]).split()[1:] == f"{WHY} {WHY}".split()


def test_a_run_can_be_watched_on_a_narrow_terminal() -> None:
    console = open_console(COLUMNS)
    screen = Screen(console=console)
    for event in EVENTS:
        screen.watch(event)
    screen.pause()
    assert [line for line in written(console) if cell_len(line) > COLUMNS] == []


@pytest.mark.parametrize("width", [COLUMNS, 100])
def test_a_story_keeps_to_its_width(width: int) -> None:
    assert widest(burnish.explain(Run(EVENTS), width).splitlines()) <= width


def test_commands_stay_readable_at_forty_columns(call: Call, store: Store, console: str) -> None:
    run_id, record = store.begin("wide")
    with record:
        for event in EVENTS:
            record.append(event.model_copy(update={"run_id": run_id} if event is EVENTS[0] else {}))
    for command in (["runs"], ["show"], ["eval", "list"]):
        told = call(*command)
        lines = Text.from_ansi(told.out).plain.splitlines()
        assert told.code == 0
        assert not DRAWN.search(told.out), command
        assert len(lines) <= 80, command
        if console == "narrow":
            assert widest(lines) <= COLUMNS, command
            assert sum(len(line.split()) == 1 for line in lines) < len(lines) / 4, "no word a line"
