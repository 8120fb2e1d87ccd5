"""Better and worse: noise is neither, and what was not run is never better than anything."""

from typing import Any

import pytest

from burnish.agent.mending.weighing import better, found, worse, worth_asking
from burnish.events import Evidence


def security(*severities: str) -> Evidence:
    findings = [{"severity": severity, "rule": "B1"} for severity in severities]
    verdict: Any = "failed" if {*severities} & {"high", "medium"} else "passed"
    return Evidence(check="security", verdict=verdict, why="", details={"findings": findings})


def performance(growth: str, seconds: float = 0.01, name: str = "f") -> Evidence:
    one = {"name": name, "growth": growth, "argument": "a", "points": [[64, seconds, None]]}
    verdict: Any = "failed" if growth == "worse" else "passed"
    return Evidence(check="performance", verdict=verdict, why="", details={"functions": [one]})


def quality(score: float, *rules: str) -> Evidence:
    findings = [{"rule": rule} for rule in rules]
    verdict: Any = "passed" if score >= 60 else "failed"
    return Evidence(check="quality", verdict=verdict, why="", details={"score": score, "findings": findings})


def mutation(score: float, tried: int = 100) -> Evidence:
    return Evidence(check="mutation", verdict="passed", why="", details={"score": score, "tried": tried})


def coverage(percent: float, missing: int, verdict: Any = "passed") -> Evidence:
    files = [{"percent": percent, "missing": list(range(missing)), "missing_branches": []}]
    return Evidence(check="coverage", verdict=verdict, why="", details={"files": files})


def not_run(check: str) -> Evidence:
    return Evidence(check=check, verdict="not_run", why="it crashed")


BETTER = [
    (security("high", "low"), security("low", "low", "low")),
    (security("low"), security()),
    (performance("quadratic"), performance("linear")),
    (performance("worse"), performance("quadratic")),
    (quality(50), quality(55)),
    (mutation(50), mutation(70)),
]
NO_DIFFERENCE = [
    (security("low"), security("low")),
    (performance("linear"), performance("n log n")),
    (performance("quadratic", 0.010), performance("quadratic", 0.020)),
    (performance("linear", 1e-6), performance("linear", 1e-5)),
    (mutation(80), mutation(77)),
    (mutation(80, tried=5), mutation(65, tried=5)),
    (coverage(90, 2), coverage(80, 2)),
    (coverage(90, 2), coverage(88, 3)),
]
WORSE = [
    (security(), security("low")),
    (performance("linear"), performance("quadratic")),
    (performance("linear", 0.01), performance("linear", 0.05)),
    (performance("linear"), performance("linear", name="g")),
    (quality(80), quality(70)),
    (quality(60.2), quality(59.9)),
    (mutation(80), mutation(70)),
    (coverage(100, 0), coverage(60, 4, "failed")),
    (coverage(100, 0), coverage(90, 1)),
]


@pytest.mark.parametrize(("before", "after"), BETTER)
def test_an_improvement_is_better_and_not_worse(before: Evidence, after: Evidence) -> None:
    assert better(before, after)
    assert not worse(before, after)


@pytest.mark.parametrize(("before", "after"), NO_DIFFERENCE)
def test_noise_is_neither_better_nor_worse(before: Evidence, after: Evidence) -> None:
    assert not better(before, after)
    assert not worse(before, after)


@pytest.mark.parametrize(("before", "after"), WORSE)
def test_a_loss_is_worse_and_not_better(before: Evidence, after: Evidence) -> None:
    assert worse(before, after)
    assert not better(before, after)


@pytest.mark.parametrize("one", [security("high"), performance("worse"), quality(10), mutation(1)])
def test_what_was_not_run_is_never_better_and_no_longer_running_is_worse(one: Evidence) -> None:
    silent = not_run(one.check)
    assert not better(one, silent)
    assert not better(silent, one)
    assert worse(one, silent)
    assert not worse(silent, silent)


def test_a_failure_where_nothing_was_known_is_worse() -> None:
    assert worse(not_run("performance"), performance("worse"))
    assert not worse(not_run("performance"), performance("linear"))


def test_a_round_begins_where_something_can_be_mended() -> None:
    begins = [security("low"), performance("quadratic"), quality(90, "F401"), quality(50)]
    assert all(map(found, begins))
    content = [security(), performance("n log n"), quality(90, "types", "docstring"), not_run("security")]
    assert not any(map(found, content))


def test_the_model_is_asked_for_what_fails_or_grows_too_fast_and_not_for_trifles() -> None:
    assert all(map(worth_asking, [security("high"), performance("quadratic"), quality(50)]))
    assert not any(map(worth_asking, [security("low"), quality(90, "F401"), performance("linear")]))
