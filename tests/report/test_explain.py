"""The story of a run can be told to someone who was not there, whatever became of the run."""

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
from burnish.report.run_report import render_report
from burnish.runs import Run, read_record
from burnish.sandbox import Sandbox
from burnish.tasks import from_sentence
from tests.iterated import iterated
from tests.support import DOUBLE, ESC, ROOT, WRONG, attempt, burnish, script

STARTED = RunStarted(
    run_id="double-1a2b", verb="fix", prompt="double a number", model="local:a,local:b", burnish="0", sandbox="none"
)


def told(*events: Event) -> str:
    """The story, its lines joined."""
    return " ".join(explain(Run((STARTED, *events))).split())


@pytest.fixture
def run(open_box: Sandbox) -> Run:
    """A run whose first draft is wrong."""
    return attempt(from_sentence(DOUBLE), ScriptedModel(script(draft=WRONG)))


def test_the_story_has_what_was_asked_what_decided_what_happened_and_the_end(run: Run) -> None:
    story = " ".join(explain(run).split())
    assert DOUBLE in story
    assert "2 tests were given, and given tests decide: `assert double(2) == 4`" in story
    assert "The model wrote 3 tests." in story
    assert "Version 1 (draft" in story
    assert "passed 0 of 5 tests; it fails first at `assert double(2) == 4` (got: 7)" in story
    assert "Verdict: proven." in story
    assert "calls to scripted:inline" in story


def test_its_lines_fit_a_terminal(run: Run) -> None:
    assert max(map(len, explain(run).splitlines())) <= 100


def test_why_a_limit_ended_it_is_told(open_box: Sandbox) -> None:
    wrong = ScriptedModel(script(draft=WRONG, repair=WRONG, rewrite=WRONG), name="scripted:x")
    story = explain(attempt(from_sentence(DOUBLE), wrong, limits=Limits(calls=2)))
    assert "the limit of 2 calls is reached" in " ".join(story.split())
    assert "Verdict: failed." in story


def test_without_an_example_it_says_what_that_means() -> None:
    assert "No example was given" in told(SpecAgreed(entry_point="f", signature="f(n)"))


def test_assumptions_moves_edits_groups_and_refusals_are_told() -> None:
    moves = (Move(kind="rewrite", version=2, round=1, model=1),)
    story = told(
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
    for words in (
        "taken for granted: `n is whole`.",
        "(hash abcdef012345)",
        "Version 1 (repair, from the code that was there) gave no result: it ran too long.",
        "40 small edits of the code that was there were tried without asking the model: none of them passed",
        "Round 1. Two rounds brought nothing: another model is asked. This time local:b was asked.",
        "Version 2 (rewrite; tabs made spaces) did not meet the tests any more.",
        "Run on 2 inputs, the versions fall into 2 groups that behave alike: 2 and 3; 4; they differ at f(2): 2 or 3.",
        "Refused: an answer that deletes a test, because tests stand as they are.",
        "The result is version 2. Set aside as disputed, because the model wrote these, and good versions fail them: "
        "`assert f(9) == 1`.",
        "shop.py was replaced; the old one is kept as shop.py.bak.",
        "Somebody gave it 4 stars of 5: fine.",
    ):
        assert words in story


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
    story = " ".join(explain(run).split())
    assert f"1 test was given, and given tests decide: `{test}`." in story
    assert f"it fails first at `{test}` (assert 3 == 4)" in story
    assert f"| `{test}` | the project |" in render_report(run)


def test_code_that_was_there_before_is_called_so() -> None:
    graded = Graded(problem="it ran too long", timed_out=True)
    story = told(CodeProposed(version=0, code="x = 1\n", by="given"), TestsRan(version=0, graded=graded))
    assert "The code that was there gave no result: it ran too long." in story


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ((), "Nothing: the record ends before anything was tried."),
        ((), "There is no verdict: The run did not come to its end. Go on with: burnish resume double-1a2b"),
        ((Broke(error="ModelError", message="the server hung up"),), "It broke (ModelError): The server hung up."),
        ((Stopped(reason="interrupted", why="stopped by the user"),), "The work stopped: Stopped by the user."),
        (
            (Stopped(reason="calls", why="old"), RunFinished(verdict="failed", why="old"), Resumed(answers=3)),
            "There is no verdict: The run did not come to its end.",
        ),
    ],
)
def test_runs_without_an_end_are_told_too(events: tuple[Event, ...], words: str) -> None:
    assert words in told(*events)


