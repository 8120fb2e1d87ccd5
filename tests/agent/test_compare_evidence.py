"""Better and worse: noise is neither, and what was not run is never better than anything."""

from typing import Any

import pytest

from burnish.agent.refine_gate import describe_findings, is_better, is_worse, needs_question
from burnish.events import Evidence


def security(*severities: str) -> Evidence:
    findings = [{"file": "solution.py", "what": "Bad.", "severity": severity, "rule": "B1"} for severity in severities]
    verdict: Any = "failed" if {*severities} & {"high", "medium"} else "passed"
    return Evidence(check="security", verdict=verdict, why="", details={"findings": findings})


def performance(growth: str, seconds: float = 0.01, name: str = "f") -> Evidence:
    one = {"name": name, "growth": growth, "argument": "a", "points": [[64, seconds, None]]}
    verdict: Any = "failed" if growth == "worse" else "passed"
    return Evidence(check="performance", verdict=verdict, why="", details={"functions": [one]})


def quality(score: float, *rules: str) -> Evidence:
    findings = [{"file": "solution.py", "what": "Bad.", "rule": rule} for rule in rules]
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
    assert is_better(before, after)
    assert not is_worse(before, after)


@pytest.mark.parametrize(("before", "after"), NO_DIFFERENCE)
def test_noise_is_neither_better_nor_worse(before: Evidence, after: Evidence) -> None:
    assert not is_better(before, after)
    assert not is_worse(before, after)


@pytest.mark.parametrize(("before", "after"), WORSE)
def test_a_loss_is_worse_and_not_better(before: Evidence, after: Evidence) -> None:
    assert is_worse(before, after)
    assert not is_better(before, after)


@pytest.mark.parametrize("one", [security("high"), performance("worse"), quality(10), mutation(1)])
def test_what_was_not_run_is_never_better_and_no_longer_running_is_worse(one: Evidence) -> None:
    silent = not_run(one.check)
    assert not is_better(one, silent)
    assert not is_better(silent, one)
    assert is_worse(one, silent)
    assert not is_worse(silent, silent)


def test_a_failure_where_nothing_was_known_is_worse() -> None:
    assert is_worse(not_run("performance"), performance("worse"))
    assert not is_worse(not_run("performance"), performance("linear"))


def test_the_model_is_asked_for_what_fails_or_grows_too_fast_and_not_for_trifles() -> None:
    assert all(map(needs_question, [security("high"), performance("quadratic"), performance("worse"), quality(50)]))
    assert not any(
        map(needs_question, [security("low"), quality(90, "F401"), performance("linear"), not_run("performance")])
    )


def test_a_growth_is_described_without_times_so_that_a_resumed_run_asks_the_same() -> None:
    slow, slower = performance("quadratic", 0.01), performance("quadratic", 0.02)
    assert describe_findings(slow, "") == describe_findings(slower, "")
    assert "`f`" in describe_findings(slow, "")


def test_a_finding_is_described_with_its_line_where_there_is_one() -> None:
    def finding(line: int) -> Evidence:
        details: Any = {"findings": [{"file": "solution.py", "line": line, "what": "Bad."}]}
        return Evidence(check="security", verdict="failed", why="", details=details)

    assert describe_findings(finding(2), "a = 1\n  b = 2\n") == "`b = 2`: Bad."
    assert describe_findings(finding(9), "a = 1\n") == "Bad."
