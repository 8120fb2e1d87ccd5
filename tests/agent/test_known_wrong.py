"""Code known to be wrong: what does the same settles nothing, and passing what it passed proves nothing."""

import pytest

from burnish import Limits, ScriptedModel
from burnish.tasks import Task
from tests.snapshots import assert_snapshot
from tests.support import attempt, block

BROKEN = "def last(xs):\n    return xs[0] if xs else None\n"
RIGHT = "def last(xs):\n    return xs[-1] if xs else None\n"
SAME = "def last(xs):\n    for x in xs:\n        return x\n    return None\n"
QUIET = Task(
    id="last",
    prompt="The last item of xs, or None.",
    entry_point="last",
    signature="last(xs)",
    visible_tests=("assert last([7]) == 7", "assert last([]) is None"),
    base_code=BROKEN,
    broken=True,
    own_tests=False,
)
"""The tests pass on the broken code."""


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_an_answer_that_behaves_like_the_broken_code_is_not_the_end() -> None:
    model = ScriptedModel([block(SAME), block(SAME), block(RIGHT)], name="scripted:x-0.5b")
    run = attempt(QUIET, model, limits=Limits(rounds=3, calls=6))
    assert run.code.rstrip().endswith("xs[-1] if xs else None")
    assert len(model.asked) > 1


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_where_no_test_failed_before_a_repair_is_plausible_at_best() -> None:
    run = attempt(QUIET, ScriptedModel([block(RIGHT)], name="scripted:x-0.5b"), limits=Limits(rounds=2, calls=4))
    assert run.verdict == "plausible"
    assert_snapshot(run.why, "agent/verdict: no test failed before")


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_where_a_test_failed_before_a_repair_is_not_doubted_for_that() -> None:
    loud = QUIET.model_copy(update={"visible_tests": ("assert last([7, 8]) == 8",)})
    run = attempt(loud, ScriptedModel([block(RIGHT)], name="scripted:x-0.5b"), limits=Limits(rounds=2, calls=4))
    assert run.verdict in ("proven", "plausible")
    assert "failed before" not in run.why
