"""Reference answers of public benchmarks pass, and are judged from another process."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

DATA = os.environ.get("BURNISH_DATA", "")
pytestmark = pytest.mark.skipif(not DATA, reason="BURNISH_DATA does not name the folder with the benchmark files")
Job = tuple[str, str]


def rows(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (Path(DATA) / name).read_text().splitlines()]


def humaneval(solution: str) -> list[Job]:
    found = rows("humanevalpack-python.jsonl")
    return [(f"{row['declaration']}{row[solution]}", str(row["test"])) for row in found]


def mbpp() -> list[Job]:
    found = rows("mbpp.jsonl")
    return [(str(row["code"]), "\n".join([str(row["test_setup_code"]), *row["test_list"]])) for row in found]  # type: ignore[misc]


def grade_all(cell, jobs: list[Job], at_once: int = 2, seconds: float = 10.0):
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda job: cell.grade(*job, timeout_seconds=seconds), jobs))


@pytest.mark.slow
def test_humaneval_reference_answers_pass_and_are_judged_apart(cell):
    graded = grade_all(cell, humaneval("canonical_solution"))
    apart = sum(one.separated for one in graded)
    print(f"HumanEval: {apart} of {len(graded)} suites judged apart")
    assert [one for one in graded if not one.all_passed] == []
    assert apart >= 0.95 * len(graded)


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["bubblewrap"], indirect=True)
def test_humaneval_buggy_answers_fail(cell):
    graded = grade_all(cell, humaneval("buggy_solution"), seconds=1.0)
    assert [one for one in graded if one.all_passed] == []
    assert sum(one.timed_out for one in graded) == 3


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["bubblewrap"], indirect=True)
def test_mbpp_reference_answers_pass_and_are_judged_apart(cell):
    graded = grade_all(cell, mbpp())
    apart = sum(one.separated for one in graded)
    print(f"MBPP: {apart} of {len(graded)} suites judged apart")
    assert [one for one in graded if not one.all_passed] == []
    assert apart >= 0.95 * len(graded)


@pytest.mark.slow
def test_sixteen_jobs_at_once_bring_no_false_verdict():
    from burnish.sandbox import open_sandbox

    with open_sandbox("bubblewrap", cells=16) as box:
        graded = grade_all(box, humaneval("canonical_solution") * 2, at_once=16, seconds=3.0)
    assert [one for one in graded if not one.all_passed or one.timed_out] == []
