"""Code that passes by the order of a set, which is fixed in a cell and by chance everywhere else, is not proven."""

from pathlib import Path

import pytest

import burnish
from burnish import ScriptedModel, Store
from burnish.events.history import Run
from tests.evidence.delivered import edit
from tests.support import ASKING, block, script

SENTENCE = "a function first(text) that gives one of its letters, e.g. first('ab') == 'a' and first('aa') == 'a'"
BY_CHANCE = "def first(text):\n    return list(set(text))[0]"
SORTED = "def first(text):\n    return sorted(set(text))[0]"
INDEXED = "def first(text):\n    return text[0]"


def write(code: str, folder: Path) -> Run:
    answers = script(**dict.fromkeys(ASKING, block(code)), tests="", specify="def first(text):")
    return burnish.write(SENTENCE, ScriptedModel(answers), out=folder / "out", store=Store(folder / "home"), fast=True)


@pytest.mark.slow
def test_code_that_takes_what_a_set_gives_first_is_not_proven(tmp_path: Path) -> None:
    run = write(BY_CHANCE, tmp_path)
    assert run.verdict == "plausible"
    assert "first('ab') == 'a'" in run.why


@pytest.mark.slow
@pytest.mark.parametrize("code", [SORTED, INDEXED])
def test_code_for_which_the_order_does_not_matter_is_not_doubted_for_it(code: str, tmp_path: Path) -> None:
    run = write(code, tmp_path)
    assert run.verdict in ("proven", "plausible")
    assert "first('ab')" not in run.why


@pytest.mark.slow
def test_evidence_that_calls_it_proven_does_not_hold(tmp_path: Path) -> None:
    write(BY_CHANCE, tmp_path)
    edit(tmp_path / "out", lambda data: data.update(verdict="proven", confidence=0.99))
    verified = burnish.verify(tmp_path / "out", fast=True)
    assert next(claim.answer for claim in verified.claims if claim.what == "verdict") == "does_not_hold"
