"""The report says what was proven, what was not and what it cost; a model's words stay words in it."""

import re

import pytest

from burnish import Limits, Run, ScriptedModel
from burnish.errors import ModelError
from burnish.events import (
    Compared,
    Decided,
    Mutated,
    NewTest,
    Refined,
    Refused,
    Reviewed,
    Strengthened,
    Survivor,
    Tweaked,
)
from burnish.report.costs import describe_cost
from burnish.report.deliverables import read_suite, render_tests
from burnish.report.narrate import describe
from burnish.report.run_report import HEADLINES, render_report
from burnish.tasks import from_sentence
from tests.iterated import AGREED, EVENTS, PINNED, SPEC, iterated
from tests.snapshots import assert_snapshot
from tests.support import DOUBLE, ESC, SQUARE, attempt, block, script

pytestmark = pytest.mark.usefixtures("open_box")


def tried(sentence: str = DOUBLE, rounds: int = 1, **replies: str | list[str]) -> Run:
    return attempt(from_sentence(sentence), ScriptedModel(script(**replies)), limits=Limits(rounds=rounds))


def section(text: str, title: str) -> str:
    """One part of a report; empty where there is none of this title."""
    parts = dict(part.split("\n\n", 1) for part in text.split("\n## ")[1:])
    return parts.get(title, "").strip()


def row_of(text: str, test: str) -> list[str]:
    """The cells beside a test."""
    [row] = [line for line in section(text, "Tests").splitlines() if line.startswith(f"| `{test}` |")]
    return [cell.strip() for cell in row.strip("|").split("|")[1:]]


@pytest.mark.slow
def test_a_finished_run_tells_task_code_evidence_tests_versions_and_cost() -> None:
    run = tried(draft=SQUARE)
    text = render_report(run)
    assert HEADLINES["plausible"] in text
    assert (DOUBLE in section(text, "Task"), run.code in section(text, "Code")) == (True, True)
    assert describe_cost(run) in section(text, "Cost")
    assert_snapshot(
        "\n\n".join(section(text, title) for title in ("Evidence", "Tests", "Versions")), "report/proven run"
    )


@pytest.mark.slow
def test_how_the_result_came_about_is_told() -> None:
    run = tried(draft=SQUARE)
    further = (
        Tweaked(base=1, tried=40, passed=2),
        Compared(groups=((2, 3), (4,)), inputs=("double(1)",), apart="double(1): 2 or `3`"),
        Refused(what="an answer", why="it deletes a test"),
    )
    road = section(render_report(Run((*run.events, *further))), "How it came about").splitlines()
    assert all(event.choice == "judge" or event.reason[:40] in "\n".join(road) for event in run.all(Decided))
    assert [line.removeprefix("- ") for line in road[-3:]] == [describe(event).replace("`", "'") for event in further]


@pytest.mark.slow
def test_a_plausible_run_says_that_only_its_own_tests_vouch_for_it() -> None:
    run = tried("a function double(n) that doubles")
    text = render_report(run)
    assert run.verdict == "plausible"
    assert HEADLINES["plausible"] in text
    assert run.why[1:] in text


def test_a_failed_run_is_reported_without_pretending() -> None:
    text = render_report(tried(draft="no", repair="no", rewrite="no"))
    assert HEADLINES["failed"] in text
    assert section(text, "Code") == ""
    assert "|" not in section(text, "Evidence"), "no check was run, so there is no table"


def test_a_broken_run_is_reported_too() -> None:
    class Broken(ScriptedModel):
        def stream(self, *_: object) -> object:  # type: ignore[override]
            raise ModelError("the server said NO")

    text = render_report(attempt(from_sentence(DOUBLE), Broken([])))
    assert "**Broken**" in text
    assert "server said NO" in text


def test_names_keep_their_capitals_in_the_reason() -> None:
    other = block("class Other: ...")
    run = tried("a class Stack, e.g. Stack().size() == 0", draft="no", repair=other, rewrite=other)
    assert "Stack" in run.why
    assert run.why[1:] in render_report(run)


@pytest.mark.slow
def test_disputed_tests_are_shown_as_disputed() -> None:
    run = tried(tests=block("assert double(3) == 7\nassert double(0) == 0"), rounds=3)
    assert run.disputed == ("assert double(3) == 7",)
    text = render_report(run)
    disputed, other = row_of(text, "assert double(3) == 7"), row_of(text, "assert double(0) == 0")
    assert disputed[0] == other[0]
    assert disputed[1] not in ("passed", "failed", "not run")
    assert "# assert double(3) == 7" in render_tests(run)


