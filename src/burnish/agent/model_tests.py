"""Tests that the model is asked for: one question, and what of its answer can be used."""

import ast
import re
from collections.abc import Generator

from burnish.agent.answer.code import python_blocks
from burnish.agent.ask import Tools, ask
from burnish.agent.prompts import Messages
from burnish.agent.state import AgentState
from burnish.events import Event, Frozen
from burnish.models.model import Ask
from burnish.parsing import try_parse
from burnish.search.standalone_tests import extract_multi_step_tests, is_standalone
from burnish.tasks.examples import find_called_names
from burnish.text import strip_controls

MOST = 8
MOST_TOKENS = 240
"""Room for about eight lines. Where lines are easy, models go on counting for ever; the rest is then not waited for."""


class ModelTests(Frozen):
    """What came of one question for tests."""

    tests: tuple[str, ...]
    dropped: int
    """How many could not be used, or were too many."""


def tests_question(messages: Messages) -> Ask:
    """A question for tests."""
    return Ask(purpose="tests", messages=messages, max_tokens=MOST_TOKENS)


def ask_for_tests(
    work: AgentState, tools: Tools, ask_id: str, messages: Messages, given: tuple[str, ...]
) -> Generator[Event, None, ModelTests | None]:
    """Tests that stand on their own and are not given already; None when a limit or the user ended the work."""
    spec, task = work.spec, work.task
    # A class, or a method of one, is asked for: its tests build something first.
    has_steps = (
        "." in spec.entry_point
        or bool(re.search(rf"\bclass(?:es)?\b[^.;]*\b{re.escape(spec.entry_point)}\b", task.prompt))
        or any("\n" in test for test in spec.given_tests if not test.startswith(("with ", "#")))
    )

    def usable(text: str) -> tuple[list[str], int]:
        found, dropped = extract_tests(text, spec.entry_point, task.also, has_steps)
        return [test for test in found if test not in given], dropped

    def enough(text: str) -> bool:
        whole_lines = text[: text.rindex("\n")]
        return len(usable(whole_lines)[0]) >= (MOST + 1 if has_steps else MOST)  # steps may go on in the next line

    reply = yield from ask(tools, ask_id, tests_question(messages), enough=enough)
    if reply is None:
        return None
    fresh, dropped = usable(reply.text)
    return ModelTests(tests=tuple(fresh[:MOST]), dropped=dropped + len(fresh[MOST:]))


def extract_tests(
    answer: str, entry_point: str, also: tuple[str, ...] = (), stories: bool = False
) -> tuple[list[str], int]:
    """Test bodies that call the entry point or one of `also`, and how many other ones there were.

    One line each; with `stories`, also a few steps that build something and then assert. Of a method, "Cart.total", a
    test makes a Cart and uses what the method is called; one such as `__len__` is used by no name.
    """
    owner, _, method = entry_point.rpartition(".")
    names = {owner.partition(".")[0] or entry_point, *also}
    text = "\n".join(python_blocks(answer)) or strip_controls(answer)
    if stories:
        found = extract_multi_step_tests(text, names)
    else:
        lines = (re.sub(r"^\s*(?:\d+[.)]|[-*])\s*", "", line).strip().strip("`") for line in text.splitlines())
        found = [_read_assert(line, names) for line in lines if line.startswith("assert ")]
    by_name = re.compile(rf"\.{re.escape(method)}\b") if owner and not method.startswith("__") else re.compile("")
    kept = [test for test in dict.fromkeys(found) if test and by_name.search(test)]
    return kept, len(found) - len(kept)


def _read_assert(line: str, names: set[str]) -> str:
    """One assert in its plain form; empty where it does not stand on its own, or calls something else."""
    tree = try_parse(line)
    node = tree.body[0] if tree and len(tree.body) == 1 else None
    if not isinstance(node, ast.Assert) or isinstance(node.test, ast.Tuple):
        return ""
    test = f"assert {ast.unparse(node.test)}"
    called = set(find_called_names(test))
    return test if called & names and called <= names and is_standalone(node.test, names) else ""
