"""specify: before anything is written, agree on a name, a signature, and what to take for granted."""

import ast
import re
import time
from collections.abc import Generator, Iterator
from contextlib import suppress

from burnish.agent import prompts
from burnish.agent.answer.code import extract_signature
from burnish.agent.ask import Tools, ask
from burnish.agent.state import GIVEN, AgentState
from burnish.agent.worded_examples import PURPOSE, ask_for_examples, choose_examples, find_readings
from burnish.errors import ModelError
from burnish.events import CodeProposed, Decided, Event, SpecAgreed, UserAnswered, WordedExample
from burnish.json_schema import NotBySchema
from burnish.models.model import Ask
from burnish.parsing import parse, try_parse
from burnish.tasks.contradiction import find_contradiction
from burnish.tasks.examples import (
    describe_test,
    find_called_names,
    find_examples,
    is_edge_case,
    is_refusal,
)
from burnish.tasks.sentence import is_ambiguous
from burnish.tasks.task import Task
from burnish.text import one_line

FALLBACK = "solve"
EXAMPLES = f"{PURPOSE}-0"
BODY = ":\n    "
"""Where the first line ends that is asked for; a small model goes on into the function, up to its token limit."""
MOST_ASSUMPTIONS = 3
LONGEST_ASSUMPTION = 120
_POINT = re.compile(r"\s*(?:[-*•]|\d+[.)])\s*(?:\*\*)?(?:assum(?:e|ption)s?\b[:\s]*)?(?:that\s+)?(.+)", re.IGNORECASE)
_IS_ERROR = re.compile(r"\s*==\s*(?=[A-Z]\w*(?:Error|Exception)\b)")
"""As small models write that something raises: `total('a') == ValueError`."""


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
    was_asked = bool(recorded and (recorded.assumptions or recorded.open_questions))
    worded = recorded.worded if recorded and not tools.replay.changed(EXAMPLES) else None
    if worded is None:  # else the record is older than the question, or nothing had to be asked
        worded = yield from _read_worded(task, signature, tools)
    wanted = bool(tools.answer) or is_ambiguous(task) or was_asked
    assumptions: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    if task.assume and wanted:
        open_ = "The sentence leaves something open, so the model says what it would assume."
        yield Decided(choice="assume", reason=open_)
        question = Ask(purpose="assume", messages=prompts.assume(task, signature), max_tokens=100)
        with suppress(ModelError):  # the work can do without
            reply = yield from ask(tools, "assume-0", question)
            text, name = reply.text if reply else "", signature.split("(")[0]
            known = (*task.visible_tests, *(one.test for one in worded))
            assumptions = extract_assumptions(text, name, task.model_copy(update={"visible_tests": known}))
            questions = extract_questions(text)
    if recorded:
        yield recorded.model_copy(update={"at": time.time()})
    else:
        yield from _agree(task, signature, (assumptions, questions), worded, tools)
    if state.broken:
        problem = "" if try_parse(task.base_code) else "the code does not parse"
        yield CodeProposed(version=0, code=task.base_code, by=GIVEN, problem=problem)


def extract_assumptions(answer: str, name: str, task: Task) -> tuple[str, ...]:
    """What an answer decides: calls with unusual input, each with what it gives, as plain words.

    What a given example says already, or otherwise, is left out.
    """
    names, known = {name, *task.also}, [*task.visible_tests]
    # Without the comments that may stand behind them.
    claims = [ast.unparse(parse(example)) for example in find_examples(_IS_ERROR.sub(" raises ", answer))]
    ours = [test for test in claims if names & {*find_called_names(test)} and len(test) <= LONGEST_ASSUMPTION]
    # One invalid case is asked for. Whoever has several ordinary calls refused, or every call, has misread the task:
    # `parse_date("2023-04-01")` is no error.
    refused = [test for test in ours if is_refusal(test)]
    ordinary = [test for test in refused if not is_edge_case(test, with_refusals=False)]
    is_believed = len(ordinary) < 2 and (len(ours) == 1 or len(refused) < len(ours))
    for test in ours:
        decides = is_edge_case(test, with_refusals=is_believed)
        if decides and test not in known and find_contradiction((*known, test)) is None:
            known.append(test)
    kept = known[len(task.visible_tests) :]
    return tuple(describe_test(test).removeprefix("assert ") for test in kept[:MOST_ASSUMPTIONS])


def extract_questions(answer: str) -> tuple[str, ...]:
    """The points of a list that name something open and decide nothing, without what only introduces it."""
    text = re.sub(r"```.*?(?:```|\Z)", "", answer, flags=re.DOTALL)
    points = [match[1] for line in text.splitlines() if (match := _POINT.fullmatch(line)) and not find_examples(line)]
    short = [one_line(point.replace("**", ""), LONGEST_ASSUMPTION).rstrip(" .") for point in points]
    useful = [point for point in short if len(point.split()) > 2]
    return tuple(dict.fromkeys(useful))[:MOST_ASSUMPTIONS]


def _read_worded(task: Task, signature: str, tools: Tools) -> Generator[Event, None, tuple[WordedExample, ...]]:
    """The examples that the words give without code; a model is asked only where they may be read otherwise."""
    readings = find_readings(task, signature)
    question, said = ask_for_examples(task, signature, readings), ()
    if question:
        yield Decided(choice="examples", reason="The words may hold an example, so the model says whether they do.")
        try:
            reply = yield from ask(tools, EXAMPLES, question)
            said = question.read_data(reply.text, reply.ended)["examples"] if reply else ()
        except NotBySchema:  # nothing of it can be trusted
            pass
        except ModelError:  # the work can do without
            if tools.errors_end:
                raise
    return choose_examples(task, readings, said)


def _agree(
    task: Task,
    signature: str,
    said: tuple[tuple[str, ...], tuple[str, ...]],
    worded: tuple[WordedExample, ...],
    tools: Tools,
) -> Iterator[Event]:
    """With the user's own words in the place of assumptions, and the examples in those words among the given tests.

    `said` is what the model assumes, and what it leaves open; words of the user's settle that too. Each answer is on
    record before the next question; one that is there already is not asked for again.
    """
    agreed, examples, still_open = list[str](), list[str](), list[str]()
    name, (assumptions, questions) = signature.split("(")[0], said
    for point in (*assumptions, *questions):
        known = tools.replay.take(UserAnswered, assumption=point)
        words = known.words if known else tools.answer(point).strip() if tools.answer else ""
        is_settled = known or tools.answer or point in assumptions  # who was asked, and said nothing else, agrees
        (agreed if is_settled else still_open).append(words or point)
        examples += [test for test in find_examples(words) if {name, *task.also} & {*find_called_names(test)}]
        if known or tools.answer:
            yield UserAnswered(assumption=point, words=words)
    given = tuple(dict.fromkeys((*task.visible_tests, *examples)))
    yield SpecAgreed(
        entry_point=name,
        signature=signature,
        given_tests=given,
        assumptions=tuple(agreed),
        open_questions=tuple(still_open),
        worded=tuple(one for one in worded if find_contradiction((*given, one.test)) is None),
    )
