"""`burnish eval`: what a person sees, what a program reads, and which exit code says who has to act."""

import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from burnish.evals.eval_store import Folder, list_evaluations
from burnish.sandbox import Sandbox, open_sandbox
from tests.cli.conftest import Call
from tests.evals.toys import jsonl, toy, toys
from tests.support import ESC, assert_words, block

GOLD = ("--model", "scripted:gold", "--strategy", "single")


@pytest.fixture(autouse=True)
def one_box(box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluations in this process use the session's sandbox, which saves each the second of opening its own."""

    def opened(kind: str, **settings: Any) -> AbstractContextManager[Sandbox]:
        return nullcontext(box) if kind == "auto" else open_sandbox(kind, **settings)

    monkeypatch.setattr("burnish.evals.runner.open_sandbox", opened)
    # tests/evals/test_plots.py draws them
    monkeypatch.setattr("burnish.evals.reports.report.draw_plots", lambda *_, **__: {})
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def suite(work_folder: Path) -> str:
    """Twelve toy tasks in a file of the user's."""
    return jsonl(work_folder / "mine.jsonl", toys(12)).name


def results() -> dict[str, Any]:
    """The figures of the newest evaluation."""
    found: dict[str, Any] = json.loads((list_evaluations()[0] / "results.json").read_text())
    return found


def scripted(path: Path, replies: list[str] | dict[str, list[str]]) -> str:
    path.write_text(json.dumps(replies))
    return f"scripted:{path}"


@pytest.mark.slow
def test_a_person_sees_the_numbers_their_protocol_and_where_the_files_are(call: Call, suite: str) -> None:
    told = call("eval", suite, *GOLD)
    [folder] = list_evaluations()
    assert (told.code, told.err) == (0, "")
    for part in (str(folder / "report.html"), f"burnish compare {folder.name} OTHER"):
        assert part in told.out
    assert_words(told.out)
    for name in ("results.json", "report.md", "report.html"):
        assert (folder / name).is_file()


@pytest.mark.slow
def test_buggy_solves_nothing_and_says_so(call: Call, suite: str) -> None:
    told = call("eval", suite, "--model", "scripted:buggy", "--strategy", "single", "--protocol", "oracle")
    assert told.code == 0
    assert (results()["solved"], results()["finished"], results()["protocol"]) == (0, 12, "oracle")


def test_json_is_the_results_file_and_nothing_else(call: Call, suite: str) -> None:
    told = call("eval", suite, *GOLD, "--json", "--limit", "3")
    results = json.loads(told.out)
    assert (results["suite"], results["protocol"], results["pass_at_1"]) == ("mine.jsonl", "visible", [1.0])
    assert told.out == (list_evaluations()[0] / "results.json").read_text()
    assert (results["solved"], results["finished"]) == (3, 3)


def test_verbose_has_a_line_for_each_attempt(call: Call, suite: str, tmp_path: Path) -> None:
    model = scripted(tmp_path / "s.json", [block("def add_1(x):\n    return x + 1")])
    told = call("eval", suite, "--model", model, "--strategy", "single", "--limit", "2", "-v")
    lines = told.out.splitlines()
    assert [line for line in lines if line.startswith("toy-1 ")][0].split()[1] == "solved"
    [failed] = [line for line in lines if line.startswith("toy-2 ")]
    assert "failed (1 call" in failed


@pytest.mark.slow
def test_more_seeds_make_more_attempts(call: Call, suite: str) -> None:
    call("eval", suite, *GOLD, "--limit", "2", "--seeds", "3")
    assert (results()["solved"], results()["finished"]) == (6, 6)
    call("eval", suite, *GOLD, "--limit", "2", "--seed", "7")
    assert Folder.open(list_evaluations()[0]).plan.seeds == (7,)


@pytest.mark.slow
def test_a_limit_seeds_that_are_added_and_a_replay_are_said_on_the_screen(call: Call, suite: str) -> None:
    told = call("eval", suite, *GOLD, "--limit", "3", "--tokens", "10", "--out", "here")
    assert (told.code, "--tokens 20" in told.out) == (1, True)
    assert_words(told.out)
    told = call("eval", "resume", "here", "--tokens", "99999", "--seeds", "2", "--json")
    assert [json.loads(told.out)[key] for key in ("finished", "stopped_by", "seeds")] == [6, "", [0, 1]]
    told = call("eval", suite, "--replay", "here", "--seed", "1")
    assert (told.code, results()["replayed"], results()["solved"], results()["seeds"]) == (0, "here", 3, [1])
    assert_words(told.out)


@pytest.mark.slow
def test_out_names_the_folder_and_the_same_command_goes_on_there(call: Call, suite: str, work_folder: Path) -> None:
    assert call("eval", suite, *GOLD, "--out", "here").code == 0
    attempts = sorted((work_folder / "here" / "attempts").iterdir())
    before = [path.stat().st_mtime_ns for path in attempts]
    attempts.pop().unlink()
    told = call("eval", suite, *GOLD, "--out", "here")
    assert told.code == 0
    assert_words(told.out)
    assert [path.stat().st_mtime_ns for path in attempts] == before[:-1]
    assert f"burnish compare {work_folder / 'here'} OTHER" in told.out
    told = call("eval", suite, *GOLD, "--out", "here", "--rounds", "1")
    assert told.code == 2
    assert_words(told.err)


@pytest.mark.slow
def test_resume_of_a_finished_one_only_writes_its_reports_anew(call: Call, suite: str) -> None:
    first = call("eval", suite, *GOLD)
    report = list_evaluations()[0] / "report.html"
    report.unlink()
    told = call("eval", "resume", list_evaluations()[0].name[:-2])
    assert told.code == 0
    assert report.is_file()
    assert results()["solved"] == 12
    assert first.out.splitlines()[-1] == told.out.splitlines()[-1]


@pytest.mark.slow
def test_resume_refuses_data_that_has_changed(call: Call, suite: str, work_folder: Path) -> None:
    call("eval", suite, *GOLD)
    next((list_evaluations()[0] / "attempts").iterdir()).unlink()
    jsonl(work_folder / suite, [*toys(11), toy(99)])
    told = call("eval", "resume")
    assert told.code == 2
    assert_words(told.err)


@pytest.mark.slow
def test_an_evaluation_that_another_process_works_on_is_left_alone(call: Call, suite: str) -> None:
    call("eval", suite, *GOLD)
    with Folder.open(list_evaluations()[0]).lock():
        told = call("eval", "resume")
    assert told.code == 2
    assert_words(told.err)


@pytest.mark.slow
def test_resume_works_from_another_folder(
    call: Call, suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("eval", suite, *GOLD)
    next((list_evaluations()[0] / "attempts").iterdir()).unlink()
    monkeypatch.chdir(tmp_path)
    call("eval", "resume")
    assert results()["solved"] == 12


def test_attempts_that_broke_are_named_with_the_reason_and_if_all_did_the_exit_code_is_1(
    call: Call, suite: str, tmp_path: Path
) -> None:
    model = scripted(tmp_path / "none.json", [])
    told = call("eval", suite, "--model", model, "--strategy", "single", "--limit", "2")
    assert told.code == 1
    assert (results()["errors"], results()["solved"]) == (2, 0)
    assert "toy-1.0: ModelError: " in told.out


@pytest.mark.slow
def test_too_many_errors_stop_with_the_reason_and_exit_code_1(call: Call, work_folder: Path, tmp_path: Path) -> None:
    jsonl(work_folder / "mine.jsonl", toys(60))
    told = call("eval", "mine.jsonl", "--model", scripted(tmp_path / "none.json", []), "--strategy", "single")
    assert told.code == 1
    assert f"burnish eval resume {list_evaluations()[0].name}" in told.err
    assert 0 < results()["errors"] == results()["finished"] < results()["planned"] == 60


def test_a_broken_row_is_named_and_left_out(call: Call, work_folder: Path) -> None:
    bad = toy(3).model_copy(update={"gold": toy(3).base_code})
    jsonl(work_folder / "mine.jsonl", [toy(1), bad, toy(2)])
    told = call("eval", "mine.jsonl", *GOLD)
    assert told.code == 0
    assert [row["id"] for row in results()["broken"]] == ["toy-3"]
    assert "\n  toy-3: " in told.out
    assert (results()["solved"], results()["finished"]) == (2, 2)


def test_json_holds_no_character_that_a_terminal_obeys(call: Call, work_folder: Path) -> None:
    jsonl(work_folder / "mine.jsonl", [toy(1).model_copy(update={"id": "toy\x9b31m\u202e1"})])
    told = call("eval", "mine.jsonl", *GOLD, "--json")
    assert json.loads(told.out)["attempts"][0]["task_id"] == "toy\x9b31m\u202e1"
    assert not {"\x9b", "\u202e"} & set(told.out)


@pytest.mark.parametrize(
    "arguments",
    [
        ("humanevalfixx",),
        ("mine.jsonl", "--strategy", "retyr"),
        ("mine.jsonl", "--model", "gpt-17"),
        ("mine.jsonl", "--model", "scripted:golf"),
        ("mine.jsonl", "--protocol", "secret"),
        ("mine.jsonl", "--ask", "nicely"),
        ("mine.jsonl", "--split", "train"),
        ("mine.jsonl", "--sandbox", "bath"),
        ("mine.jsonl", "--rounds", "-1"),
        ("mine.jsonl", "--seeds", "0"),
        ("mine.jsonl", "--out", "full"),
        ("mine.jsonl", "--tokens", "0"),
        ("mine.jsonl", "--seconds", "-1"),
        ("mine.jsonl", "--dollars", "-0.5"),
        ("mine.jsonl", "--timeout", "0"),
        ("mine.jsonl", "--replay", "full"),
        ("resume", "--replay", "full"),
        ("nowhere.jsonl",),
        ("resume", "nope"),
        ("resume",),
        ("resume", "--rounds", "9"),
        ("mine.jsonl", "other.jsonl"),
        ("list", "extra"),
        ("list", "--rounds", "3"),
        (),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_paragraph_and_exit_code_2(
    call: Call, suite: str, work_folder: Path, arguments: tuple[str, ...]
) -> None:
    (work_folder / "full").mkdir()
    (work_folder / "full" / "thesis.tex").touch()
    model = () if "--model" in arguments or not arguments or arguments[0] == "resume" else ("--model", "scripted:gold")
    told = call("eval", *arguments, *model)
    assert told.code == 2
    if told.err.startswith("burnish: "):
        assert_words(told.err)
    else:  # the parser of the command line has words of its own
        assert any(word.strip("-") in told.err for word in arguments or ("suite",))
    assert "Traceback" not in told.err
    assert list_evaluations() == []


def test_gold_outside_an_evaluation_is_explained(call: Call) -> None:
    told = call("write", "a function f(x), e.g. f(1) == 1", "--model", "scripted:gold")
    assert (told.code, "burnish eval" in told.err) == (2, True)


def test_list_names_suites_strategies_and_what_was_made(call: Call, suite: str) -> None:
    call("eval", suite, *GOLD, "--limit", "2")
    told = call("eval", "list")
    for part in ("humanevalfix", "mbpp", "single", "retry", "reflect", "burnish", list_evaluations()[0].name, "2/2"):
        assert part in told.out
    assert {"suites", "strategies", "evaluations"} == json.loads(call("eval", "list", "--json").out).keys()


WILD = f"{ESC}[31mred{ESC}]0;title\x07[bold red]markup[/bold red]\x9b2J"


def test_escapes_and_markup_in_data_and_answers_are_never_obeyed(call: Call, work_folder: Path, tmp_path: Path) -> None:
    tasks = [toy(n, id_=f"{n}{WILD}") for n in (1, 2)]
    jsonl(work_folder / "mine.jsonl", [*tasks, toy(3, f"broken{WILD}").model_copy(update={"gold": "x"})])
    model = scripted(tmp_path / "s.json", [block(f"def add_1(x):\n    raise ValueError('''{WILD}''')")])
    told = call("eval", "mine.jsonl", "--model", model, "--strategy", "single", "-v")
    assert told.code == 0
    for text in (told.out, told.err):
        assert not {ESC, "\x07", "\x9b"} & set(text)
    assert "[bold red]markup[/bold red]" in told.out
