"""How good a model is at pages: every run counts once, nothing that is finished is lost, and chance is told apart."""

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from burnish.commands.exchange import export_runs, import_runs
from burnish.commands.page import LIMITS, tick
from burnish.errors import SetupProblem
from burnish.evals.compare import permute_by_case
from burnish.evals.pages import PageAttempt, PagesFolder, PagesPlan, evaluate_pages, resume_pages
from burnish.evals.reports.pages_report import (
    PagesResults,
    compare_pages,
    compute_page_results,
    draw_scores,
    write_page_reports,
)
from burnish.models.scripted import ScriptedModel
from burnish.pages import attempt as page_attempt
from burnish.runs import Store
from burnish.runs.attempt import Resources, RunHandle
from burnish.runs.request import Request
from tests.cli.conftest import Call, call
from tests.pages.fake_page import FakePage, seen
from tests.support import block

__all__ = ["call"]
CASE = """\
sentence = "Write a number into the element dyn-ui."
[[criteria]]
name = "number"
what = "A number is there."
points = 8
script = "number()"
[[criteria]]
name = "looks"
what = "It looks good."
points = 2
by = "person"
"""
FIRST, SECOND = block("first()", "js"), block("second()", "js")


@pytest.fixture
def case(tmp_path: Path) -> str:
    folder = tmp_path / "number"
    folder.mkdir()
    (folder / "case.toml").write_text(CASE)
    return str(folder)


def start_fake(
    request: Request, resources: Resources, begin: Callable[..., RunHandle] = page_attempt.start_page
) -> RunHandle:
    """A run whose page throws at `first()`, and whose probe holds of all else."""
    page = FakePage(
        lambda code: seen(error="ReferenceError: first", line=1) if "first" in code else seen(),
        values=lambda script: "first" not in page.ran[-1][1],
    )
    return begin(request, resources, page.open)


def model(*answers: str, name: str = "scripted:x") -> ScriptedModel:
    return ScriptedModel({"page": list(answers)}, name)


def measure(case: str, *answers: str, seeds: Sequence[int] = (0, 1), **more: Any) -> PagesFolder:
    return evaluate_pages([case], model(*answers), LIMITS, seeds=seeds, start=start_fake, **more)


def test_every_run_is_counted_with_points_by_criterion_rounds_time_and_cost(case: str) -> None:
    folder = measure(case, FIRST, SECOND, seeds=(0, 1, 2))
    results = write_page_reports(folder)
    (counted,) = results.by_case
    assert (counted.runs, counted.of, counted.working, counted.versions) == (3, 8, 3, 2.0)
    assert results.share
    assert results.share.value == 0.5, "what holds since the second version gives half"
    assert results.share.interval[0] < 0.5 < results.share.interval[1]
    assert counted.seconds_to_working is not None
    assert (counted.dollars, counted.follow_ups) == (0, 0)
    points = {one.name: (one.points, one.held, one.judged) for one in counted.criteria}
    assert points == {"number": (4.0, 3, 3), "looks": (0.0, 0, 0)}
    assert len({attempt.run_id for attempt in results.attempts}) == 3
    report = (folder.path / "report.md").read_text()
    assert all(attempt.run_id in report for attempt in results.attempts)
    assert "burnish eval pages" in report


def test_the_plot_has_a_dot_for_every_run(case: str) -> None:
    results = write_page_reports(folder := measure(case, FIRST, SECOND, seeds=(0, 1, 2, 3, 4)))
    picture = (folder.path / "plots" / "scores.svg").read_text()
    named = {name for name in re.findall(r"<title>[^<]*?seed \d+, ([\w-]+)</title>", picture)}
    assert named == {attempt.run_id for attempt in results.attempts}
    assert (folder.path / "report.html").read_text().count("<title>4 of 8 points") == 5
    both = draw_scores([[results], [results]])
    assert both.count("points, seed") == 10


