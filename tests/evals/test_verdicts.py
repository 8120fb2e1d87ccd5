"""How far verdicts can be trusted: the figures are right, and an overconfident strategy cannot hide."""

import json
import time
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.evals.compare import compare
from burnish.evals.metrics import compute_results, count_attempt, read_results
from burnish.evals.reports.plots import draw_plots
from burnish.evals.reports.report import render_html
from burnish.evals.reports.report_text import VERDICT_PLOTS, describe_verdicts, list_estimates, render_markdown
from burnish.evals.schema import Results, Verdicts
from burnish.evals.verdicts import auroc, brier_score, calibration_error
from burnish.events import Answered
from burnish.intervals import wilson
from tests.evals.fake_evaluations import Made, attempt, betting, plausible, saying
from tests.snapshots import assert_snapshot

YES, NO = True, False


def verdicts(made: Made) -> Verdicts:
    found = compute_results(made).verdicts
    assert found
    return found


def test_an_attempt_is_as_sure_as_its_last_answer() -> None:
    events = attempt([NO, YES])
    first, last = (place for place, event in enumerate(events) if isinstance(event, Answered))
    events[first] = events[first].model_copy(update={"confidence": 0.4, "verdict": "plausible"})
    events[last] = events[last].model_copy(update={"confidence": 0.97, "verdict": "proven"})
    found = count_attempt("t", 0, events)
    assert (found.confidence, found.verdict) == (0.97, "proven")
    silent = count_attempt("t", 0, attempt([NO, YES]))
    assert (silent.confidence, silent.verdict) == (None, None)


def test_nobody_is_told_anything_of_an_attempt_that_broke() -> None:
    ((_, _, events),) = saying((0.99, YES)).tried
    broke = attempt([], error="hung up")[-1]
    found = count_attempt("t", 0, [*events, broke])
    assert (found.confidence, found.verdict, found.solved) == (None, None, False)


