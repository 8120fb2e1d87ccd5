"""Answers are compared word for word, and a difference is explained by what the engine thought of it."""

from pathlib import Path

from experiments.same_answers import PROMPTS, Answer, Step, compared, parting, read, saved, step_at

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
