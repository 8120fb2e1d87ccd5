"""One verdict from all checks: each answers, whatever happens to the others, and silence is never a pass."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.checks import CheckContext, Project
from burnish.checks.project import CHECKS
from burnish.checks.verdict import CheckResults, Watcher, judge_all
from burnish.errors import CheckError, SandboxError, SetupProblem
from burnish.events import Evidence
from burnish.report.check_report import render_headline
from tests.checks.stand_ins import Answer, made, said, stand_ins


@pytest.fixture
def context(tmp_path: Path) -> Iterator[CheckContext]:
    with CheckContext(made(tmp_path / "project"), "process") as opened:
        yield opened


def judged(
    context: CheckContext,
    monkeypatch: pytest.MonkeyPatch,
    only: tuple[str, ...] = (),
    watch: Watcher | None = None,
    **answers: Answer,
) -> CheckResults:
    monkeypatch.setattr("burnish.checks.verdict.all_checks", stand_ins(**answers))
    return judge_all(context.project, context, only, watch)


def test_all_checks_answer_in_their_order(context: CheckContext, monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(context, monkeypatch)
    assert [item.check for item in found.evidence] == list(CHECKS)
    assert found.passed
    assert found.seconds.keys() == set(CHECKS)


def test_a_required_check_that_failed_fails_the_whole(context: CheckContext, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not judged(context, monkeypatch, coverage="failed").passed


def test_a_required_check_that_was_not_run_is_not_a_pass(
    context: CheckContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not judged(context, monkeypatch, mutation="not_run").passed


def test_failed_dependencies_decide_and_those_that_were_not_run_inform(
    context: CheckContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert judged(context, monkeypatch, dependencies="not_run").passed
    failed = judged(context, monkeypatch, dependencies="failed")
    assert not failed.passed
    assert failed.decisive == (*failed.required, "dependencies")
    assert "dependencies failed" in render_headline(failed)
    waived = failed.model_copy(update={"must_not_fail": ()})
    assert waived.passed
    assert CheckResults.model_validate(failed.model_dump(exclude={"must_not_fail"})).passed  # a report of before


def test_a_check_that_is_not_required_may_fail(context: CheckContext, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(context, monkeypatch, performance="failed", dependencies="not_run").passed


@pytest.mark.parametrize(
    "error", [CheckError("bandit is missing"), SandboxError("the cell is gone"), SetupProblem("x")]
)
def test_a_tool_that_breaks_is_not_run_and_the_others_go_on(
    context: CheckContext, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    found = judged(context, monkeypatch, tests=error, security=error)
    assert (found["tests"].verdict, found["tests"].why) == ("not_run", str(error))
    assert found["security"].verdict == "not_run"
    assert sum(item.verdict == "passed" for item in found.evidence) == 5
    assert not found.passed
    assert found.bugs == ()


def test_our_bug_is_not_run_with_its_trace_and_kept_to_be_raised(
    context: CheckContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    bug = ZeroDivisionError("oops")
    found = judged(context, monkeypatch, quality=bug)
    assert found["quality"].verdict == "not_run"
    assert "ZeroDivisionError: oops" in found["quality"].why
    assert "stand_ins.py" in str(found["quality"].details["traceback"])
    assert found.bugs == (bug,)
    assert found["performance"].verdict == "passed"


def test_only_the_named_checks_run_and_only_those_are_required(
    context: CheckContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = judged(context, monkeypatch, ("security", "tests"), coverage="failed")
    assert [item.check for item in found.evidence] == ["tests", "security"]
    assert found.required == ("tests", "security")
    assert found.passed


def test_whoever_asks_only_for_optional_checks_wants_their_answer(
    context: CheckContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not judged(context, monkeypatch, ("performance",), performance="failed").passed


def test_an_unknown_check_is_a_paragraph_with_the_nearest_name(
    context: CheckContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SetupProblem, match=r"'mutations'.* --only mutation$"):
        judged(context, monkeypatch, ("mutations",))


def test_checks_that_read_run_beside_those_that_run_code_and_performance_runs_alone(
    context: CheckContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = threading.Event()
    running: set[str] = set()
    company: list[set[str]] = []

    def waits(project: Project, context: CheckContext) -> Evidence:
        return said("tests", "passed" if reached.wait(10) else "failed")

    def reads(project: Project, context: CheckContext) -> Evidence:
        reached.set()
        return said("security")

    def measures(project: Project, context: CheckContext) -> Evidence:
        company.append(set(running))
        return said("performance")

    class Looking(Watcher):
        def begin(self, check: str) -> None:
            running.add(check)

        def finish(self, evidence: Evidence, seconds: float) -> None:
            running.discard(evidence.check)

    found = judged(context, monkeypatch, (), Looking(), tests=waits, security=reads, performance=measures)
    assert found["tests"].verdict == "passed"
    assert company == [{"performance"}]


def test_how_far_a_check_is_comes_with_its_name(context: CheckContext, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, int, int]] = []

    class Looking(Watcher):
        def advance(self, check: str, done: int, total: int) -> None:
            heard.append((check, done, total))

    def tells(project: Project, context: CheckContext) -> Evidence:
        context.tell(3, 9)
        return said("x")

    judged(context, monkeypatch, ("mutation", "quality"), Looking(), mutation=tells, quality=tells)
    assert sorted(heard) == [("mutation", 3, 9), ("quality", 3, 9)]


def test_what_coverage_leaves_is_there_for_mutation(context: CheckContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def covers(project: Project, context: CheckContext) -> Evidence:
        context.touched = {"code.py": {1: ("test_f",)}}
        return said("coverage")

    def mutates(project: Project, context: CheckContext) -> Evidence:
        return said("mutation", "passed" if context.touched else "failed")

    assert judged(context, monkeypatch, coverage=covers, mutation=mutates)["mutation"].verdict == "passed"


def test_a_parse_that_fell_over_another_threads_is_made_again(
    context: CheckContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    falls = [SystemError("AST constructor recursion depth mismatch")]

    def stumbles(project: Project, context: CheckContext) -> Evidence:
        if falls:
            raise falls.pop()
        return said("quality")

    assert judged(context, monkeypatch, quality=stumbles)["quality"].verdict == "passed"