@pytest.mark.parametrize("sure", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_confidence_that_is_no_probability_is_none(sure: float) -> None:
    assert compute_results(saying((sure, YES))).verdicts is None


def test_a_strategy_that_says_nothing_has_no_such_figures() -> None:
    assert compute_results(plausible(5)).verdicts is None
    assert compute_results(Made([], task_ids=("a",))).verdicts is None


def test_proven_is_counted_with_precision_and_coverage() -> None:
    found = verdicts(saying((0.97, YES), (0.99, NO), (0.96, YES), (0.6, YES), (0.2, NO), (None, YES)))
    assert (found.attempts, found.with_confidence, found.proven, found.right) == (6, 5, 3, 2)
    assert found.proven_share == 0.5
    assert found.precision
    assert found.precision.value == pytest.approx(2 / 3)
    assert found.precision.interval == wilson(2, 3)
    assert found.coverage
    assert (found.coverage.value, found.coverage.interval) == (0.5, wilson(2, 4)), "silent, solved attempts count"


def test_nothing_proven_or_solved_has_no_share() -> None:
    found = verdicts(saying((0.3, NO), (0.5, NO)))
    assert (found.precision, found.coverage, found.auroc) == (None, None, None)
    assert describe_verdicts(found) == "proven: 0 of 2 attempts; ECE 0.40"


def test_the_arithmetic_of_small_samples() -> None:
    said = [(0.9, YES), (0.9, NO), (0.3, NO), (0.3, NO)]
    assert calibration_error(said) == pytest.approx((2 * 0.4 + 2 * 0.3) / 4)
    assert brier_score(said) == pytest.approx((0.01 + 0.81 + 0.09 + 0.09) / 4)
    assert auroc(said) == pytest.approx((2 + 0.5) / 3), "one wrong answer is as sure as the right one: half"
    assert auroc([(0.1, YES), (0.9, NO)]) == 0
    assert calibration_error([(1.0, YES), (0.0, NO)]) == 0, "the ends have a bin"


def test_bins_say_what_was_said_and_what_held() -> None:
    low, high = verdicts(saying((0.11, NO), (0.19, YES), (1.0, YES))).bins
    assert (low.low, low.high, low.n, low.solved.value) == (0.1, 0.2, 2, 0.5)
    assert low.confidence == pytest.approx(0.15)
    assert (high.low, high.high, high.n, high.solved.value) == (0.9, 1.0, 1, 1.0)


def test_risk_falls_when_only_the_surest_are_taken() -> None:
    points = verdicts(saying((0.9, YES), (0.9, YES), (0.5, NO), (0.1, NO))).risk_coverage
    assert [(one.confidence, one.coverage, one.risk) for one in points] == [
        (0.9, 0.5, 0),
        (0.5, 0.75, 1 / 3),
        (0.1, 1, 0.5),
    ]
    many = verdicts(betting(300)).risk_coverage
    assert len(many) == 20
    assert many[-1].coverage == 1
    assert many[4].risk < many[-1].risk / 2


def test_an_overconfident_strategy_has_a_bad_calibration_error_and_an_honest_one_a_good_one() -> None:
    honest, boasting = verdicts(betting(300)), verdicts(betting(300, honest=0.1))
    assert honest.ece.value < 0.08
    assert boasting.ece.value > 0.25
    assert boasting.ece.interval[0] > honest.ece.interval[1]
    assert boasting.brier.value > honest.brier.value
    assert honest.auroc
    assert boasting.auroc
    assert honest.auroc.value == pytest.approx(boasting.auroc.value, abs=0.02), "it still knows which are better"
    assert honest.precision
    assert boasting.precision
    assert honest.precision.value > 0.95 > 0.9 > boasting.precision.value


def test_what_chance_alone_would_show_falls_with_more_tasks() -> None:
    few, many, boasting = verdicts(betting(40)), verdicts(betting(300)), verdicts(betting(300, honest=0.1))
    assert few.ece_by_chance > 2 * many.ece_by_chance > 0
    assert many.ece.value < 2 * many.ece_by_chance
    assert boasting.ece.value > 5 * boasting.ece_by_chance
    assert verdicts(saying((1.0, YES), (0.0, NO))).ece_by_chance == 0


def test_a_constant_confidence_tells_nothing_apart() -> None:
    found = verdicts(betting(100, honest=0.0))
    assert found.auroc
    assert (found.auroc.value, found.auroc.interval) == (0.5, (0.5, 0.5))


def test_more_seeds_of_the_same_tasks_never_narrow_an_interval() -> None:
    rows = [(0.97, YES), (0.98, NO), (0.6, NO), (0.7, YES), (0.96, YES), (0.3, NO), (0.99, YES), (0.5, YES)]
    once, thrice = verdicts(saying(*rows)), verdicts(saying(*(row for row in rows for _ in range(3)), seeds=3))
    assert thrice.attempts == 24
    assert once.precision == thrice.precision
    for name in ("ece", "brier", "auroc"):
        one, three = getattr(once, name), getattr(thrice, name)
        assert one.value == pytest.approx(three.value)
        assert one.interval == pytest.approx(three.interval)
    assert [one.solved for one in once.bins] == [one.solved for one in thrice.bins]


def test_the_same_attempts_give_the_same_figures_quickly() -> None:
    made = betting(200)
    began = time.process_time()
    first = verdicts(made)
    assert time.process_time() - began < 3
    assert verdicts(made) == first


def test_an_interval_holds_its_figure_and_one_task_is_enough() -> None:
    for made in (betting(60), betting(60, honest=0.3), saying((0.9, YES)), saying((0.9, YES), (0.2, NO))):
        found = verdicts(made)
        for one in filter(None, (found.precision, found.coverage, found.brier, found.auroc)):
            assert 0 <= one.interval[0] <= one.value <= one.interval[1] <= 1
        assert 0 <= found.ece.interval[0] <= found.ece.interval[1] <= 1


def test_results_keep_the_figures_and_refuse_a_confidence_that_is_none(tmp_path: Path) -> None:
    found = compute_results(betting(20))
    path = tmp_path / "results.json"
    path.write_text(found.text())
    assert read_results(path) == found
    row = json.loads(found.text())
    row["attempts"][0]["confidence"] = 7
    path.write_text(json.dumps(row))
    with pytest.raises(SetupProblem):
        read_results(path)


def test_results_of_earlier_versions_open_and_compare_as_before() -> None:
    row = json.loads(compute_results(plausible(6)).text())
    del row["verdicts"]
    for one in row["attempts"]:
        del one["confidence"], one["verdict"]
    old = Results.model_validate(row)
    found = compare([old], [old.model_copy(update={"strategy": "other"})])
    assert (found.a.verdicts, found.b.verdicts) == (None, None)


def test_two_sides_are_compared_over_the_tasks_that_both_finished() -> None:
    honest, boasting = betting(80), betting(100, honest=0.1)
    found = compare([compute_results(honest)], [compute_results(boasting)])
    assert found.a.verdicts == compute_results(honest).verdicts
    assert found.b.verdicts
    assert found.b.verdicts.attempts == 80
    assert found.a.verdicts
    assert found.a.verdicts.ece.value < found.b.verdicts.ece.value


def test_the_figures_in_words() -> None:
    found = verdicts(betting(120))
    assert_snapshot(
        "\n".join([describe_verdicts(found), *(": ".join(row) for row in list_estimates(found))]),
        "evals/how far verdicts hold",
    )


def test_the_reports_draw_and_say_it_and_older_ones_do_not() -> None:
    made, silent = betting(30), plausible(5)
    found, old = compute_results(made), compute_results(silent)
    drawn = draw_plots(found)
    assert VERDICT_PLOTS.keys() <= drawn.keys()
    assert found.verdicts
    line = describe_verdicts(found.verdicts)
    page, markdown = render_html(found, made, drawn), render_markdown(found)
    assert line in page
    assert line in markdown
    for name in VERDICT_PLOTS:
        assert drawn[name] in page
        assert f"plots/{name}.svg" in markdown
        assert name not in draw_plots(old)
        assert name not in render_markdown(old)
    assert "verdict" not in render_html(old, silent, draw_plots(old)).partition("<main>")[2].partition("</main>")[0]
