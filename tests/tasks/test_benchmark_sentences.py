"""Examples as benchmarks state them: the visible assertion of every MBPP task must become a test."""

import ast
import json
from pathlib import Path

import pytest

from burnish.tasks import from_sentence


@pytest.mark.slow
def test_the_first_assertion_of_almost_every_mbpp_task_is_understood(data: Path) -> None:
    rows = [json.loads(line) for line in (data / "mbpp.jsonl").read_text("utf-8").splitlines()]
    missed = []
    for row in rows:
        example = row["test_list"][0].removeprefix("assert ").strip()
        tests = from_sentence(f"{row['text']} For example, {example}").visible_tests
        if [ast.dump(ast.parse(test)) for test in tests] != [ast.dump(ast.parse(f"assert {example}"))]:
            missed.append((example, tests))
    assert len(missed) <= 0.02 * len(rows), missed[:20]