def test_old_records_can_be_told() -> None:
    for sample in (ROOT / "tests" / "runs" / "samples").iterdir():
        assert "HOW IT ENDED" in explain(Run(read_record(sample)))


def test_what_a_model_wrote_is_no_escape_code() -> None:
    assert ESC not in told(CodeProposed(version=1, code="", by="draft", problem=f"{ESC}[31mred"))


def test_the_picture_marks_the_road_that_a_run_took(run: Run) -> None:
    assert "visited" not in draw_mermaid()
    assert count_visits(run)["judge"] == 1
    assert "judge(judge: once):::visited" in draw_mermaid(run)
    assert count_visits(run)["run"] == 2
    assert "run(run: 2 times):::visited" in draw_mermaid(run)


def test_the_road_leads_over_nodes_of_the_graph_and_what_specify_decides_is_its_own(open_box: Sandbox) -> None:
    task = from_sentence("double a number").model_copy(update={"assume": True})
    run = attempt(task, ScriptedModel(script(assume="- zero stays zero")))
    assert {"specify", "assume"} <= {event.choice for event in run.all(Decided)}
    road = count_visits(run)
    assert all(f"\t{node}({node})" in draw_mermaid() for node in road), road
    assert road["decide"] == len(run.all(Decided)) - 2
    assert road["specify"] == 1


def test_the_commands_print_it(work_folder: Path, store: object) -> None:
    assert burnish("explain", "--graph", cwd=work_folder).stdout.strip() == draw_mermaid()
    none = burnish("explain", cwd=work_folder)
    assert (none.returncode, "burnish runs" in none.stderr) == (2, True)


def test_what_followed_once_the_tests_passed_is_told_in_its_order() -> None:
    story = " ".join(explain(iterated()).split())
    places = [
        story.index(words)
        for words in (
            "2 tests came later, for small changes of the code that no test noticed",
            "1 test only says what the code does now.",
            "The model was asked for a first version",
            "5 of 8 small changes of version 1 go unnoticed by its tests.",
            "3 tests were added: 1 from the words of the task, 1 on which versions written independently agree and 1 "
            "pinned to what the code does; 1 change only pinned tests notice; "
            "1 change no input told from the code (probably equivalent).",
            "A round for security: 1 finding before, no finding after; version 2 is kept.",
            "A round for quality (60 of 100) was not kept: a test was lost.",
            "A person looked at the code and its checks and made a comment about line 2",
            "WHAT ITERATING BROUGHT New tests raised the mutation score from 37 to 62 %",
            "no input told from the code (probably equivalent): line 2: `else` is removed.",
            "HOW IT ENDED",
        )
    ]
    assert places == sorted(places)
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
    assert "A round for security: line 2 calls eval. Version 2 (refine, from version 1)" in story
    assert "A round for security: 1 finding before, none after; version 2 is kept (the tests pass)." in story
    assert "A round for quality was not kept: left out: the limit is reached." in story
    assert "Round 1" not in story


def test_the_road_of_a_run_that_went_on_leads_over_what_followed() -> None:
    road = count_visits(iterated())
    assert (road["survivors"], road["strengthen"], road["refine"], road["review"]) == (1, 1, 2, 2)
    assert road["decide"] == 2
    assert "strengthen(strengthen: once):::visited" in draw_mermaid(iterated())