def test_what_people_tick_is_in_the_figures_and_gives_no_points_of_the_evaluation(case: str, store: Store) -> None:
    folder = measure(case, SECOND)
    for attempt in compute_page_results(folder).attempts:
        tick(attempt.run_id, "looks", True, store=store)
        tick(attempt.run_id, "number", False, store=store)
    results = compute_page_results(folder)
    looks = next(one for one in results.by_case[0].criteria if one.name == "looks")
    assert (looks.points, looks.held, looks.judged) == (2.0, 2, 2)
    assert results.share
    assert results.share.value == 1.0
    assert (results.ticks, results.agreement) == (2, None), "two are too few for κ"


def test_more_seeds_are_added_and_nothing_that_is_finished_is_made_again(case: str) -> None:
    folder = measure(case, SECOND, seeds=(0,))
    before = compute_page_results(folder).attempts
    after = compute_page_results(resume_pages(str(folder.path), seeds=(0, 1), model=model(SECOND), start=start_fake))
    assert after.attempts[: len(before)] == before
    assert [attempt.seed for attempt in after.attempts] == [0, 1]


def test_runs_of_an_evaluation_that_broke_are_on_record_and_made_again(case: str) -> None:
    def refuse(request: Request, resources: Resources) -> RunHandle:
        from burnish.errors import SandboxError

        page = FakePage(lambda code: (_ for _ in ()).throw(SandboxError("the browser is gone")))
        return page_attempt.start_page(request, resources, page.open)

    folder = evaluate_pages([case], model(SECOND), LIMITS, seeds=(0, 1), start=refuse)
    broken = write_page_reports(folder)
    assert (broken.errors, broken.finished) == (2, 2)
    assert broken.share
    assert broken.share.value == 0
    again = resume_pages(str(folder.path), model=model(SECOND), start=start_fake)
    assert compute_page_results(again).errors == 0


def test_a_case_that_was_changed_is_refused(case: str) -> None:
    folder = measure(case, SECOND, seeds=(0,))
    (Path(case) / "case.toml").write_text(CASE.replace("points = 8", "points = 9"))
    with pytest.raises(SetupProblem, match="no longer what it was"):
        resume_pages(str(folder.path), seeds=(0, 1), model=model(SECOND), start=start_fake)


def fake_results(points: Sequence[int], of: int = 10, rubric: str = "r", name: str = "scripted:a") -> PagesResults:
    """An evaluation at one case that gave these points."""
    plan = PagesPlan(
        model=name, cases=({"name": "c", "source": "c", "of": of, "rubric": rubric},), seeds=(), limits=LIMITS
    )
    rows = tuple(
        PageAttempt(state="over", case="c", seed=seed, run_id=f"{name}-{seed}", points=one, of=of, verdict="plausible")
        for seed, one in enumerate(points)
    )
    figures = dict(planned=len(rows), finished=len(rows), errors=0, share=None, tokens=0, dollars=0.0, by_case=())
    return PagesResults(**plan.model_dump(), **figures, attempts=rows)


def test_p_values_are_exact_where_they_can_be_counted_by_hand() -> None:
    # Of the 20 ways to deal six runs to two sides, only two are as far apart as these.
    assert permute_by_case([([0, 1, 2], [7, 8, 9], 10)]) == (2 / 20, True)
    # Two against two, all different: as far apart in 2 of 6.
    assert permute_by_case([([0, 1], [5, 9], 10)]) == (2 / 6, True)
    # Two cases: both have to be dealt so, 2 of 6 × 6 ways.
    assert permute_by_case([([0, 1], [5, 9], 10), ([0, 1], [5, 9], 10)]) == (2 / 36, True)
    assert permute_by_case([([4, 4], [4, 4], 10)]) == (1.0, True)


