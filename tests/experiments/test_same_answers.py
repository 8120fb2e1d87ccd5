"""Answers are compared word for word, and a difference is explained by what the engine thought of it."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from experiments.own_settings import VARIABLE, settings_in
from experiments.same_answers import PROMPTS, Answer, Step, compared, parting, read, saved, step_at, text_of

from burnish import config
from burnish.models.model import Ask, Piece
from burnish.models.scripted import ScriptedModel

FIRST, SECOND = PROMPTS[:2]
ONE = Answer("return n * 2", (Step("return", "x", 9.0), Step(" n", " 2", 0.02), Step(" * 2", " + n", 3.0)))
TWO = Answer("return 2 * n", (Step("return", "x", 8.0), Step(" 2", " n", 0.01), Step(" * n", " + n", 3.0)))
SURE = Answer("return 2 * n", (Step("return", "x", 8.0), Step(" 2", " n", 4.0), Step(" * n", " + n", 3.0)))


def test_there_are_twenty_prompts_and_no_two_are_the_same() -> None:
    assert len(set(PROMPTS)) == len(PROMPTS) == 20


def test_answers_part_at_the_first_character_that_differs() -> None:
    assert parting(ONE, ONE) == -1
    assert parting(ONE, TWO) == 7
    assert parting(Answer("ab"), Answer("abc")) == 2


def test_the_token_that_wrote_a_character_is_found() -> None:
    assert step_at(ONE, 0) == ONE.steps[0]
    assert step_at(ONE, 7) == ONE.steps[1]
    assert step_at(ONE, len(ONE.text)) is None, "there it had come to its end"
    assert step_at(Answer("return"), 3) is None, "not every engine tells"


def test_a_near_tie_explains_a_difference_and_a_wide_gap_does_not() -> None:
    told = list(compared(("a", "b"), {FIRST: ONE, SECOND: ONE}, {FIRST: ONE, SECOND: TWO}))
    assert told[0] == "a and b: 1 of 2 the same, word for word; of the other 1, 1 part at a near tie"
    assert "(' n' before ' 2' by 0.020)" in told[2]
    assert "(' 2' before ' n' by 0.010)" in told[3]
    [first, *_] = compared(("a", "b"), {FIRST: Answer(ONE.text)}, {FIRST: SURE})
    assert first.endswith("of the other 1, 0 part at a near tie")


def test_answers_of_another_machine_are_read_as_they_were_saved(tmp_path: Path) -> None:
    told = {"huggingface": {FIRST: ONE, SECOND: Answer("»ß«\n")}}
    saved(tmp_path / "answers.json", told)
    assert read(tmp_path / "answers.json") == told


class Stuck(ScriptedModel):
    """Says nothing until it is told to stop."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        cancel.wait()
        yield from ()


def test_an_engine_that_hangs_is_not_waited_for_without_end() -> None:
    assert text_of(ScriptedModel(["all of it"]), FIRST) == "all of it"
    with pytest.raises(TimeoutError, match="did not answer within 0.05 seconds"):
        text_of(Stuck([]), FIRST, seconds=0.05)


@pytest.mark.parametrize("before", [None, "mine.toml"])
def test_settings_of_an_experiment_end_with_it(
    before: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE) if before is None else monkeypatch.setenv(VARIABLE, before)
    (tmp_path / "experiment.toml").write_text('model = "scripted:demo"\n')
    with settings_in(tmp_path / "experiment.toml"):
        assert config.load().model == "scripted:demo"
    assert os.environ.get(VARIABLE) == before
