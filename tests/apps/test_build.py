"""A build from its sentence to its folder: level by level, and what fails is put right or left out."""

import subprocess
from pathlib import Path

import pytest

from burnish.agent.ask import Checkpoint
from burnish.apps.state import render_blueprint
from burnish.commands.build import LIMITS
from burnish.commands.verify import verify
from burnish.errors import SetupProblem
from burnish.events import (
    AppJudged,
    AppPlanned,
    CheckFinished,
    Decided,
    FunctionBegun,
    FunctionWritten,
    ModuleBuilt,
    Reviewed,
    Stopped,
)
from burnish.report.explain import explain
from burnish.runs import Store
from burnish.sandbox import Sandbox
from tests.apps.built import CHECKS, HOURS, WRONG, FakeJudge, make, plan_books, read_files, script


@pytest.fixture
def judge(open_box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> FakeJudge:
    """Checkpoints that pass whatever there is, unless a test says otherwise."""
    return FakeJudge(monkeypatch)


def test_an_app_is_built_level_by_level_and_each_module_is_tested_before_the_next_leans_on_it(
    judge: FakeJudge, store: Store, tmp_path: Path
) -> None:
    run = make(script(), out=tmp_path / "app", store=store)
    assert (run.verdict, [one.check for one in run.evidence]) == ("plausible", list(CHECKS))
    built = run.all(ModuleBuilt)
    assert [one.level for one in built] == sorted(one.level for one in built)
    assert {"book", "loan", "app"} <= {one.module for one in built}
    places = {one.module: place for place, one in enumerate(run.events) if isinstance(one, ModuleBuilt)}
    tested = {one.module: place for place, one in enumerate(run.events) if isinstance(one, AppJudged)}
    assert places["book"] < tested["book"] < places["loan"] < tested["loan"] < places["app"]
    written = run.last(FunctionWritten)
    assert written
    assert (written.function, written.code.split()) == ("book.hours", HOURS.split())
    assert store.open(written.run_id).verdict == written.verdict
    assert store.open("last").id == run.id, "a function's run is a step, and never the last run"
    files = read_files(tmp_path / "app")
    assert b"// 30" in files["app/book/computed.py"]
    assert {"report.md", "evidence.json", "blueprint.json", "README.md", "run"} <= files.keys()
    assert (tmp_path / "app" / "run").stat().st_mode & 0o111
    assert run.id in explain(run)


def test_a_commit_a_module_carries_its_evidence_and_the_same_run_gives_the_same_history(
    judge: FakeJudge, store: Store, tmp_path: Path
) -> None:
    from burnish.apps.folder import commit_modules

    run = make(script(), out=tmp_path / "app", store=store)

    def log(folder: Path) -> list[str]:
        command = ["git", "log", "--reverse", "--format=%H %s%n%b"]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()

    said = log(tmp_path / "app")
    heads = [line.split()[1] for line in said if len(line.split(" ")[0]) == 40]
    assert heads[:-1] == [f"{one.module}:" for one in run.all(ModuleBuilt)]
    assert any("passed, as the test wants it" in line for line in said)
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path / "app", capture_output=True, check=True)
    assert status.stdout == b"", "all that was delivered is committed"
    for name, data in read_files(tmp_path / "app").items():
        (tmp_path / "again" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "again" / name).write_bytes(data)
    (tmp_path / "again" / "run").chmod(0o755)
    assert commit_modules(run, tmp_path / "again", read_files(tmp_path / "app")) == ""
    assert log(tmp_path / "again") == said


