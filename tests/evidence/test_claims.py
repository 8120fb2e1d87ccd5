"""Verdicts must be the same; a figure may differ by as much as chance makes it differ, and no more."""

import re

import pytest

from burnish.events import Evidence, Outcome
from burnish.evidence import build_dossier
from burnish.evidence.claims import Claim, claim_check, claim_tests, claim_verdict, read_value, read_versions
from burnish.evidence.schema import CheckAnswer
from tests.evidence.test_build import RUN
from tests.snapshots import assert_snapshot

DOSSIER = build_dossier(RUN, {})


def claimed(check: str, said: str, found: str, verdict: Outcome = "passed", here: Outcome = "passed") -> Claim:
    """Said in words alone, as before version 3; found with what the check measured."""
    evidence = Evidence(check=check, verdict=here, why="so it is", figure=found, details=measured(check, found))
    return claim_check(
        CheckAnswer(check=check, verdict=verdict, figure=said), evidence, {"ruff": "0.1"}, {"ruff": "0.2"}
    )


def measured(check: str, figure: str) -> dict[str, object]:
    """The details of a check with such a figure."""
    if check == "performance":
        growth = figure.partition(": ")[2].partition(",")[0]
        return {"functions": [{"name": "double", "file": "a.py", "line": 1, "growth": growth}]}
    numbers = [float(one) for one in re.findall(r"[\d.]+", figure)]
    if not numbers:
        return {}
    interval = numbers[1:3] if len(numbers) > 2 else numbers[:1] * 2
    return {"coverage": {"percent": numbers[0]}, "mutation": {"score": numbers[0], "interval": interval}}.get(
        check, {"score": numbers[0]}
    )


OUTCOMES = {
    **{f"x_f__mutmut_{number}": "killed" for number in range(3)},
    **{f"x_f__mutmut_{number}": "equivalent" for number in (3, 4)},
    **{f"f__branch_{number}": "killed" for number in range(5)},
}


def test_evidence_from_before_equivalent_mutants_is_compared_as_it_was_counted() -> None:
    details = {"score": 100.0, "interval": [100.0, 100.0], "equivalent": 2, "outcomes": OUTCOMES}
    found = Evidence(check="mutation", verdict="passed", why="", figure="100 %", details=details)
    older = CheckAnswer(check="mutation", verdict="passed", figure="60 %", value=60.0)
    assert claim_check(older, found, {}, {}).answer == "holds"
    newer = older.model_copy(update={"equivalent": 2})
    assert claim_check(newer, found, {}, {}).answer == "does_not_hold"
    today = newer.model_copy(update={"figure": "100 %", "value": 100.0})
    assert claim_check(today, found, {}, {}).answer == "holds"


def test_an_older_failure_of_nothing_but_equivalent_mutants_holds_and_is_none_today() -> None:
    outcomes = {"x_f__mutmut_1": "equivalent", "x_f__mutmut_2": "equivalent", "f__branch_1": "killed"}
    details = {"score": 100.0, "interval": [100.0, 100.0], "equivalent": 2, "outcomes": outcomes}
    found = Evidence(check="mutation", verdict="passed", why="", figure="100 %", details=details)
    older = CheckAnswer(check="mutation", verdict="failed", figure="0 %", value=0.0)
    assert claim_check(older, found, {}, {}).answer == "holds"


@pytest.mark.parametrize(
    ("check", "figure", "value"),
    [
        ("coverage", "92 % of lines and branches", 92.0),
        ("mutation", "62 % (50 to 70), 5 of 9 tried", 62.0),
        ("quality", "75.4 of 100", 75.4),
        ("performance", "double: linear, 12 ms at 65 536", "linear"),
        ("security", "no findings", None),
    ],
)
def test_what_a_check_measured_is_a_value_and_its_words_may_change(
    check: str, figure: str, value: float | str | None
) -> None:
    found = Evidence(check=check, verdict="passed", why="", figure=figure, details=measured(check, figure))
    assert read_value(found) == value
    said = CheckAnswer(check=check, verdict="passed", figure="in other words", value=value)
    assert claim_check(said, found, {}, {}).answer == ("holds" if value else "does_not_hold")


@pytest.mark.parametrize(
    ("check", "said", "found"),
    [
        ("coverage", "100 % of lines and branches", "100 % of lines and branches"),
        ("coverage", "92 % of lines and branches", "93 % of lines and branches"),
        ("mutation", "80 %", "76 %"),
        ("mutation", "62 %", "80 % (60 to 92), 20 of 90 tried"),
        ("quality", "75 of 100", "75.4 of 100"),
        ("security", "no findings", "no findings"),
        ("performance", "double: linear, 12 ms at 65 536", "double: n log n, 40 ms at 32 768"),
        ("performance", "double: constant, 12 ms at 65 536", "other: constant, 40 ms at 32 768"),
    ],
)
def test_what_chance_can_do_is_no_difference(check: str, said: str, found: str) -> None:
    assert claimed(check, said, found).answer == "holds"


