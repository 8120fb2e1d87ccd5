"""specify: agree on a name, a signature, the given tests, and what to take for granted, before anything is written."""

import re
import time
from collections.abc import Generator, Iterator

from burnish.agent import prompts
from burnish.agent.ask import Tools, ask
from burnish.agent.extract import signature_from
from burnish.agent.work import GIVEN, Work
from burnish.errors import ModelError
from burnish.events import CodeProposed, Decided, Event, SpecAgreed, UserAnswered
from burnish.models.model import Ask
from burnish.tasks.examples import called_names, find_examples
from burnish.tasks.syntax import parsed
from burnish.tasks.task import Task
from burnish.tasks.vague import leaves_open
from burnish.text import one_line

FALLBACK = "solve"
MOST_ASSUMPTIONS = 3
LONGEST_ASSUMPTION = 120
_POINT = re.compile(r"\s*(?:[-*•]|\d+[.)])\s*(?:\*\*)?(?:assum(?:e|ption)s?\b[:\s]*)?(?:that\s+)?(.+)", re.IGNORECASE)


def specify(work: Work, tools: Tools) -> Iterator[Event]:
    """Take what the sentence fixes; ask the model for a name only where it gives none."""
    task = work.task
    signature = task.signature or task.entry_point
    if not signature:
        yield Decided(choice="specify", reason="The sentence names no function, so the model is asked for a name.")
        question = Ask(purpose="specify", messages=prompts.specify(task), max_tokens=80)
        reply = yield from ask(tools, "specify-0", question)
        signature = signature_from(reply.text) if reply else ""
    signature = signature or FALLBACK
    recorded = tools.replay.take(SpecAgreed, signature=signature)
    wanted = bool(tools.answer) or leaves_open(task) or bool(recorded and recorded.assumptions)
    assumptions: tuple[str, ...] = ()
    if task.assume and wanted:
        assumptions = yield from _assumptions(task, signature, tools)
    if recorded:
        yield recorded.model_copy(update={"at": time.time()})
    else:
        yield from _agreed(task, signature, assumptions, tools)
    if work.broken:
        problem = "" if parsed(task.base_code) else "the code does not parse"
        yield CodeProposed(version=0, code=task.base_code, by=GIVEN, problem=problem)


def _agreed(task: Task, signature: str, assumptions: tuple[str, ...], tools: Tools) -> Iterator[Event]:
    """With the user's own words in the place of assumptions, and the examples in those words among the given tests.

    Each answer is on record before the next question; one that is there already is not asked for again.
    """
    words = []
    for point in assumptions:
        known = tools.replay.take(UserAnswered, assumption=point)
        said = known.words if known else tools.answer(point).strip() if tools.answer else ""
        words.append(said)
        if known or tools.answer:
            yield UserAnswered(assumption=point, words=said)
    yield _spec(task, signature, assumptions, words)


def _spec(task: Task, signature: str, assumptions: tuple[str, ...], words: list[str]) -> SpecAgreed:
    name = signature.split("(")[0]
    said = [test for answer in words for test in find_examples(answer) if {name, *task.also} & {*called_names(test)}]
    return SpecAgreed(
        entry_point=name,
        signature=signature,
        given_tests=tuple(dict.fromkeys((*task.visible_tests, *said))),
        assumptions=tuple(answer or point for answer, point in zip(words, assumptions, strict=True)),
    )


def _assumptions(task: Task, signature: str, tools: Tools) -> Generator[Event, None, tuple[str, ...]]:
    """What the model would take for granted, where the words leave something open; at most three short lines."""
    yield Decided(choice="assume", reason="The sentence leaves something open, so the model says what it would assume.")
    question = Ask(purpose="assume", messages=prompts.assume(task, signature), max_tokens=100)
    try:
        reply = yield from ask(tools, "assume-0", question)
    except ModelError:  # the work can do without
        return ()
    return assumptions_from(reply.text) if reply else ()


def assumptions_from(answer: str) -> tuple[str, ...]:
    """The points of a list, without code and without what only introduces it."""
    text = re.sub(r"```.*?(?:```|\Z)", "", answer, flags=re.DOTALL)
    points = [match[1] for line in text.splitlines() if (match := _POINT.fullmatch(line))]
    short = [one_line(point.replace("**", ""), LONGEST_ASSUMPTION).rstrip(" .") for point in points]
    useful = [point for point in short if len(point.split()) > 2]
    return tuple(dict.fromkeys(useful))[:MOST_ASSUMPTIONS]
