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
from burnish.report.deliverables import read_suite, render_tests
from burnish.report.run_report import render_report
from burnish.tasks import from_sentence
from tests.iterated import EVENTS, iterated
from tests.support import DOUBLE, ESC, SQUARE, attempt, block, script

pytestmark = pytest.mark.usefixtures("open_box")


def tried(sentence: str = DOUBLE, rounds: int = 1, **replies: str | list[str]) -> Run:
    return attempt(from_sentence(sentence), ScriptedModel(script(**replies)), limits=Limits(rounds=rounds))


def test_a_proven_run_tells_task_code_evidence_tests_versions_and_cost() -> None:
    text = render_report(tried(draft=SQUARE))
    for part in ("**Proven:", "## Task", "## Code", "## Evidence", "## Tests", "## Versions", "## Cost"):
        assert part in text
    assert "| tests | passed |  | all 5 tests passed |" in text
    assert "| `assert double(2) == 4` | you | passed |" in text
    assert "| `assert double(0) == 0` | the model | passed |" in text
    assert "- Version 1 (draft): 2 passed, 3 failed" in text
    assert "no money" in text


def test_how_the_result_came_about_is_told() -> None:
    run = tried(draft=SQUARE)
    further = (
        Tweaked(base=1, tried=40, passed=2),
        Compared(groups=((2, 3), (4,)), inputs=("double(1)",), apart="double(1): 2 or `3`"),
        Refused(what="an answer", why="it deletes a test"),
    )
    text = render_report(Run((*run.events, *further)))
    road = text.split("## How it came about")[1].split("## Cost")[0]
    assert all(event.choice == "judge" or event.reason[:40] in road for event in run.all(Decided))
    assert "- 40 small edits of version 1 were tried without asking the model: 2 of them passed" in road
    assert "2 groups that behave alike: 2 and 3; 4; they differ at double(1): 2 or '3'." in road
    assert "- Refused: an answer, because it deletes a test." in road


def test_a_plausible_run_says_that_only_its_own_tests_vouch_for_it() -> None:
    assert "only its own tests vouch for it" in render_report(tried("a function double(n) that doubles"))


def test_a_failed_run_is_reported_without_pretending() -> None:
    text = render_report(tried(draft="no", repair="no", rewrite="no"))
    assert "**Failed:" in text
    assert "## Code" not in text
    assert "No check was run." in text


def test_a_broken_run_is_reported_too() -> None:
    class Broken(ScriptedModel):
        def stream(self, *_: object) -> object:  # type: ignore[override]
            raise ModelError("the server said NO")

    text = render_report(attempt(from_sentence(DOUBLE), Broken([])))
    assert "**Broken**" in text
    assert "The server said NO." in text


def test_names_keep_their_capitals_in_the_reason() -> None:
    other = block("class Other: ...")
    run = tried("a class Stack, e.g. Stack().size() == 0", draft="no", repair=other, rewrite=other)
    assert "No version could be run: the code does not define Stack." in render_report(run)


def test_disputed_tests_are_shown_as_disputed() -> None:
    run = tried(tests=block("assert double(3) == 7\nassert double(0) == 0"), rounds=3)
    assert "| `assert double(3) == 7` | the model | disputed, set aside |" in render_report(run)
    assert "# assert double(3) == 7" in render_tests(run)


WILD = f"{ESC}[31m{ESC}]0;title\x07<script>alert(1)</script> [bold]x[/bold] ![i](https://example.org/x) `tick` | \x9b2J"


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


def test_the_tests_file_is_the_suite_that_was_run() -> None:
    run = tried()
    assert read_suite(run).given == ("assert double(2) == 4", "assert double(5) == 10")
    compile(render_tests(run), "test_solution.py", "exec")


def test_a_reader_sees_whether_iterating_paid() -> None:
    text = render_report(iterated()).split("## What iterating brought\n\n")[1].split("\n\n## ")[0]
    assert "| first version | 1 | 2 of 2 | 37 % | 81 | 2 | 5.0 | 42 |" in text
    assert "| new tests | 1 | 4 of 4 | 62 % | 81 | 2 | 9.0 | 104 |" in text
    assert "| security | 2 | 4 of 4 |  | 81 | 2 | 12.0 | 136 |" in text
    assert "- New tests raised the mutation score from 37 to 62 %, for 62 tokens and 6.0 s." in text
    assert "- The round for quality (60 of 100) was not kept, for 32 tokens and 2.5 s: a test was lost." in text
    assert "still go unnoticed:\n\n- line 2: 'n' is removed" in text
    assert "No input told these from the code (probably equivalent):\n\n- line 2: 'else' is removed" in text
    assert "pinned tests alone:\n\n- line 2: ''0'' becomes" in text


def test_each_added_test_says_who_vouches_for_it_and_what_pinned_means() -> None:
    text = render_report(iterated())
    assert "| `assert f(1) == 1` | agreed (3 of 4 versions say so) | passed |" in text
    assert "| `assert f(0) == 0` | spec | passed |" in text
    assert "| `assert f(-9) == 0` | pinned | passed |" in text
    assert "Pinned: it says what the code does now. It proves nothing" in text
    assert "Pinned:" not in render_report(tried())


def test_what_a_person_said_is_in_the_report() -> None:
    text = render_report(iterated())
    assert "- A person looked at the code and its checks and made a comment about line 2: why not max(n, 0)?" in text
    assert "- A person looked at the code and its checks and said: go on." in text
    assert "What a person said" not in render_report(tried())


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
