"""The docstring of new code is one short line, whatever was said to the model."""

import ast

import pytest

from burnish.agent.nodes.draft import shorten_docstring
from burnish.agent.prompts import PromptInput, write
from burnish.agent.state import AgentState
from burnish.events import SpecAgreed
from burnish.tasks import Task, from_sentence
from burnish.tasks.sentence import summarise

ROMAN = (
    "a function roman(n) that converts a number from 1 to 3999 to Roman numerals, e.g. roman(4) == 'IV' and"
    " roman(9) == 'IX'; ValueError for anything else"
)


def delivered(task: Task, *, begun: bool = True, docstring: str = "Mine.") -> str:
    """The code of an answer that goes on from what the prompt begins, or that has a docstring of its own."""
    spec = SpecAgreed(
        entry_point=task.entry_point,
        signature=task.signature,
        given_tests=task.visible_tests,
        assumptions=("roman(0) must raise ValueError",),
    )
    stub = write(PromptInput(task=task, spec=spec))[-1].content.removeprefix("```python\n")
    own = f'def {task.signature}:\n    """{docstring}"""\n'
    return shorten_docstring(f"import re\n\n\n{stub if begun else own}    return n\n", AgentState(task, [spec]))


@pytest.mark.parametrize(
    ("sentence", "line"),
    [
        (ROMAN, "Converts a number from 1 to 3999 to Roman numerals."),
        ("a function that returns the initials of a name", "Returns the initials of a name."),
        ("Write me a function called f which adds. It is fast.", "Adds."),
        ("double(n) doubles a number: double(2) == 4", "Doubles a number."),
        ("a class Stack with push and pop", "A class Stack with push and pop."),
        ("eine Funktion, die prüft, ob ein Wort ein Palindrom ist", None),
        ('a function f(s) that splits at \\n and """', "Splits at \\\\n and '''."),
        ("a function that " + "does this and that " * 20, None),
        ("x" * 500, None),
    ],
)
def test_a_sentence_is_said_in_one_short_line(sentence: str, line: str | None) -> None:
    short = summarise(sentence)
    assert short == (line or short)
    assert len(short) <= 100
    assert "\n" not in short
    assert ast.get_docstring(ast.parse(f'"""{short}"""'))


def test_neither_the_sentence_nor_an_assumption_is_delivered_as_docstring() -> None:
    code = delivered(from_sentence(ROMAN))
    [_, function] = ast.parse(code).body
    assert isinstance(function, ast.FunctionDef)
    assert ast.get_docstring(function) == "Converts a number from 1 to 3999 to Roman numerals."
    assert code.endswith("\n    return n\n")


def test_a_docstring_of_the_models_own_stays() -> None:
    assert '"""Mine."""' in delivered(from_sentence(ROMAN), begun=False)


def test_code_that_was_there_before_keeps_its_docstring() -> None:
    task = from_sentence(ROMAN)
    for update in ({"base_code": "x = 1"}, {"split": "eval"}):
        assert "e.g. roman(4)" in delivered(task.model_copy(update=update))


@pytest.mark.parametrize("code", ["", "def (", "class Roman:\n    pass\n", "def roman(n): 'a function roman(n)'\n"])
def test_other_code_is_left_alone(code: str) -> None:
    task = from_sentence(ROMAN)
    state = AgentState(task, [SpecAgreed(entry_point="roman", signature="roman(n)")])
    assert shorten_docstring(code, state) == code
