"""The live screen of an evaluation: where it stands, how long it takes, and never a number without its protocol."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from burnish.cli.eval_screen import EvalScreen, clock, compare_on_screen, run_on_screen
from burnish.evals.eval_store import Folder
from burnish.evals.handle import AttemptFinished, EvalBegun, Preparing, start_evaluation
from burnish.evals.reports.report import write_reports
from burnish.evals.reports.report_text import describe_verdicts, list_estimates
from burnish.evals.runner import EvalProgress
from burnish.evals.schema import Attempt, Plan, Results
from burnish.events import Answered, Asked, Broke, CodeProposed, Event, Message, ModelReplied, Scored
from tests.evals.fake_evaluations import betting
from tests.evals.toys import toys
from tests.support import ESC, assert_words


def attempt(passed: bool, broke: str = "") -> list[Event]:
    """The events of one attempt with one call."""
    asked = Asked(
        ask_id="a",
        purpose="fix",
        messages=(Message(role="user", content="x"),),
        temperature=0,
        top_p=1,
        max_tokens=9,
        seed=0,
    )
    if broke:
        return [asked, Broke(error="ModelError", message=broke)]
    replied = ModelReplied(ask_id="a", purpose="fix", text="x", tokens_in=5, tokens_out=50, seconds=1)
    answered = [CodeProposed(version=1, code="x", by="fix"), Answered(call=1, round=0, version=1)]
    return [asked, replied, *answered, Scored(version=1, passed=passed, why="" if passed else "assert 1 == 2")]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    plan = Plan(suite="toys", model="scripted:gold", engine="script", strategy="single", protocol="oracle")
    return Folder.create(tmp_path / "eval", plan, toys(20), [])


def shown(screen: EvalScreen) -> str:
    """The moving part as it stands now."""
    console = Console(file=io.StringIO(), width=200)
    console.print(screen)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def screen_on(terminal: bool, verbose: bool = False) -> tuple[EvalScreen, io.StringIO]:
    out = io.StringIO()
    return EvalScreen(Console(file=out, force_terminal=terminal, width=200, highlight=False), verbose), out


def test_the_moving_part_says_how_far_what_is_solved_and_by_which_protocol(folder: Folder) -> None:
    screen, _ = screen_on(terminal=True)
    with screen:
        screen.show(EvalBegun.tell(folder))
        assert_words(shown(screen))
        screen.show(AttemptFinished.tell(folder, "toy-1", 0, attempt(passed=True)))
        screen.show(AttemptFinished.tell(folder, "toy-2", 0, attempt(passed=False)))
        screen.show(AttemptFinished.tell(folder, "toy-3", 0, attempt(passed=False, broke="the server hung up")))
        said = shown(screen)
    assert_words(said)


def test_tasks_being_checked_are_shown_first(folder: Folder) -> None:
    screen, out = screen_on(terminal=True)
    with screen:
        screen.show(Preparing(done=7, total=20, what="checking the tasks"))
        assert "7/20 checking the tasks" in shown(screen)
    assert "checking the tasks" in out.getvalue()


def test_weights_that_are_fetched_take_the_place_of_what_moved_before(folder: Folder) -> None:
    screen, _ = screen_on(terminal=True)
    with screen:
        screen.show(Preparing(done=20, total=20, what="checking the tasks"))
        assert screen._live
        screen.show(Preparing(kind="fetching", done=1, total=100, what="the hub"))
        assert screen._live is None
        screen.show(EvalBegun.tell(folder))
        assert screen._live
        assert screen._fetch is None


def test_without_a_terminal_there_are_few_lines_and_no_escapes(folder: Folder) -> None:
    screen, out = screen_on(terminal=False)
    with screen:
        screen.show(EvalBegun.tell(folder))
        for number in range(1, 21):
            screen.show(AttemptFinished.tell(folder, f"toy-{number}", 0, attempt(passed=number % 2 == 0)))
    assert ESC not in out.getvalue()
    assert_words(out.getvalue())


def test_what_is_on_disk_counts_and_is_said(folder: Folder) -> None:
    folder.write("toy-1", 0, attempt(passed=True))
    screen, out = screen_on(terminal=False)
    with screen:
        screen.show(EvalBegun.tell(folder))
    assert_words(out.getvalue())
    assert "1/20 done" in shown(screen)


def test_verbose_says_why_an_attempt_failed_and_obeys_nothing(folder: Folder) -> None:
    screen, out = screen_on(terminal=False, verbose=True)
    with screen:
        screen.show(EvalBegun.tell(folder))
        screen.show(AttemptFinished.tell(folder, "toy-1", 0, attempt(passed=True)))
        screen.show(AttemptFinished.tell(folder, "toy-2", 0, attempt(passed=False)))
        screen.show(AttemptFinished.tell(folder, "toy-3", 0, attempt(passed=False, broke=f"{ESC}[31m[red]gone[/red]")))
    lines = out.getvalue().splitlines()[2:]
    assert [line.split()[:2] for line in lines] == [["toy-1", "solved"], ["toy-2", "failed"], ["toy-3", "broke"]]
    assert lines[1].endswith("(1 call, 50 tokens, 0.0 s): assert 1 == 2")
    assert lines[2].endswith(": [red]gone[/red]")
    assert ESC not in out.getvalue()


@pytest.mark.parametrize(("seconds", "said"), [(0.4, "0 s"), (59, "59 s"), (185, "3:05 min"), (7800, "2:10 h")])
def test_times_are_for_people(seconds: float, said: str) -> None:
    assert clock(seconds) == said


def test_the_table_at_the_end_and_a_comparison_say_how_far_verdicts_hold(
    folder: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for one, (_, _, events) in zip(folder.task_ids, betting(20).tried, strict=True):
        folder.write(one, 0, events)

    def run(watch: EvalProgress) -> Results:
        watch.on_begin(folder)
        return write_reports(folder)

    results = run_on_screen(start_evaluation(run), verbose=False, as_json=False)
    assert results.verdicts
    assert describe_verdicts(results.verdicts) in capsys.readouterr().out.splitlines()
    old = tmp_path / "old.json"
    old.write_text(results.model_copy(update={"attempts": silenced(results), "verdicts": None}).text())
    compare_on_screen((str(old), str(folder.path)), None, as_json=False)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    for label, figure in list_estimates(results.verdicts):
        assert [*label.split(), "not", "said", *figure.split()] in lines
    compare_on_screen((str(old), str(old)), None, as_json=False)
    assert "ECE" not in capsys.readouterr().out


def silenced(results: Results) -> tuple[Attempt, ...]:
    """The attempts as a version that did not say how sure it was left them."""
    return tuple(one.model_copy(update={"confidence": None, "verdict": None}) for one in results.attempts)
