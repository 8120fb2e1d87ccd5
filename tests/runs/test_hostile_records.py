"""Records that are damaged, or written to do harm: each is shown with its reason, and none ends in a traceback."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from burnish.cli.main import app
from burnish.errors import SetupProblem
from burnish.events import Asked, Broke, Message, ModelReplied, RunFinished, RunStarted, write_event
from burnish.model_choice import last_speeds
from burnish.runs import Record, Store, read_record
from burnish.runs.record import FILE

START: dict[str, Any] = {
    "kind": "run_started",
    "version": 1,
    "at": 1_700_000_000.0,
    "run_id": "bad-0000",
    "verb": "write",
    "prompt": "p",
    "model": "openai:x",
    "burnish": "0",
}
REPLY = {
    "kind": "model_replied",
    "at": 1_700_000_009.0,
    "ask_id": "a",
    "purpose": "draft",
    "text": "x",
    "tokens_in": 100,
    "tokens_out": 50,
    "seconds": 3.0,
    "dollars": 0.5,
}
ABSURD_TIMES = [1e9 * 31_557_600, 1e308, -1.0, float("nan"), float("inf"), "tomorrow", None, [], 10**400, True + 1e15]
ABSURD_REPLIES: list[dict[str, Any]] = [
    {"tokens_in": 10**30},
    {"tokens_out": -5},
    {"tokens_in": float("nan")},
    {"tokens_out": "many"},
    {"seconds": float("inf")},
    {"seconds": -1e300},
    {"dollars": float("nan")},
    {"dollars": -3.0},
    {"text": "\ud800"},
    {"text": ["x"]},
    {"ended": "never"},
    {"unheard": "of"},
]


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def plant(store: Store, *rows: dict[str, Any] | str, run_id: str = "bad-0000") -> Path:
    folder = store.runs / run_id
    folder.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / FILE).write_text("".join(f"{line}\n" for line in lines))
    return folder


def command(store: Store, *words: str) -> tuple[int, str]:
    """The exit code of a command, and what it says; raises what would be a traceback."""
    ran = CliRunner().invoke(app, list(words), env={"BURNISH_HOME": str(store.folder), "COLUMNS": "400"})
    if ran.exception and not isinstance(ran.exception, SystemExit | SetupProblem):
        raise ran.exception
    return ran.exit_code, ran.output + str(ran.exception or "")


@pytest.mark.slow
@pytest.mark.parametrize("at", ABSURD_TIMES, ids=lambda at: repr(at)[:12])
def test_a_record_with_an_absurd_time_is_listed_as_unreadable(store: Store, at: object) -> None:
    plant(store, START | {"at": at}, REPLY)
    [row] = store.list()
    assert (row.id, row.state) == ("bad-0000", "unreadable")
    assert row.why
    assert "unreadable" in command(store, "runs")[1]
    assert json.loads(command(store, "runs", "--json")[1])[0]["why"] == row.why


@pytest.mark.parametrize("at", ABSURD_TIMES, ids=lambda at: repr(at)[:12])
@pytest.mark.parametrize("verb", ["show", "explain", "resume", "rate"])
def test_no_command_falls_over_an_absurd_time(store: Store, at: object, verb: str) -> None:
    plant(store, START | {"at": at}, REPLY | {"at": at})
    code, said = command(store, verb, "bad-0000", *(["5"] if verb == "rate" else []))
    assert code != 0
    assert "bad-0000" in said


@pytest.mark.parametrize("wrong", ABSURD_REPLIES, ids=lambda wrong: repr(wrong)[:24])
def test_a_reply_with_absurd_numbers_makes_its_run_unreadable_and_no_other(store: Store, wrong: dict[str, Any]) -> None:
    plant(store, START | {"run_id": "good-0000"}, REPLY, run_id="good-0000")
    plant(store, START, REPLY | wrong)
    assert {row.id: row.state for row in store.list()} == {"good-0000": "unfinished", "bad-0000": "unreadable"}
    assert last_speeds(store.folder).keys() == {START["model"]}


@pytest.mark.parametrize(
    "line", ["[" * 100_000, "\x00" * 100, '{"kind": "model_replied"', "5", '{"a":' * 50_000], ids=range(5)
)
def test_a_line_that_is_no_object_is_passed_over(store: Store, line: str) -> None:
    plant(store, START, line, REPLY)
    assert store.open("bad-0000").tokens_out == 50


@pytest.mark.parametrize("version", [2, 99, 10**20])
def test_a_run_of_a_newer_burnish_is_listed_with_its_version(store: Store, version: int) -> None:
    plant(store, START | {"version": version, "new_field": 1}, {"kind": "unheard_of"})
    [row] = store.list()
    assert row.state == "unreadable"
    assert str(version) in row.why
    assert str(version) in command(store, "runs")[1]


@pytest.mark.parametrize("verb", ["show", "explain", "resume"])
def test_a_run_of_a_newer_burnish_is_one_paragraph_everywhere(store: Store, verb: str) -> None:
    plant(store, START | {"version": 99})
    code, said = command(store, verb, "bad-0000")
    assert code != 0
    assert "99" in said
    assert "\n\n" not in said.strip()


def test_the_last_run_is_the_last_that_can_be_read(store: Store) -> None:
    plant(store, START | {"run_id": "good-0000"}, run_id="good-0000")
    plant(store, START | {"version": 99})
    assert store.open("last").id == "good-0000"


@pytest.mark.parametrize("run_id", ["../../elsewhere", "/etc", "other-0000", ""])
def test_a_record_that_names_another_folder_is_not_followed(store: Store, run_id: str) -> None:
    plant(store, START | {"run_id": run_id})
    with pytest.raises(SetupProblem, match="bad-0000"):
        store.open("bad-0000")


def test_a_line_that_is_there_twice_counts_once(store: Store) -> None:
    asked = json.loads(
        Asked(
            ask_id="a",
            purpose="draft",
            messages=(Message(role="user", content="x"),),
            temperature=0,
            top_p=1,
            max_tokens=9,
            seed=1,
        ).model_dump_json()
    )
    lost = {"kind": "answer_lost", "at": 1_700_000_005.0, "ask_id": "a", "model": "m", "tokens": 7, "dollars": 0.1}
    rows = [START, asked, lost, REPLY, {"kind": "run_finished", "verdict": "failed", "why": "x", "at": 1_700_000_010.0}]
    plant(store, *rows, *rows, *rows[1:])
    run = store.open("bad-0000")
    assert (run.calls, run.tokens_in, run.tokens_out, run.dollars) == (1, 100, 50, 0.6)
    [account] = [one for one in run.accounts if one.model != "m"]
    assert (account.asks, account.tokens_out) == (1, 50)
    assert len(run.events) == len(rows)


def test_the_same_answer_at_another_moment_is_another_answer(store: Store) -> None:
    plant(store, START, REPLY, REPLY | {"at": 1_700_000_020.0})
    assert store.open("bad-0000").tokens_out == 100


def test_words_that_no_file_can_hold_are_written_with_a_mark(tmp_path: Path) -> None:
    with Record(tmp_path) as record:
        record.append(RunStarted.model_validate(START | {"prompt": "a"}).model_copy(update={"prompt": "a\udcffb"}))
        record.append(Broke(error="E", message="x\ud800"))
    started, broke = read_record(tmp_path)
    assert isinstance(started, RunStarted)
    assert isinstance(broke, Broke)
    assert (started.prompt, broke.message) == ("a\ufffdb", "x\ufffd")
    assert write_event(broke).decode() == broke.model_dump_json() + "\n"


def test_a_record_of_gigabytes_is_not_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.runs.record.MOST_BYTES", 1000)
    plant(store, START, *[REPLY] * 10)
    assert [row.state for row in store.list()] == ["unreadable"]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_only_their_owner_may_read_records(store: Store, umask: int) -> None:
    os.umask(umask)
    _, record = store.begin("mine")
    with record:
        record.append(RunStarted.model_validate(START))
        record.append(RunFinished(verdict="failed", why="x"))
    store.list()
    assert {mode(path) for path in (store.folder, store.runs, record.path.parent)} == {0o700}
    assert {mode(path) for path in (record.path, store.folder / "index.json")} == {0o600}


def test_records_that_all_could_read_are_closed_when_they_are_opened(store: Store) -> None:
    folder = plant(store, START, REPLY)
    store.list()
    for path, open_to_all in ((store.runs, 0o755), (folder, 0o755), (folder / FILE, 0o644)):
        path.chmod(open_to_all)
    (store.folder / "index.json").chmod(0o644)
    store.list()
    assert (mode(store.runs), mode(store.folder / "index.json")) == (0o700, 0o600)
    store.take_up("bad-0000").close()
    assert (mode(folder), mode(folder / FILE)) == (0o700, 0o600)


def test_a_home_that_is_there_already_keeps_its_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)  # it may be a folder that others use too
    Store(tmp_path).begin("mine")[1].close()
    assert mode(tmp_path) == 0o755
    assert mode(tmp_path / "runs") == 0o700


def test_a_record_is_never_open_to_others_not_even_while_it_is_made(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.umask(0)
    monkeypatch.setattr(os, "fchmod", lambda *_: None)
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    _, record = store.begin("mine")
    with record:
        record.append(RunStarted.model_validate(START))
    store.list()
    assert mode(record.path) == mode(store.folder / "index.json") == 0o600
    assert mode(record.path.parent) == mode(store.runs) == 0o700


def test_an_answer_on_record_is_valid_text(tmp_path: Path) -> None:
    reply = ModelReplied.model_validate(REPLY).model_copy(update={"text": "\udfff"})
    with Record(tmp_path) as record:
        record.append(reply)
    assert (tmp_path / FILE).read_bytes().decode("utf-8")
