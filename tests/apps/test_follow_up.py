"""A follow-up changes what it says and keeps the rest byte for byte, the user's own edits too."""

import subprocess
from pathlib import Path

import pytest

from burnish.apps.blueprint import Blueprint, Switch
from burnish.apps.planning import Planned
from burnish.commands.check import check
from burnish.errors import SetupProblem
from burnish.events import AppPlanned, FunctionBegun, ModuleBuilt
from burnish.runs import Store
from burnish.sandbox import Sandbox
from tests.apps.built import SENTENCE, FakeJudge, make, plan_books, read_files, script

DUE = {"name": "due", "label": "Due", "type": "date", "required": False}
SORT = "loans get a due date"


@pytest.fixture
def app(open_box: Sandbox, monkeypatch: pytest.MonkeyPatch, store: Store, tmp_path: Path) -> Path:
    """An app that was built; the sentence of a follow-up gives loans one field more."""
    FakeJudge(monkeypatch)
    monkeypatch.setattr(
        "burnish.apps.planning.read_change", lambda before, sentence, answer="": Planned(blueprint=add_due(before))
    )
    make(script(), out=tmp_path / "app", store=store)
    return tmp_path / "app"


def add_due(before: Blueprint) -> Blueprint:
    data = before.model_dump(mode="json")
    fields = data["entities"][1]["fields"]
    fields.append(DUE | {"name": f"due_{len(fields)}"})
    return Blueprint.model_validate(data)


def test_only_modules_that_differ_are_made_anew_and_the_rest_stays_byte_for_byte(app: Path, store: Store) -> None:
    before = read_files(app)
    run = make(script(), SORT, source=str(app), store=store)
    planned, after = run.last(AppPlanned), read_files(app)
    assert planned
    assert "loan" in planned.rebuilt
    assert "book" not in planned.rebuilt
    assert run.all(FunctionBegun) == [], "a function that is there is not written again"
    same = [path for path in before if before[path] == after.get(path)]
    assert {path for path in before if path.startswith(("app/book/", "app/migrations/"))} <= {*same}
    assert "app/loan/form.py" not in same
    assert [path for path in after if path.startswith("app/migrations/0002")]
    assert (run.verdict, run.folder, run.started.continues is not None) == ("plausible", str(app), True)
    again = make(script(), SORT.replace("due", "done"), source=str(app), store=store, without="model")
    assert len(again.settings.app.earlier if again.settings.app else ()) == 2


def test_each_follow_up_is_committed_on_top_of_what_there_was(app: Path, store: Store) -> None:
    def log() -> list[str]:
        done = subprocess.run(["git", "log", "--format=%s"], cwd=app, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    before = log()
    make(script(), SORT, source=str(app), store=store)
    assert log()[-len(before) :] == before
    assert any(line.startswith("loan:") for line in log()[: -len(before)])
    assert not any(line.startswith("book:") for line in log()[: -len(before)])


def test_what_the_user_edited_stays_where_its_module_does_and_lies_beside_it_where_it_does_not(
    app: Path, store: Store
) -> None:
    mine = {name: (app / name).read_text() + "\n# mine\n" for name in ("app/book/service.py", "app/loan/service.py")}
    for name, text in mine.items():
        (app / name).write_text(text)
    run = make(script(), SORT, source=str(app), store=store)
    built = {one.module: one for one in run.all(ModuleBuilt)}
    assert built["book"].kept == ("app/book/service.py",)
    assert built["loan"].replaced == ("app/loan/service.py",)
    assert (app / "app/book/service.py").read_text() == mine["app/book/service.py"]
    assert "# mine" not in (app / "app/loan/service.py").read_text()
    assert (app / "before/app/loan/service.py.txt").read_text() == mine["app/loan/service.py"]


def test_a_file_that_changes_while_the_work_goes_on_is_not_written_over(app: Path, store: Store) -> None:
    def edit(event: object) -> None:
        if isinstance(event, AppPlanned):
            (app / "app/loan/form.py").write_text("# saved just now\n")

    with pytest.raises(SetupProblem):
        make(script(), SORT, source=str(app), store=store, watch=edit)
    assert (app / "app/loan/form.py").read_text() == "# saved just now\n"


def test_with_a_folder_of_its_own_the_old_one_stays_as_it_is(app: Path, store: Store, tmp_path: Path) -> None:
    before = read_files(app)
    run = make(script(), SORT, source=str(app), out=tmp_path / "new", store=store)
    assert (run.folder, read_files(app)) == (str(tmp_path / "new"), before)
    from_run = make(script(), SORT, source=run.id, out=tmp_path / "newer", store=store)
    assert from_run.started.continues == run.id


def test_a_switch_is_turned_and_most_modules_stay(
    app: Path, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch = Switch(id="registration", text="Anybody may register.", otherwise="Nobody else may.")
    FakeJudge(monkeypatch, plan_books(switches=[switch.model_dump()]))
    make(script(), out=tmp_path / "other", store=store)
    run = make(script(), "", source=str(tmp_path / "other"), flips=("registration",), store=store)
    planned = run.last(AppPlanned)
    assert planned
    assert planned.assumptions == ("registration: Nobody else may.",)
    assert run.calls == 0
    with pytest.raises(SetupProblem):
        make(script(), "", source=str(app), flips=("no.such",), store=store)


@pytest.mark.parametrize("source", ["nowhere", "."])
def test_what_is_no_app_cannot_be_gone_on_from(source: str, store: Store, work_folder: Path) -> None:
    with pytest.raises(SetupProblem):
        make(script(), SENTENCE, source=source, store=store)


def test_check_takes_the_packages_that_the_evidence_names(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = check(app, only=["tests"])
    assert [(one.check, one.verdict) for one in checked.evidence] == [("tests", "passed")]
