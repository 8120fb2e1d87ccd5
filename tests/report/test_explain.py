"""The story of a run can be told to someone who was not there, whatever became of the run."""

import re
from pathlib import Path

import pytest

from burnish.agent.graph import count_visits, draw_mermaid
from burnish.agent.limits import Limits
from burnish.events import (
    Applied,
    Broke,
    Case,
    CodeProposed,
    Compared,
    Decided,
    Event,
    Graded,
    Move,
    Rated,
    Refined,
    Refused,
    Resumed,
    RunFinished,
    RunStarted,
    SpecAgreed,
    Stopped,
    TestsFrozen,
    TestsRan,
    Tweaked,
)
from burnish.models.scripted import ScriptedModel
from burnish.report.explain import explain
from burnish.report.narrate import describe
from burnish.report.run_report import render_report
from burnish.runs import Run, read_record
from burnish.sandbox import Sandbox
from burnish.tasks import from_sentence
from tests.iterated import iterated
from tests.snapshots import assert_snapshot
from tests.support import DOUBLE, ESC, ROOT, WRONG, attempt, burnish, script

STARTED = RunStarted(
    run_id="double-1a2b", verb="fix", prompt="double a number", model="local:a,local:b", burnish="0", sandbox="none"
)


def sections(run: Run) -> dict[str, str]:
    """The story by its titles, each part in one line."""
    parts = re.split(r"^([A-Z ]+)$", explain(run), flags=re.MULTILINE)
    return {title: " ".join(text.split()) for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def told(*events: Event) -> str:
    """What decided, what happened and how it ended: the parts that name no time of day."""
    found = sections(Run((STARTED, *events)))
    return "\n".join(found[title] for title in ("WHAT DECIDED", "WHAT HAPPENED", "HOW IT ENDED"))


@pytest.fixture
def run(open_box: Sandbox) -> Run:
    """A run whose first draft is wrong."""
    return attempt(from_sentence(DOUBLE), ScriptedModel(script(draft=WRONG)))


@pytest.mark.slow
def test_the_story_has_what_was_asked_what_decided_what_happened_and_the_end(run: Run) -> None:
    story = sections(run)
    assert DOUBLE in story["WHAT WAS ASKED"]
    assert "`assert double(2) == 4`" in story["WHAT DECIDED"]
    assert "0 of 5" in story["WHAT HAPPENED"]
    assert "(got: 7)" in story["WHAT HAPPENED"]
    assert "plausible" in story["HOW IT ENDED"]
    assert "scripted:inline" in story["WHAT IT COST"]
    assert_snapshot(story["WHAT DECIDED"], "report/what decided", hash=run.last(TestsFrozen).sha256[:12])  # type: ignore[union-attr]


@pytest.mark.slow
def test_its_lines_fit_a_terminal(run: Run) -> None:
    assert max(map(len, explain(run).splitlines())) <= 100


@pytest.mark.slow
def test_why_a_limit_ended_it_is_told(open_box: Sandbox) -> None:
    wrong = ScriptedModel(script(draft=WRONG, repair=WRONG, rewrite=WRONG), name="scripted:x")
    run = attempt(from_sentence(DOUBLE), wrong, limits=Limits(calls=2))
    stopped = run.last(Stopped)
    assert stopped
    assert (stopped.reason, run.verdict) == ("calls", "failed")
    assert describe(stopped) in sections(run)["HOW IT ENDED"]


def test_without_an_example_it_says_what_that_means() -> None:
    assert_snapshot(told(SpecAgreed(entry_point="f", signature="f(n)")), "report/no example")


def test_assumptions_moves_edits_groups_and_refusals_are_told() -> None:
    moves = (Move(kind="rewrite", version=2, round=1, model=1),)
    events: tuple[Event, ...] = (
        SpecAgreed(entry_point="f", signature="f(n)", given_tests=("assert f(1) == 1",), assumptions=("n is whole",)),
        TestsFrozen(sha256="abcdef0123456789", given=1),
        CodeProposed(version=1, code="def f(n):\n    return 2\n", by="repair", base=0),
        TestsRan(version=1, graded=Graded(problem="it ran too long", timed_out=True)),
        Tweaked(base=0, tried=40, passed=0),
        Decided(choice="stuck", reason="Two rounds brought nothing: another model is asked.", moves=moves),
        CodeProposed(version=2, code="def f(n):\n    return n\n", by="rewrite", round=1, mended="tabs made spaces"),
        Compared(groups=((2, 3), (4,)), inputs=("f(1)", "f(2)"), apart="f(2): 2 or 3"),
        Refused(what="an answer that deletes a test", why="tests stand as they are"),
        Stopped(reason="done"),
        RunFinished(verdict="proven", why="it passes", version=2, disputed=("assert f(9) == 1",)),
        Applied(file="shop.py", backup="shop.py.bak"),
        Rated(stars=4, comment="fine"),
    )
    story = sections(Run((STARTED, *events)))
    assert "`n is whole`" in story["WHAT WAS ASKED"]
    assert "4 stars of 5: fine" in story["WHAT PEOPLE THINK OF IT"]
    assert_snapshot(told(*events), "report/edits, groups and refusals")


def test_the_tests_of_a_project_are_told_as_what_decided_and_with_what_they_said() -> None:
    test = "tests/test_shop.py::test_total"
    cases = (Case(name=test, outcome="failed", message="assert 3 == 4"),)
    run = Run(
        (
            STARTED.model_copy(update={"settings": {"task": {"project_tests": [test], "entry_point": "f"}}}),
            SpecAgreed(entry_point="f", signature="f(n)"),
            CodeProposed(version=0, code="def f(n):\n    return 3\n", by="given"),
            TestsRan(version=0, graded=Graded(cases=cases)),
        )
    )
    story = sections(run)
    assert f"`{test}`" in story["WHAT DECIDED"]
    assert f"`{test}` (assert 3 == 4)" in story["WHAT HAPPENED"]
    assert f"| `{test}` | the project |" in render_report(run)


def test_code_that_was_there_before_is_called_so() -> None:
    graded = Graded(problem="it ran too long", timed_out=True)
    story = told(CodeProposed(version=0, code="x = 1\n", by="given"), TestsRan(version=0, graded=graded))
    assert_snapshot(story, "report/the code that was there")


UNFINISHED: dict[str, tuple[Event, ...]] = {
    "at once": (),
    "broken": (Broke(error="ModelError", message="the server hung up"),),
    "interrupted": (Stopped(reason="interrupted", why="stopped by the user"),),
    "resumed": (Stopped(reason="calls", why="old"), RunFinished(verdict="failed", why="old"), Resumed(answers=3)),
}


def test_runs_without_an_end_are_told_too() -> None:
    stories = {name: told(*events) for name, events in UNFINISHED.items()}
    assert all("burnish resume double-1a2b" in story for story in stories.values())
    assert_snapshot("\n\n".join(f"{name}:\n{story}" for name, story in stories.items()), "report/runs without an end")


def test_old_records_can_be_told() -> None:
    for sample in (ROOT / "tests" / "runs" / "samples").iterdir():
        assert sections(Run(read_record(sample)))["HOW IT ENDED"]


def test_what_a_model_wrote_is_no_escape_code() -> None:
    assert ESC not in told(CodeProposed(version=1, code="", by="draft", problem=f"{ESC}[31mred"))


@pytest.mark.slow
def test_the_picture_marks_the_road_that_a_run_took(run: Run) -> None:
    assert "visited" not in draw_mermaid()
    assert count_visits(run)["judge"] == 1
    assert re.search(r"judge\(judge: .+\):::visited", draw_mermaid(run))
    assert count_visits(run)["run"] == 4
    assert re.search(r"run\(run: 4 .+\):::visited", draw_mermaid(run))


@pytest.mark.slow
def test_the_road_leads_over_nodes_of_the_graph_and_what_specify_decides_is_its_own(open_box: Sandbox) -> None:
    task = from_sentence("double a number").model_copy(update={"assume": True})
    run = attempt(task, ScriptedModel(script(assume="- zero stays zero")))
    assert {"specify", "assume"} <= {event.choice for event in run.all(Decided)}
    road = count_visits(run)
    assert all(f"\t{node}({node})" in draw_mermaid() for node in road), road
    assert road["decide"] == len(run.all(Decided)) - 2
    assert road["specify"] == 1


@pytest.mark.slow
def test_the_commands_print_it(work_folder: Path, store: object) -> None:
    assert burnish("explain", "--graph", cwd=work_folder).stdout.strip() == draw_mermaid()
    none = burnish("explain", cwd=work_folder)
    assert (none.returncode, "burnish runs" in none.stderr) == (2, True)


def test_what_followed_once_the_tests_passed_is_told_in_its_order() -> None:
    story = sections(iterated())
    titles = ("WHAT DECIDED", "WHAT HAPPENED", "WHAT ITERATING BROUGHT", "HOW IT ENDED")
    assert_snapshot("\n\n".join(story[title] for title in titles), "report/an iterated run")
    assert max(map(len, explain(iterated()).splitlines())) <= 100


def test_a_round_for_a_check_has_no_number_and_one_that_was_left_out_says_why() -> None:
    story = told(
        CodeProposed(version=1, code="def f(n):\n    return n\n", by="draft"),
        Decided(choice="judge", reason="Version 1 passes all tests that count."),
        Decided(choice="refine", reason="A round for security: line 2 calls eval."),
        CodeProposed(version=2, code="def f(n):\n    return n + 0\n", by="refine", base=1),
        Refined(check="security", base=1, version=2, kept=True, before="1 finding", after="none", why="the tests pass"),
        Refined(check="quality", base=2, version=None, kept=False, before="", why="left out: the limit is reached"),
        Decided(choice="judge", reason="Version 2 passes all tests that count."),
    )
    assert_snapshot(story, "report/rounds for checks")


def test_the_road_of_a_run_that_went_on_leads_over_what_followed() -> None:
    road = count_visits(iterated())
    assert (road["survivors"], road["strengthen"], road["refine"], road["review"]) == (1, 1, 2, 2)
    assert road["decide"] == 2
    assert re.search(r"strengthen\(strengthen: .+\):::visited", draw_mermaid(iterated()))
