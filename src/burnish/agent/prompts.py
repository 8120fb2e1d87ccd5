"""Every prompt, in one place. Short on purpose: small models lose the thread in long ones.

Change a word, raise VERSION: the version is recorded with each ask. A prompt may end with the first words of the
answer: the model goes on from there, so it neither talks nor repeats what it was shown.
"""

from burnish.agent.context import context, function_in, opening
from burnish.events import Frozen, Message, SpecAgreed
from burnish.tasks.examples import as_doctest, in_words
from burnish.tasks.task import Task

VERSION = "2"

SYSTEM = "You are a careful Python programmer. You follow the required form exactly."
_FORM = "Answer with one ```python block that holds the complete code, with its imports, and nothing else."
MOST_TEST_CHARACTERS = 1500
"""Of tests in a prompt; small models lose the thread in more."""

Messages = tuple[Message, ...]


class Wanted(Frozen):
    """What is to be written, as far as a prompt is concerned."""

    task: Task
    spec: SpecAgreed

    @property
    def name(self) -> str:
        """The function's own name, without its class."""
        return self.spec.entry_point.rpartition(".")[2]

    @property
    def words(self) -> str:
        """What it should do, with what was taken for granted."""
        assumed = [f"Assume: {assumption}." for assumption in self.spec.assumptions]
        return "\n".join([self.task.prompt.strip(), *assumed]) if self.task.described else ""

    @property
    def is_function(self) -> bool:
        """Whether there is one function with known parameters to complete."""
        return "(" in self.spec.signature and not self.task.also


def specify(task: Task) -> Messages:
    """Ask for a name and parameters where the sentence gives none."""
    return _talk(
        f"Task: {task.prompt}\n\n"
        "Give the first line of the Python function that solves this task, with type hints. "
        "Answer with this one line only, beginning with def."
    )


def assume(task: Task, signature: str) -> Messages:
    """Ask what to take for granted where the words leave something open."""
    return _talk(
        f"Task: {task.prompt}\n\n"
        f"What does this task leave open that `{signature}` must decide, e.g. empty or invalid input, ties, order? "
        "Name at most three points. Each is one short line that says what you assume, beginning with a dash.\n"
        "If nothing is open, answer: none"
    )


def tests(task: Task, signature: str, given: tuple[str, ...]) -> Messages:
    """Ask for assert statements: one line each is the form that small models get right."""
    name = signature.split("(")[0]
    return _talk(
        f"Task: {task.prompt}\n\n"
        f"Write 6 different test cases for `{signature}`, edge cases included. "
        f"Each is one line of the form: assert {name}(...) == expected\n"
        f"Do not write the function.{_shown(given, 'Do not repeat')}\n\n"
        "Answer with one ```python block of assert lines and nothing else."
    )


def write(wanted: Wanted) -> Messages:
    """Ask for the code from its description alone, whatever code there is."""
    if not wanted.is_function:
        return _talk(_in_words(wanted))
    stub = _stub(wanted)
    around = context(wanted.task)
    shown = f"{around}\n\n\n{stub}" if around else stub
    return _talk(f"Complete this Python function.\n{_block(shown)}\n\n{_FORM}", f"```python\n{stub}\n")


def go_on(wanted: Wanted) -> Messages:
    """Ask for more, on top of code that works."""
    return _talk(
        f"Here is working code:\n{_block(wanted.task.base_code)}\n\n"
        f"Task: {wanted.words}\n\n"
        f"Change the code so that `{wanted.spec.signature}` does all of this."
        f"{_shown(wanted.spec.given_tests, 'It must pass')}\n\n{_FORM}"
    )


def repair(wanted: Wanted, code: str, failure: str) -> Messages:
    """Show the code with the bug and what goes wrong, and ask for the smallest change that mends it."""
    own = function_in(code, wanted.spec.entry_point)
    return _talk(
        f"This Python function has a bug:\n{_block(own)}{_described(wanted)}{_shows(failure)}\n\n"
        f"Find the bug and change as little as possible. Answer with one ```python block that holds the complete "
        f"corrected function `{wanted.name}`, and nothing else.",
        _begun(own, wanted),
    )


