"""Every prompt, in one place. Short on purpose: small models lose the thread in long ones.

Change a word, raise VERSION: the version is recorded with each ask. A prompt may end with the first words of the
answer: the model goes on from there, so it neither talks nor repeats what it was shown.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from burnish.agent.context import context, function_in, opening
from burnish.agent.excerpt import LEFT_OUT, excerpt, shortened
from burnish.events import Frozen, Message, SpecAgreed
from burnish.tasks.examples import as_doctest, in_words
from burnish.tasks.task import Task

VERSION = "4"

SYSTEM = "You are a careful Python programmer. You follow the required form exactly."
_FORM = "Answer with one ```python block that holds the complete code, with its imports, and nothing else."
_LINES = (
    "Only a part of the code is shown; the rest stays as it is. Answer with one ```python block that holds only the "
    "lines that change, as they should be, with a line or two around them, and nothing else."
)
MOST_TEST_CHARACTERS = 1500
"""Of tests in a prompt; small models lose the thread in more."""

MOST_CHARACTERS = 8400
"""Of a prompt, about 2800 tokens, which leaves room for the answer in a context of 4096. Beyond that less is shown:"""
MOST_WORDS, MOST_CODE, MOST_FAILURE, MOST_AROUND, MOST_BEGUN = 1600, 3200, 800, 1000, 600

Messages = tuple[Message, ...]
P = ParamSpec("P")


class Wanted(Frozen):
    """What is to be written, as far as a prompt is concerned."""

    task: Task
    spec: SpecAgreed
    narrow: bool = False
    """Whether there is too much to show all of it."""
    added: tuple[str, ...] = ()
    """Packages that are there by now, where some came on the way."""

    @property
    def packages(self) -> tuple[str, ...]:
        """What code may import beside the standard library."""
        return self.added or self.task.packages

    @property
    def name(self) -> str:
        """The function's own name, without its class."""
        return self.spec.entry_point.rpartition(".")[2]

    @property
    def words(self) -> str:
        """What it should do, with what was taken for granted."""
        assumed = [f"Assume: {assumption}." for assumption in self.spec.assumptions]
        words = "\n".join([self.task.prompt.strip(), *assumed]) if self.task.described else ""
        return self.short(words, MOST_WORDS)

    @property
    def around(self) -> str:
        """What the code stands in."""
        return self.short(context(self.task), MOST_AROUND)

    def short(self, text: str, most: int) -> str:
        """The text; its beginning and end where there is no room for all."""
        return shortened(text, most) if self.narrow else text

    def own(self, code: str, failure: str) -> str:
        """The function that it is about; the part of it that matters where there is no room for all."""
        function = function_in(code, self.spec.entry_point)
        return excerpt(function, failure, MOST_CODE) if self.narrow else function

    @property
    def may_use(self) -> str:
        """Which packages there are; empty where there are none."""
        return f" These packages are installed: {', '.join(self.packages)}." if self.packages else ""

    @property
    def is_function(self) -> bool:
        """Whether there is one function with known parameters to complete."""
        return "(" in self.spec.signature and not self.task.also


def fitting(
    prompt: Callable[Concatenate[Wanted, P], Messages],
) -> Callable[Concatenate[Wanted, P], Messages]:
    """A prompt that is asked in full where that fits, and otherwise with less of everything."""

    @wraps(prompt)
    def fitted(wanted: Wanted, /, *parts: P.args, **named: P.kwargs) -> Messages:
        whole = prompt(wanted, *parts, **named)
        if sum(len(message.content) for message in whole) <= MOST_CHARACTERS:
            return whole
        return prompt(wanted.model_copy(update={"narrow": True}), *parts, **named)

    return fitted


def shows_a_part(messages: Messages) -> bool:
    """Whether a prompt shows code with lines left out, so that an answer cannot hold all of it."""
    return any(LEFT_OUT in message.content for message in messages)


def specify(task: Task) -> Messages:
    """Ask for a name and parameters where the sentence gives none."""
    return _talk(
        f"Task: {_told(task)}\n\n"
        "Give the first line of the Python function that solves this task, with type hints. "
        "Answer with this one line only, beginning with def."
    )


