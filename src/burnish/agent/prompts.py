"""Every prompt, in one place. Short on purpose: small models lose the thread in long ones.

Change a word, raise VERSION: the version is recorded with each ask. A prompt may end with the first words of the
answer: the model goes on from there, so it neither talks nor repeats what it was shown.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import accumulate
from typing import Concatenate, ParamSpec

from burnish.agent.context_budget import (
    LEFT_OUT,
    MOST_CHARACTERS,
    function_head,
    function_text,
    show_surroundings,
    strip_docstring,
    truncate_code,
    truncate_text,
)
from burnish.events import Frozen, Message, SpecAgreed
from burnish.tasks.examples import as_doctest, describe_test, find_examples
from burnish.tasks.sentence import FILE_WITH, reads_file
from burnish.tasks.task import Task

VERSION = "6"

SYSTEM = "You are a careful Python programmer. You follow the required form exactly."
_FORM = "Answer with one ```python block that holds the complete code, with its imports, and nothing else."
_LINES = (
    "Only a part of the code is shown; the rest stays as it is. Answer with one ```python block that holds only the "
    "lines that change, as they should be, with a line or two around them, and nothing else."
)
MOST_TEST_CHARACTERS = 1500
"""Of tests in a prompt; small models lose the thread in more."""

MOST_WORDS, MOST_CODE, MOST_FAILURE, MOST_AROUND, MOST_BEGUN = 1600, 3200, 800, 1000, 600
"""Characters of each part of a prompt that is longer than MOST_CHARACTERS."""
MOST_SUMMARY = 400
"""Of a docstring where a failing test says what is wanted."""

Messages = tuple[Message, ...]
P = ParamSpec("P")


class PromptInput(Frozen):
    """What is to be written, as far as a prompt is concerned."""

    task: Task
    spec: SpecAgreed
    narrow: bool = False
    """Whether there is too much to show all of it."""
    added: tuple[str, ...] = ()
    """Packages that are there by now, where some came on the way."""
    most_characters: int = MOST_CHARACTERS
    """Of the whole prompt."""

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
        """What it should do, with what a person said of what the words leave open.

        What the model assumed is only tested: small models misread a task there, and would build on that.
        """
        given, own = {*self.spec.given_tests}, self.spec.assumptions
        claims = {point for point in own if (found := {*find_examples(point)}) and not found & given}
        assumed = [f"Assume: {point}." for point in own if point not in claims]
        words = "\n".join([self.task.prompt.strip(), *assumed]) if self.task.described else ""
        return self.short(words, MOST_WORDS)

    @property
    def around(self) -> str:
        """What the code stands in."""
        return self.short(show_surroundings(self.task), MOST_AROUND)

    def short(self, text: str, most: int) -> str:
        """The text; its beginning and end where there is no room for all. `most` is for a prompt of the usual size."""
        return truncate_text(text, self._share(most)) if self.narrow else text

    def fit_code(self, code: str, hint: str) -> str:
        """The code; where there is no room for all, the part of it that the hint, a failure say, speaks of."""
        return truncate_code(code, hint, self._share(MOST_CODE)) if self.narrow else code

    def _share(self, most: int) -> int:
        return most * self.most_characters // MOST_CHARACTERS

    def own(self, code: str, failure: str) -> str:
        """The function that it is about, as far as there is room."""
        return self.fit_code(function_text(code, self.spec.entry_point), failure)

    @property
    def may_use(self) -> str:
        """Which packages there are; empty where there are none."""
        return f" These packages are installed: {', '.join(self.packages)}." if self.packages else ""

    @property
    def is_function(self) -> bool:
        """Whether there is one function with known parameters to complete."""
        return "(" in self.spec.signature and not self.task.also


def fit_context(
    prompt: Callable[Concatenate[PromptInput, P], Messages],
) -> Callable[Concatenate[PromptInput, P], Messages]:
    """A prompt that is asked in full where that fits, and otherwise with less of everything."""

    @wraps(prompt)
    def fit(wanted: PromptInput, /, *parts: P.args, **named: P.kwargs) -> Messages:
        whole = prompt(wanted, *parts, **named)
        if sum(len(message.content) for message in whole) <= wanted.most_characters:
            return whole
        return prompt(wanted.model_copy(update={"narrow": True}), *parts, **named)

    return fit


def shows_a_part(messages: Messages) -> bool:
    """Whether a prompt shows code with lines left out, so that an answer cannot hold all of it."""
    return any(LEFT_OUT in message.content for message in messages)


def specify(task: Task) -> Messages:
    """Ask for a name and parameters where the sentence gives none."""
    return _messages(
        f"Task: {_describe_task(task)}\n\n"
        "Give the first line of the Python function that solves this task, with type hints. "
        "Answer with this one line only, beginning with def."
    )


def assume(task: Task, signature: str) -> Messages:
    """Ask what to take for granted where the words leave something open.

    As calls with their values: asked for sentences, small models name what is open ("it must decide the order") and
    decide nothing; and where they may answer that nothing is open, they do.
    """
    name = signature.split("(")[0]
    return _messages(
        f"Task: {_describe_task(task)}\n\n"
        f"The task does not say what `{signature}` does with unusual input. Decide three such cases: an empty one, the "
        f"smallest one, an invalid one. Each is one line of the form: assert {name}(...) == value\n"
        f"or, where it must fail, of the form: {name}(...) raises ValueError\n"
        "Do not write the function.\n\nAnswer with one ```python block of these lines and nothing else."
    )


def examples(task: Task, signature: str, claims: Sequence[str]) -> Messages:
    """Ask which of the claims the words make; shown how, a small model chooses well."""
    return _messages(
        "Which claims are examples that the description itself gives? There may be none.\n\n"
        "Description: add(a, b) adds two numbers, at most 9 digits each; the sum of 4 and 5 is 9.\n"
        "Claims: add(4, 5) == 9\n"
        'Answer: {"examples": ["add(4, 5) == 9"]}\n\n'
        "Description: stars(n) draws n stars; the default is 5 and the colour has 3 values.\n"
        "Claims: stars(5) == 3\n"
        'Answer: {"examples": []}\n\n'
        f"Description: {signature}: {_describe_task(task)}\nClaims: {'; '.join(claims)}\n"
        "Answer with JSON like this:"
    )


def tests(task: Task, signature: str, given: tuple[str, ...], *wishes: str) -> Messages:
    """Ask for assert statements: one line each is the form that small models get right. `wishes` are what a person who
    saw earlier ones wants of them.
    """
    name = signature.split("(")[0]
    form = f"assert {name}(...) == expected"
    if reads_file(task.prompt):
        form = f'assert {name}({FILE_WITH}("one\\ntwo\\n")) == expected, where {FILE_WITH} makes a file of that text'
    return _messages(
        f"Task: {_describe_task(task)}\n\n"
        f"Write 6 different test cases for `{signature}`, edge cases included. "
        f"Each is one line of the form: {form}\n"
        f"Do not write the function.{_list_tests(given, 'Do not repeat')}{_quote_user(*wishes)}\n\n"
        "Answer with one ```python block of assert lines and nothing else."
    )


def one_test(task: Task, signature: str, test: str, wish: str) -> Messages:
    """Show one test and what a person says about it, and ask for it again."""
    return _messages(
        f"Task: {_describe_task(task)}\n\n"
        f"This is a test of `{signature}`:\n{_block(test)}{_quote_user(wish)}\n\n"
        "Write this one test again as it should be. Answer with one ```python block that holds it and nothing else."
    )


@fit_context
def change(wanted: PromptInput, code: str, wish: str, kept: tuple[str, ...]) -> Messages:
    """Show code that works and what a person wants changed in it; `kept` are tests that it must go on passing."""
    shown = wanted.own(code, wish) if wanted.narrow else code
    return _messages(
        f"Here is working code for `{wanted.spec.signature}`:\n{_block(shown)}{_description(wanted)}\n\n"
        f"Change the code as the user wants it:\n{wanted.short(wish, MOST_FAILURE)}"
        f"{_list_tests(kept, 'It must still pass')}\n\n{_form(shown)}"
    )


@fit_context
def write(wanted: PromptInput) -> Messages:
    """Ask for the code from its description alone, whatever code there is."""
    around = wanted.around
    if not wanted.is_function:
        names = ", ".join(f"`{name}`" for name in (wanted.spec.signature, *wanted.task.also))
        above = f"\n\nIt goes below this code:\n{_block(around)}" if around else ""
        examples = _list_tests(wanted.spec.given_tests, "It must pass")
        return _messages(
            f"Write {names} in Python.{wanted.may_use}\n\nTask: {wanted.words}{above}{examples}\n\n{_FORM}"
        )
    stub = _stub(wanted)
    shown = f"{around}\n\n\n{stub}" if around else stub
    test = next((source for _, source in wanted.task.failing_tests if source), "")
    must_pass = f"\n\nIt must pass this test:\n{_block(test)}" if test else ""
    return _messages(
        f"Complete this Python function.{wanted.may_use}\n{_block(shown)}{must_pass}\n\n{_FORM}",
        f"```python\n{stub}\n",
    )


@fit_context
def go_on(wanted: PromptInput) -> Messages:
    """Ask for more, on top of code that works."""
    shown = wanted.fit_code(wanted.task.base_code, wanted.spec.signature)
    return _messages(
        f"Here is working code:\n{_block(shown)}\n\n"
        f"Task: {wanted.words}\n\n"
        f"Change the code so that `{wanted.spec.signature}` does all of this.{wanted.may_use}"
        f"{_list_tests(wanted.spec.given_tests, 'It must pass')}\n\n{_form(shown)}"
    )


@fit_context
def repair(wanted: PromptInput, code: str, failure: str, explains: bool = False) -> Messages:
    """Show code with a bug and what goes wrong, and ask for the smallest change that mends it.

    Where the answer `explains`, it says in a sentence what has to change before it does so.
    """
    own = wanted.own(code, failure)
    if wanted.task.failing_tests:  # the file keeps its docstring, and in a project that may be longer than the code
        own = wanted.fit_code(strip_docstring(function_text(code, wanted.spec.entry_point), wanted.name), failure)
    head = function_head(own, wanted.name)  # its head and docstring, which nobody has to write again
    is_short = not wanted.narrow or (len(head) <= MOST_BEGUN and LEFT_OUT not in own)
    shows = f"\n\nThe bug shows here:\n{wanted.short(failure, MOST_FAILURE)}" if failure else ""
    style = f"\n\nThe project's style: {wanted.task.guidance}" if wanted.task.guidance and not wanted.narrow else ""
    function = f"the complete corrected function `{wanted.name}`"
    whole = f"Answer with one ```python block that holds {function}, and nothing else." if wanted.task.broken else _FORM
    shown = (
        f"This Python {'function' if wanted.is_function else 'code'} has a bug:\n"
        f"{_block(own)}{_description(wanted)}{shows}{style}\n\n"
    )
    if explains and LEFT_OUT not in own:
        return _messages(
            f"{shown}First say in one sentence which line is wrong and what it must do instead. Then write one "
            f"```python block that holds {function}, with as few changes as possible, and nothing after it."
        )
    return _messages(
        f"{shown}Find the bug and change as little as possible. {_form(own, whole)}",
        f"```python\n{head}" if head and is_short else "",
    )


@fit_context
def refine(wanted: PromptInput, code: str, finding: str) -> Messages:
    """Show code that works and the one thing that a check found in it, and ask for the same code without that."""
    shown = wanted.fit_code(code, finding)
    packages = f" and {', '.join(wanted.packages)}" if wanted.packages else ""
    return _messages(
        f"This Python code works:\n{_block(shown)}\n\nBut it has a weakness: {wanted.short(finding, MOST_FAILURE)}\n\n"
        f"Write `{wanted.name}` again without this weakness. Its name, its parameters and its results stay the same; "
        f"use only the standard library{packages}. {_form(shown)}"
    )


@fit_context
def inputs(wanted: PromptInput, code: str, changes: tuple[str, ...]) -> Messages:
    """Ask for calls on which the code and small changes of it differ."""
    own = wanted.own(code, "")
    listed = "\n".join(f"{number}. {change}" for number, change in enumerate(changes, 1))
    return _messages(
        f"Here is a Python function:\n{_block(own)}\n\nEach of these changes would be a mistake:\n{listed}\n\n"
        f"For each change write one call of `{wanted.name}` whose result would be different. "
        "Answer with one ```python block of calls, one on each line, with plain values, and nothing else."
    )


def form_again(asked: Messages, answer: str, problem: str, wanted: PromptInput) -> Messages:
    """The same question once more, with the answer that could not be used and the form made plain."""
    # What was begun for the model would look like a second answer of its own.
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


def _stub(wanted: PromptInput) -> str:
    """A function to complete: code models have read more of these than of anything else."""
    words = wanted.words
    most = MOST_TEST_CHARACTERS // 2 if wanted.narrow else MOST_TEST_CHARACTERS
    examples = ["\n".join(as_doctest(test)) for test in _first_tests(wanted.spec.given_tests, most)]
    # Sentences often quote their examples; said twice, they only take room.
    new = [example for example in examples if example.split("\n")[0] not in words]
    body = "\n".join([words, *new]).strip().replace('"""', "'''").replace("\n", "\n    ")
    signature = wanted.spec.signature.removeprefix(wanted.spec.entry_point.removesuffix(wanted.name))
    return f'def {signature}:\n    """{body}\n    """'


