"""The planted weaknesses: twenty, each passes what was given; a scripted model can mend what ruff cannot."""

import importlib.util
from collections import Counter
from types import ModuleType
from typing import Any

import pytest

from burnish import ScriptedModel
from burnish.checks.tests import grade_script
from burnish.runs import Store
from burnish.sandbox import Sandbox
from tests.support import ROOT, block


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("weaknesses", ROOT / "experiments" / "weaknesses.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = _script()
ALL = {one.name: one for one in SCRIPT.weaknesses()}
GAIN = """def best_gain(prices):
    best, low = 0, None
    for price in prices:
        low = price if low is None else min(low, price)
        best = max(best, price - low)
    return best
"""


def test_there_are_five_of_each_kind() -> None:
    assert Counter(one.check for one in ALL.values()) == {
        "security": 5,
        "performance": 5,
        "quality": 5,
        "mutation": 5,
    }


@pytest.mark.parametrize("weakness", ALL.values(), ids=list(ALL))
def test_each_passes_what_was_given(weakness: Any, box: Sandbox) -> None:
    assert grade_script(weakness.code, SCRIPT.file_of_tests(weakness), box).all_passed
    assert weakness.task.entry_point in weakness.code


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_a_model_that_knows_better_mends_what_ruff_cannot(store: Store) -> None:
    one = SCRIPT.tried(ALL["best_of_all_pairs"], ScriptedModel([block(GAIN)]), store)
    assert (one.mended, one.by, one.worse) == (True, "model", ())
    assert "quadratic" in one.before
    assert one.tokens > 0


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_without_a_model_ruff_is_all_there_is(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SCRIPT, "CHECKS", ("security", "quality"))  # what finds them; the others cost seconds
    one = SCRIPT.tried(ALL["leftovers"], None, store)
    assert (one.mended, one.by, one.worse, one.tokens) == (True, "ruff", (), 0)
    two = SCRIPT.tried(ALL["eval_of_sums"], None, store)
    assert (two.mended, two.by) == (False, "-")
