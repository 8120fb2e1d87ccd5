"""The prompts: short, complete, and begun where the model need not say again what it was shown."""

from collections.abc import Callable
from pathlib import Path

import pytest

from burnish import config
from burnish.agent import context_budget, prompts
from burnish.agent.context_budget import LEFT_OUT
from burnish.agent.prompts import Messages, PromptInput
from burnish.events import SpecAgreed
from burnish.models.local import LocalModel
from burnish.models.scripted import ScriptedModel
from burnish.parsing import try_parse
from burnish.tasks import Task
from burnish.tasks.task import NO_WORDS
from tests.snapshots import assert_snapshot

MOST = 6000
"""Characters: about 1500 tokens."""
HELPERS = "".join(f"def helper_{n}(n):\n    # step {n}\n    return n + {n}\n\n\n" for n in range(400))
OWN = 'def f(n: int) -> int:\n    """Sum of some helpers."""\n    return helper_1(n) - helper_2(n) + RATE\n'
LONG_FILE = f"import math\n\nRATE = 7\n\n\n{HELPERS}{OWN}\n\n{HELPERS.replace('helper', 'later')}"
TESTS = tuple(f"assert f({n}) == {n * 2 + 1}" for n in range(300))
TASK = Task(
    id="f",
    prompt="Sum of some helpers.",
    entry_point="f",
    signature="f(n: int) -> int",
    visible_tests=TESTS,
    base_code=LONG_FILE,
    broken=True,
)


def wanted(task: Task = TASK, **spec: object) -> PromptInput:
    agreed = {"entry_point": task.entry_point, "signature": task.signature, "given_tests": task.visible_tests, **spec}
    return PromptInput(task=task, spec=SpecAgreed.model_validate(agreed))


