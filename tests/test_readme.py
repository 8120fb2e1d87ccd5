"""What the README shows works: its Python runs, its commands exist, and its offline demo is really run."""

import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from burnish.cli.main import app, main
from tests.support import ROOT

BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
LAUNCHERS = {"burnish", "./burnish"}
OF_THE_LAUNCHER = {"test"}
"""Commands of ./burnish that belong to the clone and not to the package."""


def blocks(text: str, *languages: str) -> list[str]:
    """The fenced blocks in these languages."""
    return [match[2] for match in BLOCK.finditer(text) if match[1] in languages]


def commands(text: str) -> list[list[str]]:
    """The Burnish commands in a page's shell blocks, as lists of arguments."""
    return [words for block in blocks(text, "console", "sh", "bash", "shell") for words in _in_block(block)]


def _in_block(block: str) -> Iterator[list[str]]:
    prompted = bool(re.search(r"^\$ ", block, re.MULTILINE))
    for line in block.replace("\\\n", " ").splitlines():
        if prompted and not line.startswith("$ "):
            continue  # what the command prints
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words and words[0] in LAUNCHERS:
            yield words[1:]


def unknown(arguments: list[str]) -> str:
    """Why the command line would not understand the arguments; empty if it would."""
    if arguments and arguments[0] in OF_THE_LAUNCHER:
        return ""
    command, context, name = get_command(app), None, "burnish"
    try:
        while True:
            context = command.make_context(name, list(arguments), parent=context, resilient_parsing=False)
            if not hasattr(command, "commands") or not context._protected_args:  # type: ignore[union-attr]
                return ""
            name, command, arguments = command.resolve_command(  # type: ignore[attr-defined]
                context,
                [*context._protected_args, *context.args],  # type: ignore[union-attr]
            )
    except typer.Exit:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {getattr(error, 'message', error)}"


README = (ROOT / "README.md").read_text("utf-8")
PAGES = {path.name: path.read_text("utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}


@pytest.mark.slow
def test_every_command_that_is_shown_exists() -> None:
    wrong = [(page, words, why) for page, text in PAGES.items() for words in commands(text) if (why := unknown(words))]
    assert wrong == []


def test_a_command_that_does_not_exist_would_be_seen() -> None:
    text = (
        "```console\n$ burnish wriet x\nburnish: no\n$ ./burnish write --colour 'x'\n```\n```sh\nburnish rate a -x\n```"
    )
    assert [bool(unknown(words)) for words in commands(text)] == [True, True, True]
    fine = (
        "```sh\n./burnish write 'a b' --model scripted:demo  # a comment\nburnish models pull\nburnish --version\n```"
    )
    assert [unknown(words) for words in commands(fine)] == ["", "", ""]


SHOWN = [
    pytest.param(source, id=f"{page} {place}")
    for page in ("README.md", "usage.md", "architecture.md")
    for place, source in enumerate(blocks(PAGES[page], "python"), 1)
]


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
@pytest.mark.parametrize("source", SHOWN)
def test_the_python_that_is_shown_runs(source: str, work_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = re.sub(r"\blocal:[\w.-]+", "scripted:demo", source)
    monkeypatch.setattr("burnish.commands.write.write.__defaults__", ("scripted:demo",))
    exec(compile(source, "a Python block", "exec"), {"__name__": "__main__"})


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_the_offline_commands_really_run(
    work_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = commands(README) + commands(PAGES["usage.md"])
    offline = any("scripted:" in word for words in shown for word in words)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"y\n"), "utf-8"))
    for words in {" ".join(words): words for words in shown if offline}.values():
        needs_data = words[0] == "eval" and "BURNISH_DATA" not in os.environ
        if needs_data or not any("scripted:" in word for word in words):
            continue
        monkeypatch.setattr(sys, "argv", ["burnish", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (None, 0), (words, capsys.readouterr())


def test_the_readme_names_no_machine() -> None:
    for page, text in PAGES.items():
        assert not re.search(r"/(home|root|work|Users)/", text), page


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len(README.split()) <= 1000


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda path: path.name
)
def test_links_lead_to_files_that_exist(page: Path) -> None:
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))]
    assert [link for link in links if link and "://" not in link and not (page.parent / link).exists()] == []
