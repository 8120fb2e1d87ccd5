"""Stories of the agent at full strength: the picture, a draft that fails on its way to a verdict, a repair."""

from pathlib import Path

import pytest

from burnish import Limits, ScriptedModel, Store, explain, fix, write
from burnish.events import Asked, Compared, Decided, Tweaked
from tests import graph_page
from tests.support import ROOT, block, burnish

LEAP = "a function leap(year) that says whether a year is a leap year, e.g. leap(2024) == True and leap(1900) == False"
OWN = block("assert leap(2023) == False\nassert leap(2000) == True\nassert leap(2100) == False")
DRAFT = block("def leap(year):\n    return 'leap' if str(year).endswith('0') else 'no'")
RIGHT = block("def leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)")
ALSO = block("import calendar\n\n\ndef leap(year):\n    return calendar.isleap(year)")
KNOWN = """\
RATE = 7  # stays


def other(n):
    return n


def above(xs, least):
    \"\"\"Those of xs that are more than least.

    >>> above([1, 2, 3], 2)
    [3]
    >>> above([], 1)
    []
    \"\"\"
    return [str(x) for x in sorted(xs, key=str)]
"""
MENDED = block("def above(xs, least):\n    return [x for x in xs if x > least]")


@pytest.mark.slow
def test_the_picture_in_the_docs_is_what_the_command_prints(work_folder: Path) -> None:
    printed = burnish("explain", "--graph", cwd=work_folder).stdout.strip()
    page = (ROOT / "docs" / "graph.md").read_text("utf-8")
    assert f"```mermaid\n{printed}\n```" in page
    assert page == graph_page.page()
    for node in ("specify", "tests", "draft", "rewrite", "repair", "run", "tweak", "select", "judge"):
        assert f"\t{node}({node})" in page


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_from_a_draft_that_fails_through_edits_and_fresh_versions_to_a_verdict(tmp_path: Path, store: Store) -> None:
    answers = {"": [RIGHT], "draft": [DRAFT], "rewrite": [RIGHT, ALSO], "tests": [OWN]}
    model = ScriptedModel(answers, name="local:tiny-0.5b")
    run = write(LEAP, model, limits=Limits(rounds=4), out=tmp_path / "out", store=store, fast=True)
    assert run.verdict in ("proven", "plausible")
    assert run.versions[0].graded
    assert not run.versions[0].graded.all_passed
    looked_at = run.all(Tweaked)
    assert looked_at
    assert looked_at[0].base == 1
    asked = [ask.purpose for ask in run.all(Asked)]
    assert sorted(asked[:2]) == ["draft", "tests"]
    assert "rewrite" in asked
    assert run.last(Compared), "two ways to write it were run on many inputs"
    assert run.all(Decided)[-1].choice == "judge"
    assert run.final
    assert run.final.by != "draft"
    assert sorted(file.name for file in (tmp_path / "out").iterdir())[-2:] == ["solution.py", "test_solution.py"]

    told = explain(run)
    for decision in run.all(Decided):
        assert " ".join(decision.reason.split()[:4]) in " ".join(told.split())
    marked = burnish("explain", run.id, "--graph", cwd=tmp_path).stdout
    for node in ("draft", "tweak", "rewrite", "select", "judge"):
        assert f"{node}({node}: " in marked


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_a_repair_goes_from_broken_code_to_one_changed_function(work_folder: Path, store: Store) -> None:
    (work_folder / "known.py").write_text(KNOWN)
    model = ScriptedModel({"": [MENDED], "tests": [block("assert above([5], 5) == []")]}, name="local:tiny-0.5b")
    run = fix("known.py", model, apply=True, store=store, limits=Limits(rounds=4))
    assert run.verdict in ("proven", "plausible"), run.why
    assert run.versions[0].by == "given"
    assert run.last(Tweaked), "small edits of the broken code came first"
    now = (work_folder / "known.py").read_text()
    assert now.startswith(KNOWN.partition("    return [str")[0]), "every byte above the repair, its docstring too"
    assert now.endswith("    return [x for x in xs if x > least]\n")
    assert "small edit" in explain(run)
