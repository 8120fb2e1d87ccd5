"""Every prompt, in one place. Short on purpose: small models lose the thread in long ones.

Change a word, raise VERSION: the version is recorded with each ask.
"""

from burnish.events import Message
from burnish.tasks.examples import as_doctest, in_words
from burnish.tasks.task import Task

VERSION = "1"

SYSTEM = "You are a careful Python programmer. You follow the required form exactly."
_FORM = "Answer with one ```python block that holds the complete code, with its imports, and nothing else."


def specify(task: Task) -> tuple[Message, ...]:
    """Ask for a name and parameters where the sentence gives none."""
    return _talk(
        f"Task: {task.prompt}\n\n"
        "Give the first line of the Python function that solves this task, with type hints. "
        "Answer with this one line only, beginning with def."
    )


def assume(task: Task, signature: str) -> tuple[Message, ...]:
    """Ask what to take for granted where the words leave something open."""
    return _talk(
        f"Task: {task.prompt}\n\n"
        f"What does this task leave open that `{signature}` must decide, e.g. empty or invalid input, ties, order? "
        "Name at most three points. Each is one short line that says what you assume, beginning with a dash.\n"
        "If nothing is open, answer: none"
    )


def tests(task: Task, signature: str, given: tuple[str, ...]) -> tuple[Message, ...]:
    """Ask for assert statements: one line each is the form that small models get right."""
    name = signature.split("(")[0]
    return _talk(
        f"Task: {task.prompt}\n\n"
        f"Write 6 different test cases for `{signature}`, edge cases included. "
        f"Each is one line of the form: assert {name}(...) == expected\n"
        f"Do not write the function.{_shown(given, 'Do not repeat')}\n\n"
        "Answer with one ```python block of assert lines and nothing else."
    )


def draft(task: Task, signature: str, given: tuple[str, ...]) -> tuple[Message, ...]:
    """Ask for the code, from the task alone or going on from earlier code."""
    if task.base_code:
        return _talk(
            f"Here is working code:\n```python\n{task.base_code.rstrip()}\n```\n\n"
            f"Task: {task.prompt}\n\n"
            f"Change the code so that `{signature}` does all of this.{_shown(given, 'It must pass')}\n\n{_FORM}"
        )
    if "(" in signature:
        return _talk(f"Complete this Python function.\n```python\n{_stub(task, signature, given)}\n```\n\n{_FORM}")
    return _talk(f"Write `{signature}` in Python.\n\nTask: {task.prompt}{_shown(given, 'It must pass')}\n\n{_FORM}")


def reflect(task: Task, signature: str, code: str, failure: str) -> tuple[Message, ...]:
    """Show the best version and the one thing that is wrong with it."""
    return _talk(
        f"Task: {task.prompt}\n\n"
        f"This code for `{signature}` is wrong:\n```python\n{code.rstrip()}\n```\n\n"
        f"It fails here:\n{failure}\n\n"
        f"Find the mistake and write the corrected code. {_FORM}"
    )


def _stub(task: Task, signature: str, given: tuple[str, ...]) -> str:
    """A function to complete: code models have read more of these than of anything else."""
    words = [task.prompt.replace('"""', "'''"), ""] + [line for test in given for line in as_doctest(test)]
    body = "\n".join(words).rstrip().replace("\n", "\n    ")
    return f'def {signature}:\n    """{body}\n    """'


def _shown(tests_: tuple[str, ...], lead: str) -> str:
    return f"\n\n{lead}:\n" + "\n".join(map(in_words, tests_)) if tests_ else ""


def _talk(text: str) -> tuple[Message, ...]:
    return Message(role="system", content=SYSTEM), Message(role="user", content=text)
