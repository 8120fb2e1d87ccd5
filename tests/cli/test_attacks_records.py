"""Runs that a stranger sends, taken up or delivered: no code runs without isolation, no file leaves its folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from burnish import SetupProblem, Store
from burnish.cli.session import save_diff_file
from burnish.commands.resume import resume
from burnish.events import CodeProposed, RunFinished, RunStarted, SpecAgreed
from burnish.runs import Record
from tests.cli.conftest import Call
from tests.support import ESC, GOOD, script

CODE = "def double(n):\n    return 2 * n\n"
MINE = "x = 'mine'\n"


def forged(store: Store, *, finished: bool = True, verb: str = "write", task: Any = None, **settings: Any) -> str:
    """A run as a stranger may write it down."""
    folder = store.runs / "double-abcd"
    folder.mkdir(parents=True)
    told = {"id": "double", "prompt": "a function double(n)", "entry_point": "double", "signature": "double(n)"}
    told |= {"visible_tests": ["assert double(2) == 4"], **(task or {})}
    with Record(folder) as record:
        record.append(
            RunStarted(
                run_id=folder.name,
                verb=verb,
                prompt="a function double(n)",
                model="scripted:demo",
                burnish="0",
                settings={"task": told, **settings},
            )
        )
        if finished:
            record.append(SpecAgreed(entry_point="double", signature="double(n)"))
            record.append(CodeProposed(version=1, code=CODE, by="draft"))
            record.append(RunFinished(verdict="proven", why="because", version=1))
    return folder.name


def test_a_record_cannot_say_that_its_code_runs_without_isolation(store: Store, tmp_path: Path) -> None:
    mark = tmp_path / "ran-on-the-host"
    test = f"assert open({str(mark)!r}, 'w').write('x') and double(2) == 4"
    answers = tmp_path / "script.json"
    answers.write_text(json.dumps(script(draft=GOOD)))
    name = forged(store, finished=False, sandbox="process", task={"visible_tests": [test]})
    said = ""
    try:
        resume(name, f"scripted:{answers}", store=store)
    except SetupProblem as problem:
        said = str(problem)
    assert not mark.exists()
    assert said.endswith("--sandbox process")


@pytest.mark.parametrize("dots", [True, False])
def test_a_module_of_a_record_leads_to_no_file_outside_of_the_folder(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dots: bool
) -> None:
    mine = tmp_path / "user" / "settings.py"
    mine.parent.mkdir()
    mine.write_text(MINE)
    module = "../user/settings" if dots else str(mine.with_suffix(""))
    name = forged(store, task={"module": module}, out=str(tmp_path / "out"))
    with pytest.raises(SetupProblem):
        resume(name, store=store)
    assert mine.read_text() == MINE
    assert sorted(path.name for path in mine.parent.iterdir()) == ["settings.py"]


@pytest.mark.parametrize("name", ["../outside", "/absolute", "a/b", f"x{ESC}[31m"])
def test_the_id_of_a_task_on_record_leads_to_no_other_folder(
    store: Store, call: Call, work_folder: Path, name: str
) -> None:
    wanted = str(work_folder.parent / "absolute") if name == "/absolute" else name
    told = call("resume", forged(store, task={"id": wanted}))
    assert not (work_folder.parent / "outside").exists()
    assert not (work_folder.parent / "absolute").exists()
    assert all(path.parent == work_folder for path in work_folder.glob("*"))
    assert ESC not in told.out + told.err
    assert told.code in (0, 1, 2)


@pytest.mark.parametrize(
    "task", [7, {"id": 7}, {"visible_tests": "x"}, {"id": "x", "prompt": None}, {"entry_point": "__import__('os')"}]
)
def test_a_record_of_nonsense_ends_in_a_paragraph(store: Store, call: Call, work_folder: Path, task: Any) -> None:
    name = forged(store, task=task if isinstance(task, dict) else None, limits={"calls": "many"}, fix=7)
    for command in ("resume", "show", "explain", "apply"):
        told = call(command, name)
        assert "Traceback" not in told.err, command


def test_names_with_escape_codes_never_reach_a_terminal(store: Store, call: Call, work_folder: Path) -> None:
    name = forged(store)
    odd = f"x{ESC}]0;title\a\u202e\u009b31m"
    folder = (store.runs / name).rename(store.runs / odd)
    file = folder / "events.jsonl"
    file.write_text(file.read_text().replace(name, json.dumps(odd)[1:-1]))
    for command in (
        ["runs"],
        ["show", "x"],
        ["rate", "x", "5"],
        ["explain", "x"],
        ["resume", "x"],
        ["apply", "x"],
        ["rm", "x"],
    ):
        told = call(*command)
        assert not {ESC, "\a", "\u202e", "\u009b"} & set(told.out + told.err), command


def test_a_diff_is_not_written_through_a_link_to_nothing(tmp_path: Path) -> None:
    kept, out = tmp_path / "kept", tmp_path / "fix.diff"
    kept.write_bytes(b"diff")
    out.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SetupProblem):
        save_diff_file(kept, out)
    assert not (tmp_path / "elsewhere").exists()
