"""Where a task's words come from: the command line, standard input, or a file."""

import sys
from pathlib import Path

from burnish.errors import SetupProblem

MOST_CHARACTERS = 20_000


def task_text(sentence: str, task_file: Path | None) -> str:
    """The words of the task, from whichever one source was named."""
    if task_file is not None and sentence:
        raise SetupProblem("Give the task once: either in quotes or with --task-file, not both.")
    text = _from_file(task_file) if task_file else _from_stdin() if sentence == "-" else sentence
    if len(text) > MOST_CHARACTERS:
        raise SetupProblem(
            f"The task is {len(text)} characters long, and a small model reads {MOST_CHARACTERS} at most. "
            f"Shorten it, and try again: burnish write --task-file FILE"
        )
    return text


def _from_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SetupProblem(
            "What came on standard input is not UTF-8 text. Convert it first: iconv -t utf-8 FILE | burnish write -"
        ) from error


def _from_file(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SetupProblem(
            f"The task file {str(path)!r} cannot be read ({reason}). Name one that can: burnish write --task-file FILE"
        ) from error