def test_without_git_the_app_is_delivered_all_the_same(
    judge: FakeJudge, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    from burnish.apps import folder

    run = make(script(), out=tmp_path / "app", store=store)
    assert run.folder
    assert not (tmp_path / "app" / ".git").exists()
    assert folder.commit_modules(run, tmp_path / "app", ())


def test_a_function_that_does_not_pass_its_examples_is_left_out_and_the_rest_stands(
    judge: FakeJudge, store: Store, tmp_path: Path
) -> None:
    run = make(script(WRONG), out=tmp_path / "app", store=store)
    written = run.last(FunctionWritten)
    assert written
    assert (written.verdict, written.code) == ("failed", "")
    assert run.verdict == "plausible"
    assert "hours" not in (tmp_path / "app" / "app" / "book" / "routes.py").read_text()
    assert "book.hours" in (tmp_path / "app" / "report.md").read_text()


def test_a_function_with_which_contract_tests_fail_is_written_once_more_and_then_left_out(
    judge: FakeJudge, store: Store
) -> None:
    judge.bad = {"book": "def hours"}
    run = make(script(), store=store)
    written = run.all(FunctionWritten)
    assert [(one.attempt, bool(one.code), one.stage) for one in written] == [
        (1, True, "generate"),
        (2, True, "debug"),
        (2, False, "debug"),
    ]
    assert run.verdict == "plausible"
    assert [one.evidence.verdict for one in run.all(AppJudged) if one.module == "book"] == [
        "failed",
        "failed",
        "passed",
    ]


def test_a_function_that_only_breaks_the_whole_is_left_out(judge: FakeJudge, store: Store) -> None:
    judge.bad = {"integration": "def hours"}
    run = make(script(), store=store)
    assert run.verdict == "plausible"
    assert [one.verdict for one in run.evidence] == ["passed"] * 4
    assert [bool(one.code) for one in run.all(FunctionWritten)] == [True, False]


def test_a_finding_of_quality_speaks_against_a_function_only_where_it_names_its_file(
    judge: FakeJudge, store: Store
) -> None:
    judge.bad = {"quality": "import"}
    run = make(script(), store=store)
    assert (run.verdict, [bool(one.code) for one in run.all(FunctionWritten)]) == ("plausible", [True])
    judge.file = "app/book/computed.py"
    blamed = make(script(), store=store)
    assert [bool(one.code) for one in blamed.all(FunctionWritten)] == [True, False]


@pytest.mark.parametrize(
    ("bad", "verdict"),
    [("functional", "failed"), ("integration", "failed"), ("quality", "plausible"), ("performance", "plausible")],
)
def test_what_fails_at_a_checkpoint_decides(bad: str, verdict: str, judge: FakeJudge, store: Store) -> None:
    judge.bad = {bad: "import"}
    run = make(script(), without="model", store=store)
    assert run.verdict == verdict
    assert bad in run.why


def test_nothing_is_proven_where_a_checkpoint_could_not_be_run(judge: FakeJudge, store: Store) -> None:
    judge.silent = ("integration",)
    run = make(script(), without="model", store=store)
    assert (run.verdict, run.evidence[-1].verdict) == ("plausible", "not_run")


def test_all_four_and_nothing_left_out_is_proven(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    entities = [one.model_copy(update={"computed": ()}).model_dump(mode="json") for one in plan_books().entities]
    FakeJudge(monkeypatch, plan_books(entities=entities))
    assert make(script(), store=store).verdict == "proven"


def test_without_the_model_nobody_is_asked(judge: FakeJudge, store: Store) -> None:
    run = make(script(), without="model", store=store)
    planned = run.last(AppPlanned)
    assert planned
    assert (planned.made_by, run.calls, run.started.model) == ("rules", 0, "none")


def test_where_no_calls_are_left_functions_are_left_out(judge: FakeJudge, store: Store) -> None:
    run = make(script(), limits=LIMITS.model_copy(update={"calls": 1}), store=store)
    assert (run.calls, run.all(FunctionBegun), run.verdict) == (1, [], "plausible")


def test_the_calls_of_functions_count_in_the_limits_of_the_build(judge: FakeJudge, store: Store) -> None:
    judge.bad = {"book": "def hours"}
    run = make(script(), limits=LIMITS.model_copy(update={"calls": 4}), store=store)
    assert run.calls + sum(one.calls for one in run.all(FunctionWritten)) <= 4


def test_a_person_may_edit_the_plan_say_what_to_change_or_stop(judge: FakeJudge, store: Store, tmp_path: Path) -> None:
    shown: list[Checkpoint] = []
    other = render_blueprint(plan_books(title="Shelves"))
    answers = [
        Reviewed(where="plan", said="edited", text='{"title": ""}'),
        Reviewed(where="plan", said="edited", text=other),
        Reviewed(where="plan", said="go_on"),
    ]

    def review(checkpoint: Checkpoint) -> Reviewed:
        shown.append(checkpoint)
        return answers[len(shown) - 1]

    run = make(script(), review=review, store=store)
    planned = run.last(AppPlanned)
    assert planned
    assert planned.title == "Shelves"
    assert [bool(one.note) for one in shown] == [False, True, True]
    answers, shown = [Reviewed(where="plan", said="stop")], []
    stopped = make(script(), review=review, out=tmp_path / "app", store=store)
    assert (stopped.verdict, stopped.folder, stopped.all(ModuleBuilt)) == ("failed", None, [])


@pytest.mark.parametrize("sentence", ["", "  \n", "…", "write me an operating system", "x" * 2001])
def test_what_cannot_be_an_app_is_refused_before_anything_is_written(
    sentence: str, store: Store, tmp_path: Path
) -> None:
    with pytest.raises(SetupProblem):
        make(script(), sentence, out=tmp_path / "app", store=store)
    assert (store.list(), list(tmp_path.glob("app"))) == ([], [])


def test_a_folder_that_holds_something_is_refused_before_the_work(store: Store, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SetupProblem):
        make(script(), out=tmp_path, store=store)
    assert store.list() == []


def test_verify_makes_the_files_again_and_tries_the_app_again(
    judge: FakeJudge, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.commands.verify_app.judge_app", judge.judge_app)
    make(script(), out=tmp_path / "app", store=store)
    found = verify(tmp_path / "app", store=store)
    assert (found.ending, {one.answer for one in found.claims}) == ("holds", {"holds"})
    elsewhere = verify(tmp_path / "app", store=Store(tmp_path / "other"))
    assert elsewhere.ending == "holds", "and without the record of the run"
    judge.bad = {"integration": "import"}
    assert verify(tmp_path / "app", store=store).ending == "does not hold"
    file = tmp_path / "app" / "app" / "book" / "computed.py"
    file.write_text(file.read_text().replace("30", "31"))
    assert verify(tmp_path / "app", store=store).ending == "refused"


def test_what_a_start_makes_is_let_be_in_ones_own_folder_and_refused_in_a_strangers(
    judge: FakeJudge, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.commands.verify_app.judge_app", judge.judge_app)
    make(script(), out=tmp_path / "app", store=store)
    (tmp_path / "app" / "data").mkdir()
    (tmp_path / "app" / "data" / "secret").write_text("key")
    assert verify(tmp_path / "app", store=store).ending == "holds"
    assert verify(tmp_path / "app", store=Store(tmp_path / "other")).ending == "refused"


def test_every_decision_and_answer_of_a_checkpoint_is_on_record(judge: FakeJudge, store: Store) -> None:
    run = make(script(), store=store)
    assert [one.choice for one in run.all(Decided)][-1] == "judge"
    assert [one.reason for one in run.all(Stopped)] == ["done"]
    assert len(run.all(CheckFinished)) == 4
    assert len([one for one in run.all(AppJudged) if not one.module]) == 4
