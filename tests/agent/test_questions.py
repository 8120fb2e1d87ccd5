"""How an answer is read, at every door: a letter, a value as Python writes it, an error, or nothing."""

import pytest

from burnish.agent.questions import OpenQuestion
from burnish.errors import SetupProblem
from burnish.events import QuestionAsked, QuestionOption
from tests.support import assert_words

ASKED = QuestionAsked(
    id="question-1",
    call="rank([('Ann', 3), ('Bo', 5)])",
    options=(QuestionOption(value="['Bo', 'Ann']"), QuestionOption(value="raises ValueError")),
)
QUESTION = OpenQuestion(ASKED, ("assert rank([]) == []",))


@pytest.mark.parametrize(
    ("typed", "said", "test"),
    [
        ("A", "option", "assert rank([('Ann', 3), ('Bo', 5)]) == ['Bo', 'Ann']"),
        (" a ", "option", "assert rank([('Ann', 3), ('Bo', 5)]) == ['Bo', 'Ann']"),
        ("B", "option", "with pytest.raises(ValueError):\n    rank([('Ann', 3), ('Bo', 5)])"),
        ('["Bo", "Ann"]', "option", "assert rank([('Ann', 3), ('Bo', 5)]) == ['Bo', 'Ann']"),
        ("[]", "value", "assert rank([('Ann', 3), ('Bo', 5)]) == []"),
        ("-1", "value", "assert rank([('Ann', 3), ('Bo', 5)]) == -1"),
        ("'größe'", "value", "assert rank([('Ann', 3), ('Bo', 5)]) == 'größe'"),
        ("0.5", "value", "assert rank([('Ann', 3), ('Bo', 5)]) == pytest.approx(0.5)"),
        ("raises TypeError", "value", "with pytest.raises(TypeError):\n    rank([('Ann', 3), ('Bo', 5)])"),
        ("", "any", ""),
        ("-", "any", ""),
    ],
)
def test_what_is_typed_becomes_a_test(typed: str, said: str, test: str) -> None:
    answer = QUESTION.read(typed)
    assert (answer.id, answer.said, answer.test, answer.by) == ("question-1", said, test, "person")


@pytest.mark.parametrize(
    "typed",
    [
        "C",
        "Bo",
        "__import__('os').system('true')",
        "[1, 2",
        "...",
        "raises Nonsense",
        "\x1b]0;owned\x07",
        "\udcff",
        "9" * 3000,
        "[" * 500,
    ],
)
def test_what_is_no_answer_is_refused_with_what_to_type(typed: str) -> None:
    with pytest.raises(SetupProblem) as refused:
        QUESTION.read(typed)
    assert "Type A, B" in str(refused.value)


def test_an_answer_that_contradicts_an_example_is_refused_and_both_are_named() -> None:
    given = ("assert rank([('Ann', 3), ('Bo', 5)]) == ['Ann', 'Bo']",)
    with pytest.raises(SetupProblem) as refused:
        OpenQuestion(ASKED, given).read("A")
    assert_words(str(refused.value))
    assert OpenQuestion(ASKED, given).read("['Ann', 'Bo']").said == "value"
