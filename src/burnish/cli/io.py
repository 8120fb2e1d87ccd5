"""What comes in and goes out of a command: task text, code, diffs, lines for programs, and a reader who left.

Code and diffs are somebody else's words: a terminal never gets what it would obey.
"""

import json
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.errors import SetupProblem
from burnish.events import BaseEvent
from burnish.text import escape_json, strip_controls

MOST_CHARACTERS = 20_000
NARROW = 60
"""Columns below which a terminal has no room for tables and margins."""
WIDEST = 2_000
"""Columns of a table that no terminal shows."""
COLOURS = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}


def current_folder() -> Path:
    """The current folder, as long as there is one."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise SetupProblem("The current folder has been deleted. Go to one that exists: cd ~") from error


def read_task(sentence: str, task_file: Path | None) -> str:
    """The words of the task, from whichever one source was named."""
    if task_file is not None and sentence:
        raise SetupProblem("Give the task once: either in quotes or with --task-file, not both.")
    text = sentence
    if task_file is not None:
        try:
            text = task_file.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise SetupProblem(
                f"The task file {str(task_file)!r} cannot be read ({reason}). "
                "Name one that can: burnish write --task-file FILE"
            ) from error
    elif sentence == "-":
        try:
            text = sys.stdin.buffer.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise SetupProblem(
                "What came on standard input is not UTF-8 text. Convert it first: iconv -t utf-8 FILE | burnish write -"
            ) from error
    if len(text) > MOST_CHARACTERS:
        raise SetupProblem(
            f"The task is {len(text)} characters long, and a small model reads {MOST_CHARACTERS} at most. "
            f"Shorten it, and try again: burnish write --task-file FILE"
        )
    return text


def print_code(text: str, exact: bytes | None = None) -> None:
    """To a terminal, without escape codes; to a file or a program, as it is. `exact` are its bytes where not UTF-8."""
    if sys.stdout.isatty():
        print(strip_controls(text), end="")
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(exact if exact is not None else text.encode("utf-8", "replace"))
    sys.stdout.flush()


def show_diff(diff: str, console: Console) -> None:
    """Print a unified diff, a line at a time."""
    for line in strip_controls(diff).splitlines():
        style = next((style for mark, style in COLOURS.items() if line.startswith(mark)), "")
        console.print(Text(line, style=style), soft_wrap=True)


def is_narrow(console: Console) -> bool:
    """Whether a person reads this where columns and margins would leave too little room for words."""
    return console.is_terminal and console.width < NARROW


def print_hanging(console: Console, label: Text, text: Text, indent: int = 0) -> None:
    """Print a text beside its label; what is piped stays one line.

    On a terminal whole words wrap: below the text's beginning, at column `indent`, or on a narrow one two columns in.
    """
    if is_narrow(console):
        text = Text.assemble(label, ": ", text) if label else text
        label, indent = Text("" if label else "  "), 2
    else:
        label.pad_right(max(1 if label else 0, indent - label.cell_len))
    lines = text.wrap(console, console.width - indent) if console.is_terminal else [text]
    for place, line in enumerate(lines):
        line.rstrip()
        console.print(Text.assemble(" " * indent if place else label, line), soft_wrap=True)


def print_table(console: Console, table: Table) -> None:
    """Print a table; on a narrow terminal a paragraph a row; to a file or a program as wide as it is, without lines."""
    if is_narrow(console):
        heads = [f"{column.header} ".lstrip() for column in table.columns]
        for row in zip(*(column.cells for column in table.columns), strict=True):
            first, *said = [Text.assemble(cell) for cell in row]
            named = [Text.assemble(head, cell) for head, cell in zip(heads[1:], said, strict=True) if cell]
            print_hanging(console, first, Text("; ").join(named))
        return
    if not console.is_terminal:
        table.box, table.padding = None, (0, 2, 0, 0)
        for column in table.columns:
            column.max_width, column.no_wrap = None, True
        console = Console(file=console.file, width=WIDEST, highlight=False)
    console.print(table)


def json_line(event: BaseEvent) -> str:
    """The event as JSON in which no character is a control character."""
    return escape_json(json.dumps(event.model_dump(mode="json")))


def print_json(text: str) -> None:
    """Print what `--json` asks for."""
    print(escape_json(text.rstrip("\n")))


def print_line(event: BaseEvent) -> None:
    """Print the event at once; a reader who has left is no reason to stop working."""
    try:
        print(json_line(event), flush=True)
    except BrokenPipeError:
        reader_left()


def reader_left() -> None:
    """From here on, what is printed goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


class PatientConsole(Console):
    """A console that falls silent, instead of ending the program, when nobody reads it any more."""

    def on_broken_pipe(self) -> None:
        """Fall silent."""
        self.quiet = True
        reader_left()