WILD = f"{ESC}[31m{ESC}]0;title\x07<script>alert(1)</script> [bold]x[/bold] ![i](https://example.org/x) `tick` | \x9b2J"


@pytest.mark.slow
@pytest.mark.parametrize(
    "replies",
    [
        {"draft": WILD, "repair": WILD, "rewrite": WILD},
        {"draft": block(f"def double(a, b='''{WILD}''', c=0, *, d): ...")},
        {"draft": block(f"def double(n):\n    raise ValueError('''{WILD}''')")},
        {"draft": block(f"def double(n):\n    return '''{WILD}'''")},
        {"draft": block(f"def double(n):\n    '''{WILD}\n````\n# Heading'''\n    return n * 2")},
        {"tests": block(f"assert double(1) == '{WILD}'")},
        {"tests": WILD},
    ],
    ids=["prose", "signature", "exception", "value", "docstring", "test", "tests"],
)
def test_what_a_model_wrote_is_never_markup_or_an_escape(replies: dict[str, str]) -> None:
    text = render_report(tried(rounds=0, **replies))
    assert ESC not in text
    assert "\x9b" not in text
    for line in outside_code(text):
        assert "<script>" not in line
        assert "![i](" not in line
        assert "[bold]" not in line.replace("\\[bold]", "")


def outside_code(text: str) -> list[str]:
    """The lines that a Markdown reader would not show as code, without their `code` parts."""
    lines, fence = [], ""
    for line in text.splitlines():
        opening = re.match(r"`{3,}", line)
        if opening and not fence:
            fence = opening[0]
        elif fence and line.strip() == fence:
            fence = ""
        elif not fence:
            lines.append(re.sub(r"`[^`]*`", "", line))
    assert not fence, "a code block is left open"
    return lines


@pytest.mark.slow
def test_the_tests_file_is_the_suite_that_was_run() -> None:
    run = tried()
    assert read_suite(run).given == ("assert double(2) == 4", "assert double(5) == 10")
    compile(render_tests(run), "test_solution.py", "exec")


def test_a_reader_sees_whether_iterating_paid() -> None:
    assert_snapshot(section(render_report(iterated()), "What iterating brought"), "report/what iterating brought")


@pytest.mark.slow
def test_each_added_test_says_who_vouches_for_it_and_what_pinned_means() -> None:
    text = render_report(iterated())
    assert [row_of(text, test)[0].split()[0] for test in (AGREED, SPEC, PINNED)] == ["agreed", "spec", "pinned"]
    assert_snapshot(section(text, "Tests"), "report/added tests")
    assert "Pinned:" not in render_report(tried())


@pytest.mark.slow
def test_what_a_person_said_is_in_the_report() -> None:
    assert_snapshot(section(render_report(iterated()), "What a person said"), "report/what a person said")
    assert section(render_report(tried()), "What a person said") == ""


def test_a_report_is_the_same_each_time() -> None:
    assert render_report(iterated()) == render_report(iterated())


def test_what_went_unnoticed_and_what_was_said_of_it_is_never_markup() -> None:
    new = (
        NewTest(test=f"assert f('{WILD}')", origin="agreed", notices=("k",), why=WILD),
        NewTest(test=f"assert f('{WILD}') == 1", origin="pinned", notices=("k",), why=WILD),
    )
    wild = (
        Mutated(version=1, mutants=2, noticed=0, survivors=(Survivor(key="a", line=1, said=WILD),), why=WILD),
        Strengthened(version=1, tests=new, exposing=(WILD,)),
        Refined(check=WILD, base=1, version=2, kept=True, before=WILD, after=WILD, why=WILD),
        Refined(check=WILD, base=1, version=2, kept=False, before=WILD, after=WILD, why=WILD),
        Reviewed(where="checks", said="comment", words=WILD, text=WILD),
    )
    text = render_report(Run((*EVENTS[:10], *wild)))
    assert ESC not in text
    assert "\x9b" not in text
    for line in outside_code(text):
        assert "<script>" not in line
        assert "![i](" not in line
        assert "[bold]" not in line.replace("\\[bold]", "")
