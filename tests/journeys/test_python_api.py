"""The same from Python, in a few lines, with nothing but the names on the door."""

from pathlib import Path

import pytest

import burnish
from burnish.checks.project import CHECKS


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_a_sentence_becomes_a_run_with_verdict_code_and_evidence(tmp_path: Path) -> None:
    seen: list[object] = []
    run = burnish.write(
        "a function double(n), e.g. double(3) == 6", model="scripted:demo", out=tmp_path / "out", watch=seen.append
    )
    assert run.verdict == "plausible"
    assert "return n + n" in run.code
    assert [evidence.check for evidence in run.evidence] == list(CHECKS)
    assert run.evidence[0].verdict == "passed"
    assert seen
    assert burnish.Store().open("last").id == run.id


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_limits_and_a_model_of_ones_own() -> None:
    class Mine(burnish.ScriptedModel):
        """A model that a user might write."""

    run = burnish.write(
        "a function one(), e.g. one() == 1",
        model=Mine(["```python\ndef one():\n    return 1\n```"], name="mine"),
        limits=burnish.Limits(rounds=1, calls=4),
    )
    assert (run.verdict, run.started.model) == ("plausible", "mine")


def test_a_problem_that_the_user_can_fix_has_a_name() -> None:
    with pytest.raises(burnish.SetupProblem, match="burnish models$"):
        burnish.write("a function double(n)", model="nobody")


@pytest.mark.slow
def test_the_sandbox_is_there_for_other_uses(box: object) -> None:
    with burnish.open_sandbox() as sandbox:
        assert sandbox.run(["python3", "-c", "print(6 * 7)"]).output.strip() == "42"