def assume(task: Task, signature: str) -> Messages:
    """Ask what to take for granted where the words leave something open."""
    return _talk(
        f"Task: {_told(task)}\n\n"
        f"What does this task leave open that `{signature}` must decide, e.g. empty or invalid input, ties, order? "
        "Name at most three points. Each is one short line that says what you assume, beginning with a dash.\n"
        "If nothing is open, answer: none"
    )


def tests(task: Task, signature: str, given: tuple[str, ...], *wishes: str) -> Messages:
    """Ask for assert statements: one line each is the form that small models get right. `wishes` are what a person who
    saw earlier ones wants of them.
    """
    name = signature.split("(")[0]
    return _talk(
        f"Task: {_told(task)}\n\n"
        f"Write 6 different test cases for `{signature}`, edge cases included. "
        f"Each is one line of the form: assert {name}(...) == expected\n"
        f"Do not write the function.{_shown(given, 'Do not repeat')}{_wished(*wishes)}\n\n"
        "Answer with one ```python block of assert lines and nothing else."
    )


def one_test(task: Task, signature: str, test: str, wish: str) -> Messages:
    """Show one test and what a person says about it, and ask for it again."""
    return _talk(
        f"Task: {_told(task)}\n\n"
        f"This is a test of `{signature}`:\n{_block(test)}{_wished(wish)}\n\n"
        "Write this one test again as it should be. Answer with one ```python block that holds it and nothing else."
    )


@fitting
def change(wanted: Wanted, code: str, wish: str, kept: tuple[str, ...]) -> Messages:
    """Show code that works and what a person wants changed in it; `kept` are tests that it must go on passing."""
    shown = wanted.own(code, wish) if wanted.narrow else code
    return _talk(
        f"Here is working code for `{wanted.spec.signature}`:\n{_block(shown)}{_described(wanted)}\n\n"
        f"Change the code as the user wants it:\n{wanted.short(wish, MOST_FAILURE)}"
        f"{_shown(kept, 'It must still pass')}\n\n{_form(shown)}"
    )


@fitting
def write(wanted: Wanted) -> Messages:
    """Ask for the code from its description alone, whatever code there is."""
    if not wanted.is_function:
        return _talk(_in_words(wanted))
    stub = _stub(wanted)
    around = wanted.around
    shown = f"{around}\n\n\n{stub}" if around else stub
    return _talk(f"Complete this Python function.{wanted.may_use}\n{_block(shown)}\n\n{_FORM}", f"```python\n{stub}\n")


@fitting
def go_on(wanted: Wanted) -> Messages:
    """Ask for more, on top of code that works."""
    return _talk(
        f"Here is working code:\n{_block(_all_of(wanted))}\n\n"
        f"Task: {wanted.words}\n\n"
        f"Change the code so that `{wanted.spec.signature}` does all of this.{wanted.may_use}"
        f"{_shown(wanted.spec.given_tests, 'It must pass')}\n\n{_form(_all_of(wanted))}"
    )


@fitting
def repair(wanted: Wanted, code: str, failure: str) -> Messages:
    """Show code with a bug and what goes wrong, and ask for the smallest change that mends it."""
    own = wanted.own(code, failure)
    function = f"the complete corrected function `{wanted.name}`"
    whole = f"Answer with one ```python block that holds {function}, and nothing else." if wanted.task.broken else _FORM
    return _talk(
        f"This Python {'function' if wanted.is_function else 'code'} has a bug:\n"
        f"{_block(own)}{_described(wanted)}{_shows(wanted, failure)}\n\n"
        f"Find the bug and change as little as possible. {_form(own, whole)}",
        _begun(own, wanted),
    )


@fitting
def refine(wanted: Wanted, code: str, finding: str) -> Messages:
    """Show code that works and the one thing that a check found in it, and ask for the same code without that."""
    shown = excerpt(code, finding, MOST_CODE) if wanted.narrow else code
    return _talk(
        f"This Python code works:\n{_block(shown)}\n\nBut it has a weakness: {wanted.short(finding, MOST_FAILURE)}\n\n"
        f"Write `{wanted.name}` again without this weakness. Its name, its parameters and its results stay the same; "
        f"use only the standard library{_and_packages(wanted)}. {_form(shown)}"
    )