def reflect(wanted: Wanted, code: str, failure: str) -> Messages:
    """Show the best version and the one assertion that fails, and ask for a better version."""
    own = function_in(code, wanted.spec.entry_point)
    return _talk(
        f"This code for `{wanted.spec.signature}` is wrong:\n{_block(own)}{_described(wanted)}{_shows(failure)}\n\n"
        f"Find the mistake and write the corrected code. {_FORM}",
        _begun(own, wanted),
    )


def syntax(wanted: Wanted, code: str, problem: str) -> Messages:
    """Show code that does not parse and where it goes wrong."""
    return _talk(
        f"This Python code is not valid:\n{_block(code)}\n\n{problem}\n\n"
        f"Write it again as valid Python, with everything else unchanged. {_FORM}"
    )


def repeat(wanted: Wanted, code: str, failure: str) -> Messages:
    """Name a repetition as one, and ask for another way."""
    own = function_in(code, wanted.spec.entry_point)
    return _talk(
        f"You have given this answer before, and it is wrong:\n{_block(own)}{_described(wanted)}{_shows(failure)}\n\n"
        f"Solve it in a different way. {_FORM}"
    )


def form_again(asked: Messages, answer: str, problem: str, wanted: Wanted) -> Messages:
    """The same question once more, with the answer that could not be used and the form made plain."""
    asked = asked[:-1] if asked[-1].role == "assistant" else asked
    return (
        *asked,
        Message(role="assistant", content=answer[:600]),
        Message(
            role="user",
            content=f"That cannot be used: {problem}. Write only Python code: one ```python block that begins with the "
            f"imports or with `def {wanted.name}`, no words before or after it.",
        ),
    )


def _in_words(wanted: Wanted) -> str:
    names = ", ".join(f"`{name}`" for name in (wanted.spec.signature, *wanted.task.also))
    around = context(wanted.task)
    above = f"\n\nIt goes below this code:\n{_block(around)}" if around else ""
    tests_ = _shown(wanted.spec.given_tests, "It must pass")
    return f"Write {names} in Python.\n\nTask: {wanted.words}{above}{tests_}\n\n{_FORM}"


def _stub(wanted: Wanted) -> str:
    """A function to complete: code models have read more of these than of anything else."""
    words = wanted.words
    examples = ["\n".join(as_doctest(test)) for test in _fitting(wanted.spec.given_tests)]
    new = [example for example in examples if example.split("\n")[0] not in words]
    body = "\n".join([words, *new]).strip().replace('"""', "'''").replace("\n", "\n    ")
    signature = wanted.spec.signature.removeprefix(wanted.spec.entry_point.removesuffix(wanted.name))
    return f'def {signature}:\n    """{body}\n    """'


def _begun(code: str, wanted: Wanted) -> str:
    """The first words of a corrected function: its head and its docstring, which nobody has to write again."""
    head = opening(code, wanted.name)
    return f"```python\n{head}" if head else ""


def _described(wanted: Wanted) -> str:
    return f"\n\nWhat it should do:\n{wanted.words}" if wanted.words else ""


def _shows(failure: str) -> str:
    return f"\n\nThe bug shows here:\n{failure}" if failure else ""


def _shown(tests_: tuple[str, ...], lead: str) -> str:
    words = "\n".join(map(in_words, _fitting(tests_)))
    return f"\n\n{lead}:\n{words}" if words else ""


def _fitting(tests_: tuple[str, ...]) -> list[str]:
    """The first tests, as many as a small model can keep in mind."""
    sizes = [sum(map(len, tests_[: place + 1])) for place in range(len(tests_))]
    return [test for test, size in zip(tests_, sizes, strict=True) if size <= MOST_TEST_CHARACTERS]


def _block(code: str) -> str:
    return f"```python\n{code.strip(chr(10)).rstrip()}\n```"


def _talk(text: str, begun: str = "") -> Messages:
    asked = (Message(role="system", content=SYSTEM), Message(role="user", content=text))
    return (*asked, Message(role="assistant", content=begun)) if begun else asked
