"""No rule, template or prompt knows the sentences by which apps are measured."""

import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.support import ROOT

APPS = ROOT / "src" / "burnish" / "apps"
NOUNS = re.compile(
    r"(?i)(?<![a-z])(?:tasks?|to[-_ ]?dos?|blogs?|comments?|rooms?|bookings?|inventor(?:y|ies)|stocks?)(?![a-z])"
)
NAMES_OF_OTHERS = {"task", '"task"', "tasks", "Task", "to_task", "comment_start_string", "comment_end_string"}
"""In code alone: Burnish's own type for what is asked for, also as a key, and two options of Jinja."""


def read_words(file: Path) -> Iterator[tuple[int, str]]:
    """All that stands in a file, with its line; of code not the names of others."""
    if file.suffix != ".py":
        yield from enumerate(file.read_text("utf-8", "replace").splitlines(), 1)
        return
    with file.open("rb") as opened:
        for token in tokenize.tokenize(opened.readline):
            if token.string not in NAMES_OF_OTHERS:
                yield token.start[0], token.string


def find_nouns(folder: Path) -> list[str]:
    """Each entry reads "planning.py:12: room"."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix != ".pyc")
    return [
        f"{file.relative_to(folder)}:{line}: {noun}"
        for file in files
        for line, words in read_words(file)
        for noun in NOUNS.findall(words)
    ]


def test_no_noun_of_a_case_is_in_a_rule_a_template_or_a_prompt() -> None:
    assert find_nouns(APPS) == []


def test_a_noun_of_a_case_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text('task = "to-do", "low_stock"\nRooms = roomy = taskbar = f"a {task}" # Blog\n')
    (tmp_path / "page.html").write_text("<h1>Comments</h1>")
    found = [one.rpartition(": ")[2] for one in find_nouns(tmp_path)]
    assert found == ["Comments", "to-do", "stock", "Rooms", "task", "Blog"]
