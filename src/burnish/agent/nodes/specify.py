"""specify: before anything is written, agree on a name, a signature, and what to take for granted."""

import re
import time
from collections.abc import Iterator
from contextlib import suppress

from burnish.agent import prompts
from burnish.agent.answer.code import extract_signature
from burnish.agent.ask import Tools, ask
from burnish.agent.state import GIVEN, AgentState
from burnish.errors import ModelError
from burnish.events import CodeProposed, Decided, Event, SpecAgreed, UserAnswered
from burnish.models.model import Ask
from burnish.parsing import try_parse
from burnish.tasks.examples import find_called_names, find_examples
from burnish.tasks.sentence import is_ambiguous
from burnish.tasks.task import Task
from burnish.text import one_line

FALLBACK = "solve"
BODY = ":\n    "
"""Where the first line ends that is asked for; a small model goes on into the function, up to its token limit."""
MOST_ASSUMPTIONS = 3
LONGEST_ASSUMPTION = 120
_POINT = re.compile(r"\s*(?:[-*•]|\d+[.)])\s*(?:\*\*)?(?:assum(?:e|ption)s?\b[:\s]*)?(?:that\s+)?(.+)", re.IGNORECASE)


def specify(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Take what the sentence fixes; ask the model for a name only where it gives none."""
    task = state.task
    signature = task.signature or task.entry_point
    if not signature:
        yield Decided(choice="specify", reason="The sentence names no function, so the model is asked for a name.")
        question = Ask(purpose="specify", messages=prompts.specify(task), max_tokens=80, stop=(BODY,))
        reply = yield from ask(tools, "specify-0", question)
        signature = extract_signature(reply.text) if reply else ""
    signature = signature or FALLBACK
    recorded = tools.replay.take(SpecAgreed, signature=signature)
    wanted = bool(tools.answer) or is_ambiguous(task) or bool(recorded and recorded.assumptions)
    assumptions: tuple[str, ...] = ()
    if task.assume and wanted:
        open_ = "The sentence leaves something open, so the model says what it would assume."
        yield Decided(choice="assume", reason=open_)
        question = Ask(purpose="assume", messages=prompts.assume(task, signature), max_tokens=100)
        with suppress(ModelError):  # the work can do without
            reply = yield from ask(tools, "assume-0", question)
            assumptions = extract_assumptions(reply.text) if reply else ()
    if recorded:
        yield recorded.model_copy(update={"at": time.time()})
    else:
        yield from _agree(task, signature, assumptions, tools)
    if state.broken:
        problem = "" if try_parse(task.base_code) else "the code does not parse"
        yield CodeProposed(version=0, code=task.base_code, by=GIVEN, problem=problem)


def extract_assumptions(answer: str) -> tuple[str, ...]:
    """The points of a list, without code and without what only introduces it."""
    text = re.sub(r"```.*?(?:```|\Z)", "", answer, flags=re.DOTALL)
    points = [match[1] for line in text.splitlines() if (match := _POINT.fullmatch(line))]
    short = [one_line(point.replace("**", ""), LONGEST_ASSUMPTION).rstrip(" .") for point in points]
    useful = [point for point in short if len(point.split()) > 2]
    return tuple(dict.fromkeys(useful))[:MOST_ASSUMPTIONS]


def _agree(task: Task, signature: str, assumptions: tuple[str, ...], tools: Tools) -> Iterator[Event]:
    """With the user's own words in the place of assumptions, and the examples in those words among the given tests.

    Each answer is on record before the next question; one that is there already is not asked for again.
    """
    agreed, examples = [], []
    name = signature.split("(")[0]
    for point in assumptions:
        known = tools.replay.take(UserAnswered, assumption=point)
        words = known.words if known else tools.answer(point).strip() if tools.answer else ""
        agreed.append(words or point)
        examples += [test for test in find_examples(words) if {name, *task.also} & {*find_called_names(test)}]
        if known or tools.answer:
            yield UserAnswered(assumption=point, words=words)
    yield SpecAgreed(
        entry_point=name,
        signature=signature,
        given_tests=tuple(dict.fromkeys((*task.visible_tests, *examples))),
        assumptions=tuple(agreed),
    )