def _description(wanted: PromptInput) -> str:
    said = truncate_text(wanted.words, MOST_SUMMARY) if wanted.task.failing_tests else wanted.words
    words = f"\n\nWhat it should do:\n{said}" if said else ""
    return f"{words}\n\n{wanted.may_use.strip()}" if wanted.may_use else words


def _quote_user(*wishes: str) -> str:
    return "".join(f"\n\nThe user says:\n{truncate_text(wish, MOST_WORDS)}" for wish in wishes)


def _describe_task(task: Task) -> str:
    return truncate_text(task.prompt, MOST_CHARACTERS // 2)


def _form(shown: str, whole: str = _FORM) -> str:
    """How to answer: in full; where not all lines were shown, with those that change."""
    return _LINES if LEFT_OUT in shown else whole


def _list_tests(tests_: tuple[str, ...], lead: str) -> str:
    words = "\n".join(map(describe_test, _first_tests(tests_)))
    return f"\n\n{lead}:\n{words}" if words else ""


def _first_tests(tests_: tuple[str, ...], most: int = MOST_TEST_CHARACTERS) -> list[str]:
    """The first tests, as many as a small model can keep in mind."""
    sizes = accumulate(map(len, tests_))
    return [test for test, size in zip(tests_, sizes, strict=True) if size <= most]


def _block(code: str) -> str:
    return f"```python\n{code.strip(chr(10)).rstrip()}\n```"


def _messages(text: str, begun: str = "") -> Messages:
    asked = (Message(role="system", content=SYSTEM), Message(role="user", content=text))
    return (*asked, Message(role="assistant", content=begun)) if begun else asked