def every(task: Task = TASK) -> dict[str, Messages]:
    one, failure = wanted(task), "f(3) must be 7, but: got 5"
    return {
        "specify": prompts.specify(task),
        "assume": prompts.assume(task, task.signature),
        "tests": prompts.tests(task, task.signature, task.visible_tests),
        "write": prompts.write(one),
        "repair": prompts.repair(one, LONG_FILE, failure),
        "form": prompts.form_again(prompts.write(one), "Sorry. " * 2000, "the answer holds no code", one),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", list(every()))
def test_a_prompt_stays_short_even_for_a_long_file_and_many_tests(name: str) -> None:
    asked = every()[name]
    assert sum(len(message.content) for message in asked) < MOST
    assert [message.role for message in asked[:2]] == ["system", "user"]


def test_the_version_of_the_prompts_is_a_short_word() -> None:
    assert prompts.VERSION
    assert " " not in prompts.VERSION


def test_writing_shows_a_stub_and_never_the_code_that_is_wrong() -> None:
    asked = prompts.write(wanted())
    told = "".join(message.content for message in asked)
    assert TASK.prompt in told
    assert ">>> f(0)" in told
    assert "- helper_2(n) + RATE" not in told
    assert "RATE = 7" in told, "but what it leans on"


@pytest.mark.slow
def test_the_answer_is_begun_with_the_stub_and_whatever_follows_makes_a_function() -> None:
    for words in ("Plain.", 'Says "hi".', '"Quoted"', 'With """three""" quotes', "Ends with a \\", "Two\nlines"):
        begun = prompts.write(wanted(TASK.model_copy(update={"prompt": words})))[-1]
        assert begun.role == "assistant"
        assert begun.content.startswith("```python\ndef f(n: int) -> int:\n")
        code = begun.content.removeprefix("```python\n") + "    return n\n"
        assert try_parse(code) is not None, words


def test_a_repair_is_begun_with_the_head_of_the_function_and_its_docstring() -> None:
    asked = prompts.repair(wanted(), LONG_FILE, "x")
    head = 'def f(n: int) -> int:\n    """Sum of some helpers."""\n'
    assert asked[-1].content == f"```python\n{head}"
    assert OWN.strip() in asked[1].content
    assert "helper_3" not in asked[1].content


def test_where_nothing_clear_can_be_begun_the_question_stands_alone() -> None:
    one_line = "def f(n): return n\n"
    assert [message.role for message in prompts.repair(wanted(), one_line, "x")] == ["system", "user"]
    a_class = Task(id="s", prompt="a stack", entry_point="Stack", signature="Stack", visible_tests=())
    assert [message.role for message in prompts.write(wanted(a_class))] == ["system", "user"]


def test_words_that_nobody_said_are_not_made_up() -> None:
    silent = TASK.model_copy(update={"prompt": NO_WORDS.format(name="f")})
    for asked in (prompts.write(wanted(silent)), prompts.repair(wanted(silent), LONG_FILE, "x")):
        assert silent.prompt not in "".join(message.content for message in asked)


def test_the_failure_is_told_where_there_is_one() -> None:
    failure = "f(3) must be 7, but: got 5"
    assert failure in prompts.repair(wanted(), LONG_FILE, failure)[1].content


def test_assumptions_are_part_of_what_is_asked_for() -> None:
    assumption = "n is never negative"
    assert assumption in prompts.write(wanted(assumptions=(assumption,)))[1].content


def test_what_the_model_assumed_is_no_part_of_what_is_asked_for() -> None:
    assert "Assume" not in prompts.write(wanted(assumptions=("f(0) == 7",)))[1].content
    told = wanted(assumptions=("f(0) == 7",), given_tests=("assert f(0) == 7",))
    assert "Assume: f(0) == 7." in prompts.write(told)[1].content


def test_an_example_that_stands_in_the_words_is_not_shown_twice() -> None:
    words = "Twice n.\n\n>>> f(1)\n2\n"
    task = TASK.model_copy(update={"prompt": words, "visible_tests": ("assert f(1) == 2", "assert f(3) == 6")})
    told = prompts.write(wanted(task))[-1].content
    assert (told.count("f(1)"), told.count("f(3)")) == (1, 1)


@pytest.mark.slow
def test_a_method_is_asked_for_by_its_own_name() -> None:
    task = TASK.model_copy(update={"entry_point": "Cart.f", "signature": "Cart.f(self, n)", "visible_tests": ()})
    assert prompts.write(wanted(task))[-1].content.startswith("```python\ndef f(self, n):\n")


def test_the_form_is_made_plain_with_the_answer_that_could_not_be_used() -> None:
    asked = prompts.write(wanted())
    problem = "the answer holds no code"
    again = prompts.form_again(asked, "I am sorry.", problem, wanted())
    assert again[: len(asked) - 1] == asked[:-1], "what was begun for it is left out"
    assert [message.role for message in again] == ["system", "user", "assistant", "user"]
    assert problem in again[-1].content
    assert "```python" in again[-1].content


WORDY = TASK.model_copy(
    update={"prompt": "Sum of some helpers. " * 900, "prelude": "import math\n" * 500, "visible_tests": TESTS[:3]}
)
BODY = "".join(f"    total_{n} = n * {n} + helper_{n}(n)\n" for n in range(400))
LONG_FUNCTION = f"def f(n: int) -> int:\n{BODY}    return total_7\n"


def size(messages: Messages) -> int:
    return sum(len(message.content) for message in messages)


@pytest.mark.parametrize("task", [TASK, WORDY], ids=["short words", "long words"])
@pytest.mark.parametrize("kind", ["write", "go_on", "repair"])
@pytest.mark.parametrize("failure", ["f(3) must be 7, but: got 5", "E  AssertionError " * 900])
def test_no_prompt_is_longer_than_a_small_context_holds(task: Task, kind: str, failure: str) -> None:
    going_on = task.model_copy(update={"base_code": LONG_FUNCTION})
    parts = () if kind in ("write", "go_on") else (LONG_FUNCTION, failure)
    asked = getattr(prompts, kind)(wanted(going_on), *parts)
    assert size(asked) <= context_budget.MOST_CHARACTERS
    assert size(prompts.form_again(asked, "x" * 9999, "no code", wanted(task))) <= context_budget.MOST_CHARACTERS + 1000


@pytest.mark.parametrize(
    ("setting", "most"), [("", 8400), ("512", 1500), ("2048", 2256), ("4096", 8400), ("16384", 45264)]
)
def test_a_prompt_is_as_long_as_the_context_in_the_settings_allows(setting: str, most: int) -> None:
    if setting:
        config.put("context", setting)
    small, other = LocalModel("local:any", Path("my.gguf")), ScriptedModel([])
    assert context_budget.prompt_characters([small]) == most
    assert context_budget.prompt_characters([small, other]) == min(most, 8400), "the least of all who may be asked"
    task = TASK.model_copy(update={"base_code": LONG_FUNCTION})
    asked = prompts.repair(wanted(task).model_copy(update={"most_characters": most}), LONG_FUNCTION, "it is wrong")
    assert size(asked) <= max(most, 2 * 1500)
    assert (LONG_FUNCTION in asked[1].content) == (most > len(LONG_FUNCTION))


@pytest.mark.parametrize("ask", [prompts.specify, lambda task: prompts.assume(task, "f(n)")])
def test_long_words_are_shortened_where_a_name_or_assumptions_are_asked_for(ask: Callable[[Task], Messages]) -> None:
    assert size(ask(WORDY)) <= context_budget.MOST_CHARACTERS
    assert WORDY.prompt not in ask(WORDY)[1].content


def test_of_a_long_function_the_part_around_the_failure_is_shown_and_only_changed_lines_are_asked_for() -> None:
    failure = "    total_200 = n * 200 + helper_200(n)\nE   NameError: name 'helper_200' is not defined"
    asked = prompts.repair(wanted(), LONG_FUNCTION, failure)
    text = asked[1].content
    assert "def f(n: int) -> int:" in text
    assert "total_199 = " in text
    assert "total_201 = " in text
    assert "total_390 = " not in text
    assert LEFT_OUT in text
    assert asked[-1].role == "user", "nothing is begun that could not be gone on with"
    assert prompts.shows_a_part(asked)


@pytest.mark.slow
def test_a_prompt_that_fits_is_not_touched() -> None:
    for messages in every().values():
        assert not prompts.shows_a_part(messages)


SMALL = Task(
    id="f",
    prompt="Twice n.",
    entry_point="f",
    signature="f(n)",
    visible_tests=("assert f(1) == 2", "with pytest.raises(ValueError):\n    f(-1)"),
    base_code="def f(n):\n    return n * 3\n",
    packages=("numpy>=2",),
)
STACK = Task(id="Stack", prompt="A stack.", entry_point="Stack", signature="Stack", also=("Queue",))
PROJECT = Task(
    id="f",
    prompt="Twice n.",
    entry_point="f",
    signature="f(n)",
    base_code='def f(n):\n    """Twice n."""\n    return n * 3\n',
    broken=True,
    failing_tests=(("test_f.py::test_f", "def test_f():\n    assert f(1) == 2"),),
)
CODE, FAILURE = SMALL.base_code, "f(1) must be 2, but: got 3"
KEPT: dict[str, Messages] = {
    "specify": prompts.specify(SMALL),
    "assume": prompts.assume(SMALL, SMALL.signature),
    "tests": prompts.tests(SMALL, SMALL.signature, SMALL.visible_tests, "Fractions too."),
    "one test": prompts.one_test(SMALL, SMALL.signature, SMALL.visible_tests[0], "Fractions too."),
    "change": prompts.change(wanted(SMALL), CODE, "Add instead.", SMALL.visible_tests),
    "write a function": prompts.write(wanted(SMALL, assumptions=("n is never negative",))),
    "write a class": prompts.write(wanted(STACK)),
    "go on": prompts.go_on(wanted(SMALL)),
    "repair what was broken": prompts.repair(wanted(SMALL.model_copy(update={"broken": True})), CODE, FAILURE),
    "repair in a project": prompts.repair(wanted(PROJECT), PROJECT.base_code, FAILURE, explains=True),
    "write in a project": prompts.write(wanted(PROJECT)),
    "repair an answer": prompts.repair(wanted(SMALL), CODE, FAILURE),
    "repair a part": prompts.repair(wanted(), LONG_FUNCTION, FAILURE),
    "refine": prompts.refine(wanted(SMALL), CODE, "it is slow."),
    "inputs": prompts.inputs(wanted(SMALL), CODE, ("line 2: `*` becomes `+`",)),
    "form again": prompts.form_again(prompts.write(wanted(SMALL)), "Sorry.", "the answer holds no code", wanted(SMALL)),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_prompt_reads_as_it_is_kept_and_with_another_word_it_has_another_version(name: str) -> None:
    told = "\n".join(f"[{message.role}]\n{message.content}" for message in KEPT[name])
    assert_snapshot(told, f"agent/prompt {prompts.VERSION}: {name}")
