"""What a person is asked in the terminal: about assumptions (`--ask`), and about what there is (`--review`).

What a model wrote is shown and never obeyed. Answers of a review may come from a pipe, a line each.
"""

import io
import itertools
import os
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.agent.ask import Checkpoint
from burnish.agent.questions import LETTERS
from burnish.cli.io import print_table
from burnish.cli.screen import CHECK_COLOURS
from burnish.errors import SetupProblem
from burnish.events import QuestionAsked, Reviewed
from burnish.report.narrate import as_sentence
from burnish.text import one_line, strip_controls

HELP = "[Enter] go on · c WORDS change · 3: WORDS comment on line 3 · e edit (e FILE: take this file) · q stop"
QUESTION_HELP = "A letter · the value, if it is something else · Enter: do not care · Ctrl-D: leave it open"
HEADS = {
    "tests": "The tests, before they are frozen. What you change or add decides.",
    "checks": "The code and what the checks say of it, before the verdict.",
    "plan": "The plan, before anything is built. Switches can be turned, and all of it be edited.",
}
_COMMENT = re.compile(r"(?:line\s+)?(\d{1,6})\s*:\s*(.+)", re.IGNORECASE)
_CHANGE = re.compile(r"(?:c|change)\b[\s:]*(.*)", re.IGNORECASE)
_EDIT = re.compile(r"(?:e|edit)(?:\s+(.+))?", re.IGNORECASE)
MOST_ODD = 20
"""Lines from a pipe that are no answer, one after the other, before it is taken to hold none."""
MOST_BYTES = 1_000_000
"""Of a file that a person hands in."""
GO_ON, STOP = ("", "go on", "go", "ok", "y", "yes"), ("q", "quit", "stop")


def check_somebody_is_there(ask: bool, review: bool, silent: bool, command: str = 'burnish write "…"') -> None:
    """Refuse to ask or to show anything where nobody could see it or answer."""
    if ask and not can_ask(silent):
        raise SetupProblem(
            "There is nobody to ask: --ask needs a terminal to read from and to show questions in, without --quiet, "
            "--events and --json. Say in the sentence what should hold at the edges, and leave out --ask."
        )
    if review and silent:
        raise SetupProblem(
            "--review shows you the tests and the code and waits for an answer, so it does not go with --quiet, "
            f"--events and --json. Leave those out: {command} --review"
        )
    if review and not can_review(silent):
        raise SetupProblem(
            "There is nobody to look: --review needs a terminal, or answers on standard input, a line each (an empty "
            f'line goes on). Leave out --review, or type: yes "" | {command} --review'
        )


def can_ask(silent: bool) -> bool:
    """Whether somebody sees a question and can answer it."""
    return not silent and sys.stdin.isatty() and sys.stdout.isatty()


def can_review(silent: bool) -> bool:
    """Whether somebody sees what is shown and can answer: a person, or lines in a pipe that is not at its end."""
    if silent or sys.stdin is None or sys.stdin.closed:
        return False
    if sys.stdin.isatty():
        return sys.stdout.isatty()
    try:
        waiting = select.select([sys.stdin], [], [], 0)[0]
    except (OSError, ValueError):  # not a file of the system's
        waiting = [sys.stdin]
    source = sys.stdin.buffer
    return not waiting or not isinstance(source, io.BufferedReader) or bool(source.peek(1))