def test_models_that_differ_are_told_apart_and_chance_is_called_noise() -> None:
    a, b = fake_results([0, 1, 2, 1, 0, 2]), fake_results([7, 8, 9, 8, 7, 9], name="scripted:b")
    found = compare_pages([a], [b])
    assert found.p == pytest.approx(2 / 924)
    assert found.difference == pytest.approx(0.7)
    assert found.sentence.startswith("B gets 70.0 points of 100 more")
    assert "more than noise" in found.sentence
    same = compare_pages([fake_results([3, 9, 0, 8, 5, 4])], [fake_results([5, 0, 9, 3, 8, 5], name="scripted:b")])
    assert same.p > 0.5
    assert "within noise" in same.sentence
    assert same.interval[0] < 0 < same.interval[1]


def test_planted_sides_without_a_difference_have_small_p_values_as_seldom_as_they_should() -> None:
    from random import Random

    random = Random(7)
    sides = [[random.choice((0, 2, 5, 9, 10)) for _ in range(12)] for _ in range(300)]
    found = [permute_by_case([(side[:6], side[6:], 10)])[0] for side in sides]
    assert sum(p < 0.05 for p in found) <= 0.09 * len(found)
    assert sum(p < 0.5 for p in found) >= 0.3 * len(found), "nor are they all large"


def test_what_is_not_the_same_case_is_not_compared() -> None:
    with pytest.raises(SetupProblem, match="rubric"):
        compare_pages([fake_results([1])], [fake_results([1], rubric="another", name="scripted:b")])
    with pytest.raises(SetupProblem, match="twice"):
        compare_pages([fake_results([1]), fake_results([1])], [fake_results([1], name="scripted:b")])


def test_an_evaluation_goes_elsewhere_with_all_of_its_runs(
    case: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = measure(case, FIRST, SECOND)
    before = compute_page_results(folder)
    names = export_runs([folder.path.name], tmp_path / "runs.zip", store)
    assert {*names} == {folder.path.name, *(attempt.run_id for attempt in before.attempts)}
    monkeypatch.setenv("BURNISH_HOME", str(tmp_path / "elsewhere"))
    import_runs(tmp_path / "runs.zip")
    there = PagesFolder.open(tmp_path / "elsewhere" / "evals" / folder.path.name)
    assert compute_page_results(there) == before
    assert {row.id for row in Store().list()} == {attempt.run_id for attempt in before.attempts}
    with pytest.raises(SetupProblem, match="already"):
        import_runs(tmp_path / "runs.zip")


def test_options_that_say_nothing_of_pages_are_refused(call: Call) -> None:
    assert "--strategy" in call("eval", "pages", "--strategy", "retry").err
    assert call("eval", "pages", "--strategy", "retry").code == 2
    assert call("eval", "humaneval", "--case", "life").code == 2
    assert call("eval", "pages", "--case", "nowhere", "--model", "scripted:demo").code == 2


def test_the_commands_measure_go_on_list_and_compare(
    call: Call, case: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(page_attempt, "start_page", partial(start_fake, begin=page_attempt.start_page))
    script = tmp_path / "answers.json"
    script.write_text(json.dumps({"page": [FIRST, SECOND]}))
    measured = ("eval", "pages", "--case", case, "--model", f"scripted:{script}")
    told = call(*measured, "--out", "one", "--json")
    assert told.code == 0, told.err
    results = json.loads(told.out)
    assert (results["finished"], results["attempts"][0]["points"]) == (1, 4)
    assert call("eval", "resume", "one", "--seeds", "3").code == 0
    assert call(*measured, "--out", "one").code == 2, "it is there"
    assert len(PagesFolder.open(Path("one")).attempts()) == 3
    assert call(*measured, "--seeds", "2", "--rounds", "0").code == 0
    assert "2/2" in call("eval", "list").out
    compared = call("compare", "one", "last", "--json", "--plot", "both.svg")
    assert compared.code == 0, compared.err
    found = json.loads(compared.out)
    assert found["p"] == pytest.approx(1 / 10), "one of the ten ways to deal five runs"
    assert found["difference"] == -0.5
    assert Path("both.svg").read_text().startswith("<svg")
    assert call("compare", "one", "last", "--plot", "both.png").code == 2
