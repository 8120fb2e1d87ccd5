"""`burnish verify` at the terminal: exit codes, one last sentence, and nothing in a folder that a terminal obeys."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.evidence.delivered import FAST, copy, deliver, edit, replace
from tests.support import DOUBLE, ESC, assert_words


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("delivered") / "double"
    deliver(folder)
    return folder


@pytest.fixture
def folder(honest: Path, tmp_path: Path) -> Path:
    return copy(honest, tmp_path)


@pytest.mark.slow
def test_an_honest_folder_ends_with_0_and_a_plain_sentence(call: Call, folder: Path) -> None:
    told = call("verify", str(folder))
    assert told.code == 0, told.err
    progress, _, result = told.out.partition("\n\n")  # two threads check, so the order of their lines varies
    assert len(progress.splitlines()) == len(FAST) - 1
    assert_words(result)


@pytest.mark.slow
def test_what_was_not_looked_at_is_named(call: Call, folder: Path) -> None:
    (folder / ".git").mkdir()
    told = call("verify", str(folder), "--fast")
    assert told.code == 0, told.err
    assert any(line.startswith(".git ") for line in told.out.splitlines())


@pytest.mark.slow
def test_what_does_not_hold_ends_with_1_and_is_named(call: Call, folder: Path) -> None:
    edit(folder, lambda data: data["checks"][-1].update(figure="99 of 100"))
    told = call("verify", str(folder))
    assert told.code == 1
    assert "99 of 100" in told.out
    assert_words(told.out.splitlines()[-1])


@pytest.mark.slow
def test_a_tampered_folder_ends_with_1_and_says_what_changed(call: Call, folder: Path) -> None:
    replace(folder / "solution.py", "n * 2", "n + n")
    told = call("verify", str(folder), "--sandbox", "nowhere")
    assert told.code == 1
    assert_words(told.out)


def test_bad_input_ends_with_2_and_one_paragraph(call: Call, folder: Path) -> None:
    (folder / "evidence.json").write_text("{")
    told = call("verify", str(folder))
    assert (told.code, told.out) == (2, "")
    assert_words(told.err)
    assert told.err.count("\n") == 1
    assert call("verify", str(folder / "nothing")).code == 2


@pytest.mark.slow
def test_a_machine_gets_json_and_nothing_else(call: Call, folder: Path) -> None:
    told = call("verify", str(folder), "--json", "--fast")
    found = json.loads(told.out)
    assert (found["ending"], found["verdict"], found["changed"]) == ("holds", "plausible", [])
    assert {claim["what"] for claim in found["claims"]} == {"verdict", *FAST, "record"}
    assert told.err


def test_names_and_words_in_a_folder_are_shown_and_never_obeyed(call: Call, folder: Path) -> None:
    (folder / f"[bold]{ESC}[31mx.py").write_text("")
    told = call("verify", str(folder))
    assert told.code == 1
    assert "[bold]x.py" in told.out
    assert ESC not in told.out


def test_show_prints_who_made_what(call: Call, honest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_HOME", str(honest.parent / "home"))
    found = json.loads(call("show", "last", "--evidence").out)
    assert found["task"]["words"] == DOUBLE
    assert found["code"]["steps"][-1]["made"]["model"] == "scripted:inline"
    assert (found["tools"], found["files"]) == ({}, {}), "which they were then, nobody knows any more"
