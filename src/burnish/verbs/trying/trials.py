"""The five tiny tasks: how each is asked, in the very words that `write` and `fix` use, and what makes an answer good.

Beside them a long prompt, which shows whether its beginning reaches the model at all.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice

from burnish.agent import prompts
from burnish.agent.extract import asserts_from
from burnish.agent.shape import shaped
from burnish.agent.unwrap import FENCE
from burnish.events import Graded, Message, ModelReplied, SpecAgreed
from burnish.models.model import Ask
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks.task import Task
from burnish.text import one_line, plain

MOST_CODE_TOKENS = 512
MARKER = "heron-4917"
"""Stands at the beginning of a prompt, and must come back."""

_VOWELS = Task(
    id="vowels",
    prompt="Count the vowels (a, e, i, o, u) in a text; capital letters count too.",
    entry_point="count_vowels",
    signature="count_vowels(text)",
    visible_tests=("assert count_vowels('Hello') == 2",),
)
_VOWEL_TESTS = """from solution import count_vowels

def test_words():
    assert count_vowels("Hello") == 2

def test_capitals():
    assert count_vowels("AEIOU xyz") == 5

def test_nothing():
    assert count_vowels("") == 0
"""
_BROKEN = '''def smallest(numbers):
    """Return the smallest of the numbers."""
    result = numbers[0]
    for number in numbers:
        if number > result:
            result = number
    return result
'''
_SMALLEST = Task(
    id="smallest",
    prompt="Return the smallest of the numbers.",
    entry_point="smallest",
    signature="smallest(numbers)",
    visible_tests=("assert smallest([3, 1, 2]) == 1",),
    base_code=_BROKEN,
    broken=True,
)
_SMALLEST_TESTS = """from solution import smallest

def test_three():
    assert smallest([3, 1, 2]) == 1

def test_one():
    assert smallest([5]) == 5

def test_below_zero():
    assert smallest([0, -4, 7]) == -4
"""


@dataclass(frozen=True)
class Trial:
    """One question, and who says what is wrong with an answer; nothing where it is good."""

    name: str
    ask: Ask
    judge: Callable[[ModelReplied, Sandbox], str]


def five() -> tuple[Trial, ...]:
    """The tasks, in the order in which they are asked."""
    return (
        _code("write", _VOWELS, prompts.write, _VOWEL_TESTS),
        _code("fix", _SMALLEST, _repair, _SMALLEST_TESTS),
        Trial("JSON", _words("JSON", _JSON, 96), lambda reply, _: _no_json(reply.text)),
        Trial("form", _form(), lambda reply, _: _no_form(reply.text)),
        Trial("stop", _words("stop", _STOP, 64), lambda reply, _: _no_stop(reply)),
    )


def long_prompt(short: bool = False) -> Trial:
    """As long a prompt as Burnish ever makes, or one that says the same in short."""
    above = f"The password is {MARKER}. Remember it.\n"
    below = "\nWhat is the password in the very first line? Answer with the password only."
    room = 0 if short else prompts.MOST_CHARACTERS - len(above) - len(below) - len(prompts.SYSTEM)
    filling = " ".join(islice(cycle(_PLAIN), room // min(map(len, _PLAIN))))[:room]
    return Trial("context", _words("context", above + filling + below, 32), lambda reply, _: _no_marker(reply.text))


def least_tokens(trial: Trial) -> int:
    """Tokens that its prompt has at the very least: as many as words, which are all common ones."""
    return sum(len(message.content.split()) for message in trial.ask.messages)


_PLAIN = ("We go up to it.", "He is big and she is old.", "It is red.", "I am on top of it now.", "So it goes on.")
"""Sentences of short words, which every tokenizer knows."""
_JSON = (
    "Ada is 36 years old and lives in London. Answer with one JSON object that has the keys name, age and city,"
    " and with nothing else."
)
_STOP = "Count from 1 to 5, one number on each line. Write nothing else, and stop after 5."


def _repair(wanted: prompts.Wanted) -> prompts.Messages:
    return prompts.repair(wanted, _BROKEN, "smallest([3, 1, 2]) == 1 is expected, but it is 3")


def _code(name: str, task: Task, prompt: Callable[[prompts.Wanted], prompts.Messages], tests: str) -> Trial:
    spec = SpecAgreed(entry_point=task.entry_point, signature=task.signature, given_tests=task.visible_tests)
    asked = prompt(prompts.Wanted(task=task, spec=spec))
    begun = asked[-1].content if asked[-1].role == "assistant" else ""
    question = Ask(purpose=name, messages=asked, max_tokens=MOST_CODE_TOKENS)
    return Trial(name, question, lambda reply, box: _graded(reply, begun, task, tests, box))


def _form() -> Ask:
    asked = prompts.tests(_VOWELS, _VOWELS.signature, _VOWELS.visible_tests)
    return Ask(purpose="form", messages=asked, max_tokens=320)


def _words(purpose: str, text: str, most_tokens: int) -> Ask:
    asked = (Message(role="system", content=prompts.SYSTEM), Message(role="user", content=text))
    return Ask(purpose=purpose, messages=asked, max_tokens=most_tokens)


def _graded(reply: ModelReplied, begun: str, task: Task, tests: str, box: Sandbox) -> str:
    """What is wrong with the code of an answer; one that was begun for the model is read with its beginning."""
    if not reply.text.strip():
        return "there is no answer"
    goes_on = begun and f"def {task.entry_point}(" not in reply.text
    for text in [begun + reply.text, reply.text] if goes_on else [reply.text]:
        found = shaped(text, task.entry_point, signature=task.signature, base=task.base_code, ended=reply.ended)
        if not found.problem:
            return _failure(box.grade(found.code, tests))
    return found.problem


def _failure(graded: Graded) -> str:
    failed = next((case.message or case.name for case in graded.cases if case.outcome != "passed"), "")
    return "" if graded.all_passed else f"the code is wrong: {one_line(graded.problem or failed, 120)}"


def _no_json(text: str) -> str:
    block = FENCE.fullmatch(text.strip())
    try:
        found = json.loads(block[3] if block else text)
    except (ValueError, RecursionError):
        return "the answer is not JSON, or not JSON alone"
    right = {"name": "Ada", "age": 36, "city": "London"}
    return "" if found == right else "the JSON does not say what it was asked for"


def _no_form(text: str) -> str:
    """What is wrong with the form: one block and nothing beside it, with tests in it that can be used."""
    blocks = list(FENCE.finditer(plain(text)))
    if len(blocks) != 1:
        return f"the answer has {len(blocks) or 'no'} code blocks where one was asked for"
    if FENCE.sub("", plain(text)).replace("`", "").strip():
        return "there are words around the code block"
    tests, _ = asserts_from(text, _VOWELS.entry_point)
    return "" if len(tests) >= 3 else "the code block does not hold the tests that were asked for"


def _no_stop(reply: ModelReplied) -> str:
    if reply.ended == "length":
        return "the answer does not come to an end"
    said = re.findall(r"\w+", plain(reply.text))
    return "" if said == ["1", "2", "3", "4", "5"] else "the answer goes on after what was asked for, or is another"


def _no_marker(text: str) -> str:
    return "" if MARKER in text else "the beginning of a long prompt does not come back"
