"""How good apps are: every build counts once, a whole app is one that passes all, and nothing is made twice."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.commands.build import LIMITS
from burnish.errors import SandboxError, SetupProblem
from burnish.evals import apps
from burnish.evals.app_cases.case import AppCase, CheckResult
from burnish.evals.apps import AppsFolder, evaluate_apps, resume_apps, write_app_results
from burnish.models.scripted import ScriptedModel
from burnish.runs import Store
from tests.apps.built import FakeJudge, script
from tests.cli.conftest import Call, call

__all__ = ["call"]
pytestmark = pytest.mark.slow


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> FakeJudge:
    """Checkpoints that say what a test wants, and checks that fail in what a test names."""
    return FakeJudge(monkeypatch)


def answer(monkeypatch: pytest.MonkeyPatch, *failing: str) -> None:
    """In place of a browser: these checks of a case fail."""

    def check_app(case: AppCase, files: dict[str, str], tell: Callable[[str], None]) -> tuple[CheckResult, ...]:
        assert "app/main.py" in files
        names = [check.__name__ for check in case.checks]
        return tuple(
            CheckResult(check=name, promise="", verdict="failed" if name in failing else "passed") for name in names
        )

    monkeypatch.setattr(apps, "check_app", check_app)


def model() -> ScriptedModel:
    return ScriptedModel(script(), "scripted:x")


def measure(*cases: str, seeds: tuple[int, ...] = (0,), out: Path | None = None) -> AppsFolder:
    return evaluate_apps(cases or ("todo",), model(), LIMITS, seeds=seeds, out=out)


def test_an_app_is_whole_only_if_every_check_passes(judge: FakeJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, "book")
    results = write_app_results(folder := measure("todo", "rooms"))
    assert {one.case: one.whole for one in results.by_case} == {"todo": 1, "rooms": 0}
    assert (results.system_accuracy, results.module_accuracy, results.errors) == (0.5, 1.0, 0)
    kept = json.loads((folder.path / "results.json").read_text())
    failed = [check["check"] for one in kept["attempts"] for check in one["checks"] if check["verdict"] == "failed"]
    assert failed == ["book"]
    assert kept["commit"] == results.commit
    assert kept["machine"]


def test_modules_whose_tests_fail_are_counted(judge: FakeJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch)
    judge.bad = {"loan": "class Loan"}
    (attempt,) = write_app_results(measure()).attempts
    assert (attempt.modules - attempt.modules_passed, attempt.verdict) == (1, "failed")


def test_an_app_that_cannot_be_served_passes_nothing(judge: FakeJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        raise SandboxError("it does not start")

    monkeypatch.setattr(apps, "check_app", refuse)
    (attempt,) = write_app_results(measure()).attempts
    assert {check.verdict for check in attempt.checks} == {"failed"}
    assert not attempt.is_whole


def test_seeds_are_added_and_nothing_is_built_again(
    judge: FakeJudge, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    answer(monkeypatch)
    folder = measure()
    before = write_app_results(folder).attempts
    after = write_app_results(resume_apps(str(folder.path), seeds=(0, 1), model=model())).attempts
    assert after[:1] == before
    assert [one.seed for one in after] == [0, 1]
    assert len(list(store.runs.glob("todo-*"))) == 2


def test_what_was_built_but_not_checked_is_checked(judge: FakeJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch)
    folder = measure()
    rows = folder.path / "attempts.jsonl"
    begun = next(line for line in rows.read_text().splitlines() if '"begun"' in line)
    rows.write_text(f"{begun}\n")
    (attempt,) = write_app_results(resume_apps(str(folder.path), model=model())).attempts
    assert attempt.is_whole
    assert attempt.run_id == json.loads(begun)["run_id"]


def test_other_checks_than_at_the_beginning_are_refused(judge: FakeJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch)
    folder = measure()
    monkeypatch.setattr(apps, "hash_checks", lambda: "other")
    with pytest.raises(SetupProblem):
        resume_apps(str(folder.path), model=model())


def test_who_is_left_out_is_in_the_record(call: Call, judge: FakeJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch)
    done = call("eval", "apps", "--model", "scripted:demo", "--case", "todo", "--without", "model", "--json")
    assert done.code == 0, done.err
    results = json.loads(done.out)
    assert (results["without"], results["attempts"][0]["tokens"]) == ("model", 0)
    assert call("eval", "list").out.count("without model") == 1


@pytest.mark.parametrize("typed", [("--case", "nothing"), ("--without", "tweak"), ("--strategy", "single")])
def test_what_cannot_be_asked_is_refused_before_anything_is_built(call: Call, typed: tuple[str, str]) -> None:
    assert call("eval", "apps", "--model", "scripted:demo", *typed).code == 2
