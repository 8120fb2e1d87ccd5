"""Runs go from one machine to another in a file: what comes out is what went in, and what does harm stays out."""

import stat
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.commands.exchange import LIMITS, export_runs, import_runs
from burnish.errors import SetupProblem
from burnish.events import RunFinished, RunStarted
from burnish.pages.folder import list_page_files
from burnish.runs import Store
from tests.cli.conftest import Call, call
from tests.web.page_record import keep_page
from tests.web.test_uploads import make_odd_zip, make_zip

__all__ = ["call"]


def keep_run(store: Store, prompt: str = "a function double(n)") -> str:
    """The id of a run that is over."""
    run_id, record = store.begin("double")
    record.append(
        RunStarted(run_id=run_id, verb="write", prompt=prompt, model="scripted:test", burnish="0", settings={})
    )
    record.append(RunFinished(verdict="failed", why="no code"))
    record.close()
    return run_id


def read_folder(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def other(tmp_path: Path) -> Store:
    """The store of another machine, where nothing is yet."""
    return Store(tmp_path / "other")


def test_what_comes_in_is_what_went_out_with_pictures_and_thoughts(store: Store, other: Store, tmp_path: Path) -> None:
    names = [keep_run(store), keep_page(store)]
    (store.runs / names[0] / "thoughts.jsonl").write_text('{"ask_id": "draft-1", "text": "hm"}\n')
    file = tmp_path / "runs.zip"
    assert export_runs(names, file, store) == names
    assert import_runs(file, other) == sorted(names)
    for name in names:
        assert read_folder(other.runs / name) == read_folder(store.runs / name)
        assert stat.S_IMODE((other.runs / name).stat().st_mode) == 0o700
    assert {row.id for row in other.list()} == {*names}
    assert [path.name for path in other.folder.iterdir() if path.name.startswith(".")] == []
    page = other.open(names[1])
    assert list_page_files(page, other.runs / page.id) == list_page_files(store.open(page.id), store.runs / page.id)


def test_a_run_that_is_there_already_stays_and_nothing_of_the_file_comes_in(
    store: Store, other: Store, tmp_path: Path
) -> None:
    first, second = keep_run(store), keep_run(store)
    export_runs([first], tmp_path / "one.zip", store)
    export_runs([second, first], tmp_path / "two.zip", store)
    import_runs(tmp_path / "one.zip", other)
    (other.runs / first / "mine").write_text("kept")
    with pytest.raises(SetupProblem, match=first):
        import_runs(tmp_path / "two.zip", other)
    assert [row.id for row in other.list()] == [first]
    assert (other.runs / first / "mine").read_text() == "kept"


def test_links_in_the_folder_of_a_run_are_left_behind(store: Store, mine: Path, tmp_path: Path) -> None:
    name = keep_run(store)
    (store.runs / name / "link").symlink_to(mine)
    export_runs([name], tmp_path / "runs.zip", store)
    with zipfile.ZipFile(tmp_path / "runs.zip") as archive:
        assert archive.namelist() == [f"runs/{name}/events.jsonl"]


BAD_FILES = {
    "no zip": b"burnish",
    "empty": make_zip({}),
    "a climb": make_zip({"runs/../../.bashrc": "x"}),
    "from the top": make_zip({"/etc/x": "x"}),
    "a link": make_odd_zip("runs/x-1234", stat.S_IFLNK | 0o777, "/etc"),
    "a bomb": make_zip({"runs/x-1234/events.jsonl": b"0" * 30_000_000}),
    "something else": make_zip({"photo.jpg": "x"}),
    "no record": make_zip({"runs/x-1234/pages/1.png": "x"}),
    "a record of nothing": make_zip({"runs/x-1234/events.jsonl": ""}),
    "a name like an option": make_zip({"runs/--out/events.jsonl": "{}"}),
    "another folder": make_zip({"config/x-1234/events.jsonl": "{}"}),
    "a file in place of a folder": make_zip({"runs/x-1234": "{}"}),
    "an evaluation of nothing": make_zip({"evals/x-1234/pages.json": "{}"}),
}


@pytest.mark.parametrize("bad", BAD_FILES)
def test_what_is_no_export_is_refused_and_leaves_nothing(call: Call, store: Store, bad: str) -> None:
    Path("runs.zip").write_bytes(BAD_FILES[bad])
    told = call("import", "runs.zip")
    assert told.code == 2
    assert told.err.count("\n") == 1
    assert "Traceback" not in told.err
    assert [path for path in store.folder.rglob("*") if path.is_file() and path.name != "index.json"] == []


def test_a_run_under_another_ones_name_is_refused(store: Store, other: Store, tmp_path: Path) -> None:
    record = store.runs / keep_run(store) / "events.jsonl"
    (tmp_path / "runs.zip").write_bytes(make_zip({"runs/double-0000/events.jsonl": record.read_bytes()}))
    with pytest.raises(SetupProblem, match="double-0000"):
        import_runs(tmp_path / "runs.zip", other)
    assert other.list() == []


def test_a_bomb_is_refused_before_much_of_it_is_written(
    store: Store, other: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = keep_run(store)
    (store.runs / name / "large").write_bytes(b"0" * 3_000_000)
    export_runs([name], tmp_path / "runs.zip", store)
    monkeypatch.setattr("burnish.commands.exchange.LIMITS", replace(LIMITS, unpacked_bytes=2_000_000))
    with pytest.raises(SetupProblem, match="far more"):
        import_runs(tmp_path / "runs.zip", other)
    with pytest.raises(SetupProblem, match="more than one file may hold"):
        export_runs([name], tmp_path / "again.zip", store)
    assert not (tmp_path / "again.zip").exists()


def test_the_commands_say_what_went_and_what_cannot(call: Call, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    name = keep_run(store)
    assert name in call("export", name, "-o", "mine.zip").out
    assert call("export", name, "-o", "mine.zip").code == 2, "it is not written over"
    assert call("export", name, "-o", "nowhere/mine.zip").code == 2
    assert call("export", "another", "-o", "x.zip").code == 2
    assert call("import", "nowhere.zip").code == 2
    assert call("import", ".").code == 2
    assert call("import", "mine.zip").code == 2, "it is here"
    monkeypatch.setenv("BURNISH_HOME", str(Path("elsewhere").absolute()))
    assert name in call("import", "mine.zip").out
    assert name in call("show", name).out


def test_a_run_at_work_is_not_exported(store: Store, tmp_path: Path) -> None:
    run_id, record = store.begin("double")
    record.append(RunStarted(run_id=run_id, verb="write", prompt="x", model="scripted:test", burnish="0", settings={}))
    with pytest.raises(SetupProblem, match="still at work"):
        export_runs([run_id], tmp_path / "runs.zip", store)
    record.close()
    assert export_runs([run_id], tmp_path / "runs.zip", store) == [run_id]