@pytest.mark.parametrize(
    ("check", "said", "found"),
    [
        ("coverage", "100 % of lines and branches", "82 % of lines and branches"),
        ("mutation", "100 %", "61 %"),
        ("mutation", "99 % (95 to 100), 60 of 90 tried", "62 %"),
        ("mutation", "99 % (0 to 100), 1 of 90 tried", "3 %"),
        ("mutation", "99 % (0 to 100), 1 of 90 tried", "3 % (1 to 12), 20 of 90 tried"),
        ("mutation", "80 % (60 to 92), 20 of 90 tried", "62 %"),
        ("mutation", "", "80 %"),
        ("mutation", "very good", "80 %"),
        ("quality", "95 of 100", "75 of 100"),
        ("security", "no findings", "2 findings, the worst of low severity, surely right"),
        ("dependencies", "0 packages, 0 with advisories", "1 package, 0 with advisories"),
        ("performance", "double: constant, 12 ms at 65 536", "double: quadratic, 40 ms at 32 768"),
        ("performance", "fast", "double: constant, 40 ms at 32 768"),
    ],
)
def test_what_chance_cannot_do_does_not_hold_and_both_figures_are_told(check: str, said: str, found: str) -> None:
    claim = claimed(check, said, found)
    assert claim.answer == "does_not_hold"
    assert found in claim.why
    assert said in claim.why


def test_another_verdict_never_holds() -> None:
    claim = claimed("quality", "60 of 100", "59.9 of 100", here="failed")
    assert (claim.answer, claim.said, claim.found) == ("does_not_hold", "passed, 60 of 100", "failed, 59.9 of 100")
    assert claimed("quality", "60 of 100", "60 of 100", verdict="failed").answer == "does_not_hold"


def test_a_check_that_cannot_be_run_here_was_not_tried() -> None:
    claim = claimed("dependencies", "0 packages, 0 with advisories", "", here="not_run")
    assert (claim.answer, claim.why) == ("not_tried", "so it is")


def test_other_versions_of_the_tools_are_told_where_something_differs() -> None:
    told = claimed("quality", "95 of 100", "75 of 100").why
    assert [part in told for part in ("ruff", "0.1", "0.2")] == [True, True, True]
    assert (
        "ruff"
        not in claimed("security", "no findings", "1 finding, the worst of low severity, maybe a false alarm").why
    )


def test_the_words_of_older_evidence_for_the_worst_finding_still_hold() -> None:
    here = "2 findings, the worst of low severity, surely right"
    assert claimed("security", "2 findings, worst low/high", here).answer == "holds"
    assert claimed("security", "3 findings, worst low/high", here).answer == "does_not_hold"
    assert claimed("security", "2 findings, worst high/high", here).answer == "does_not_hold"


RESULTS = {test.test: test.result for test in DOSSIER.tests}


def test_a_test_that_says_something_else_here_is_named() -> None:
    claim = claim_tests(DOSSIER, RESULTS | {"assert double(1) == 2": "failed"}, "")
    assert (claim.answer, claim.why.split()[-1]) == ("does_not_hold", "test_model_1")
    assert claim_tests(DOSSIER, RESULTS, "").answer == "holds"
    assert_snapshot(claim_tests(DOSSIER, {}, "it was too slow").why, "evidence/tests that say something else")


def test_a_check_that_says_other_than_its_tests_does_not_hold() -> None:
    lying = (CheckAnswer(check="tests", verdict="failed"), *DOSSIER.checks[1:])
    claim = claim_tests(DOSSIER.model_copy(update={"checks": lying}), RESULTS, "")
    assert claim.answer == "does_not_hold"
    assert_snapshot(claim.why, "evidence/a check that says other than its tests")


def test_a_verdict_says_what_it_rests_on_that_nobody_can_look_up() -> None:
    tests = Claim(what="tests", answer="holds", said="")
    claim = claim_verdict(DOSSIER, tests, RESULTS)
    assert claim.answer == "holds"
    assert_snapshot(claim.why, "evidence/what a verdict rests on")
    failing = RESULTS | {"assert double('a') == 'aa'": "failed"}
    assert claim_verdict(DOSSIER, tests, failing).answer == "holds", "no verdict rests on a pinned test"
    failing = RESULTS | {"assert double(-1) == -2": "failed"}
    assert claim_verdict(DOSSIER, tests, failing).answer == "does_not_hold"


def test_the_versions_at_work_are_known() -> None:
    assert {"python", "burnish", "pytest", "coverage", "mutmut", "bandit", "ruff", "radon", "pip-audit"} <= {
        *read_versions()
    }