@fitting
def inputs(wanted: Wanted, code: str, changes: tuple[str, ...]) -> Messages:
    """Ask for calls on which the code and small changes of it differ."""
    own = wanted.own(code, "")
    listed = "\n".join(f"{number}. {change}" for number, change in enumerate(changes, 1))
    return _talk(
        f"Here is a Python function:\n{_block(own)}\n\nEach of these changes would be a mistake:\n{listed}\n\n"
        f"For each change write one call of `{wanted.name}` whose result would be different. "
        "Answer with one ```python block of calls, one on each line, with plain values, and nothing else."
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
    around = wanted.around
    above = f"\n\nIt goes below this code:\n{_block(around)}" if around else ""
    tests_ = _shown(wanted.spec.given_tests, "It must pass")
    return f"Write {names} in Python.{wanted.may_use}\n\nTask: {wanted.words}{above}{tests_}\n\n{_FORM}"


def _stub(wanted: Wanted) -> str:
    """A function to complete: code models have read more of these than of anything else."""
    words = wanted.words
    most = MOST_TEST_CHARACTERS // 2 if wanted.narrow else MOST_TEST_CHARACTERS
    examples = ["\n".join(as_doctest(test)) for test in _fitting(wanted.spec.given_tests, most)]
    new = [example for example in examples if example.split("\n")[0] not in words]
    body = "\n".join([words, *new]).strip().replace('"""', "'''").replace("\n", "\n    ")
    signature = wanted.spec.signature.removeprefix(wanted.spec.entry_point.removesuffix(wanted.name))
    return f'def {signature}:\n    """{body}\n    """'


def _begun(code: str, wanted: Wanted) -> str:
    """The first words of a corrected function: its head and its docstring, which nobody has to write again."""
    head = opening(code, wanted.name)
    fits = head and not (wanted.narrow and (len(head) > MOST_BEGUN or LEFT_OUT in code))
    return f"```python\n{head}" if fits else ""


def _described(wanted: Wanted) -> str:
    words = f"\n\nWhat it should do:\n{wanted.words}" if wanted.words else ""
    return f"{words}\n\n{wanted.may_use.strip()}" if wanted.may_use else words


def _and_packages(wanted: Wanted) -> str:
    return f" and {', '.join(wanted.packages)}" if wanted.packages else ""


def _shows(wanted: Wanted, failure: str) -> str:
    return f"\n\nThe bug shows here:\n{wanted.short(failure, MOST_FAILURE)}" if failure else ""


def _wished(*wishes: str) -> str:
    return "".join(f"\n\nThe user says:\n{shortened(wish, MOST_WORDS)}" for wish in wishes)


def _told(task: Task) -> str:
    return shortened(task.prompt, MOST_CHARACTERS // 2)


def _all_of(wanted: Wanted) -> str:
    code = wanted.task.base_code
    return excerpt(code, wanted.spec.signature, MOST_CODE) if wanted.narrow else code


def _form(shown: str, whole: str = _FORM) -> str:
    """How to answer: in full; where not all lines were shown, with those that change."""
    return _LINES if LEFT_OUT in shown else whole


def _shown(tests_: tuple[str, ...], lead: str) -> str:
    words = "\n".join(map(in_words, _fitting(tests_)))
    return f"\n\n{lead}:\n{words}" if words else ""


def _fitting(tests_: tuple[str, ...], most: int = MOST_TEST_CHARACTERS) -> list[str]:
    """The first tests, as many as a small model can keep in mind."""
    sizes = [sum(map(len, tests_[: place + 1])) for place in range(len(tests_))]
    return [test for test, size in zip(tests_, sizes, strict=True) if size <= most]


def _block(code: str) -> str:
    return f"```python\n{code.strip(chr(10)).rstrip()}\n```"


def _talk(text: str, begun: str = "") -> Messages:
    asked = (Message(role="system", content=SYSTEM), Message(role="user", content=text))
    return (*asked, Message(role="assistant", content=begun)) if begun else asked