def show(shown: Checkpoint, console: Console) -> None:
    """The file with its lines numbered, and at the end what the checks say."""
    console.print()
    console.print(Text(HEADS[shown.where], style="bold"), soft_wrap=True)
    for number, line in enumerate((shown.tests if shown.where == "tests" else shown.code).rstrip().split("\n"), 1):
        console.print(Text.assemble((f"{number:>4}  ", "dim"), (strip_controls(line), "cyan")), soft_wrap=True)
    if shown.evidence:
        table = Table("check", "answer", "figure", "why", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for item in shown.evidence:
            answer = Text(item.verdict.replace("_", " "), style=CHECK_COLOURS[item.verdict])
            figure, why = Text(one_line(item.figure, 40)), Text(one_line(item.why, 160))
            table.add_row(Text(item.check, style="bold"), answer, figure, why)
        console.print()
        print_table(console, table)
    if shown.note:
        console.print(Text(one_line(shown.note, 400), style="yellow"), soft_wrap=True)


def show_question(asked: QuestionAsked, console: Console) -> None:
    """The call on which versions differ, and what they give for it, each with the letter to type."""
    console.print()
    console.print(Text(f"{as_sentence(asked.why)} What should this give?", style="bold"), soft_wrap=True)
    console.print(Text(f"  {one_line(asked.call, 200)}", style="cyan"), soft_wrap=True)
    for letter, option in zip(LETTERS, asked.options, strict=False):
        console.print(Text.assemble((f"  [{letter}] ", "bold"), one_line(option.value, 200)), soft_wrap=True)
    console.print(Text(QUESTION_HELP, style="dim"), soft_wrap=True)


def ask_for_answer(shown: Checkpoint, console: Console) -> Reviewed:
    """What the person says, asked for until it can be understood.

    Raises EOFError at the end of the input, and where a pipe holds no answer: that might never end.
    """
    console.print(Text(HELP, style="dim"), soft_wrap=True)
    person = sys.stdin.isatty()
    for _ in itertools.count() if person else range(MOST_ODD):
        line = strip_controls(input("> ")).strip()
        if not person:  # nobody has seen it typed
            console.print(Text(line), soft_wrap=True)
        said = read_answer(line, shown)
        if isinstance(said, Reviewed):
            return said
        console.print(Text(strip_controls(said), style="yellow"), soft_wrap=True)
    raise EOFError


def read_answer(line: str, shown: Checkpoint) -> Reviewed | str:
    """A line as an answer, or why it is none."""
    if line.lower() in GO_ON:
        return Reviewed(where=shown.where, said="go_on")
    if line.lower() in STOP:
        return Reviewed(where=shown.where, said="stop")
    if comment := _COMMENT.fullmatch(line):
        return Reviewed(where=shown.where, said="comment", words=comment[2], line=int(comment[1]))
    if change := _CHANGE.fullmatch(line):
        said = Reviewed(where=shown.where, said="change", words=change[1])
        return said if change[1] else "Say what to change, e.g.: c raise ValueError below zero"
    if wanted := _EDIT.fullmatch(line):
        try:
            text = read_file(Path(wanted[1].strip("'\"")).expanduser()) if wanted[1] else edit_in_editor(shown)
        except SetupProblem as problem:
            return str(problem)
        return Reviewed(where=shown.where, said="edited", text=text)
    return f"That is no answer here. {HELP}"


def edit_in_editor(shown: Checkpoint) -> str:
    """What is shown, as the person leaves it in their editor, which has the terminal meanwhile.

    Raises SetupProblem where there is no editor, where it fails, and where nothing was changed.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SetupProblem("An editor needs a terminal. Edit the file elsewhere, and name it: e FILE")
    names = {"tests": "test_solution.py", "checks": "solution.py", "plan": "blueprint.json"}
    before, name = shown.tests if shown.where == "tests" else shown.code, names[shown.where]
    command = find_editor()
    with tempfile.TemporaryDirectory(prefix="burnish-review-") as folder:
        file = Path(folder) / name
        file.write_text(before, "utf-8", "replace")
        try:
            # not in the current folder, which may be a stranger's: some editors obey files that lie there
            code = subprocess.run([*command, str(file)], cwd=folder).returncode
        except OSError as error:
            raise SetupProblem(
                f"The editor {command[0]!r} could not be started ({error.strerror}). Hand in a file instead: e FILE"
            ) from error
        if code:
            raise SetupProblem(f"The editor ended with {code}, so nothing was taken from it. Try again: e")
        text = read_file(file)
    if text == before:
        raise SetupProblem("Nothing was changed in the editor. Press Enter to go on with it as it is.")
    return text


def find_editor() -> list[str]:
    """The person's own editor, else one that is usually there."""
    named = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip()
    found = named or shutil.which("nano") or shutil.which("vi")
    if not found:
        raise SetupProblem("There is no editor. Name one before you start, export EDITOR=…, or hand in a file: e FILE")
    try:
        return shlex.split(found)
    except ValueError:
        return [found]


def read_file(file: Path) -> str:
    """The text of a file that a person edited. Raises SetupProblem where it cannot be read."""
    try:
        if file.exists() and not file.is_file():
            raise SetupProblem(f"{str(file)!r} is no plain file. Name a file of Python code: e FILE")
        if file.stat().st_size > MOST_BYTES:
            raise SetupProblem(f"{str(file)!r} is too large. Name a file of Python code: e FILE")
        return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SetupProblem(f"{str(file)!r} cannot be read ({reason}). Name another one: e FILE") from error
