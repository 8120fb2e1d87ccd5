"""Asks the model for inputs, where none that were generated tell the code and a small change of it apart."""

import re
from collections.abc import Generator, Sequence

from burnish.agent import prompts
from burnish.agent.ask import Tools, ask
from burnish.agent.prompts import Wanted
from burnish.agent.seeds import seeds_of
from burnish.agent.stories import is_closed
from burnish.agent.stronger.values import LONGEST_CALL
from burnish.agent.unwrap import blocks_of
from burnish.checks.mutation.alone import Unnoticed
from burnish.errors import ModelError
from burnish.events import Asked, Event, Stopped
from burnish.models.model import Ask
from burnish.parsing import parse_expression
from burnish.text import plain

PURPOSE = "inputs"
MOST_SHOWN = 4
MOST_TOKENS = 200
MOST_CALLS = 12
SPARE_SECONDS = 30.0
_LISTED = re.compile(r"^(?:\d+[.):]|[-*])\s+")


def inputs_from_model(
    tools: Tools, wanted: Wanted, number: int, code: str, left: Sequence[Unnoticed]
) -> Generator[Event, None, tuple[str, ...]]:
    """Calls that the model thinks of; none where a limit forbids the question, which never ends the run."""
    changes = tuple(f"line {one.line}: {one.said}" for one in left[:MOST_SHOWN])
    question = Ask(purpose=PURPOSE, messages=prompts.inputs(wanted, code, changes), max_tokens=MOST_TOKENS)
    if tools.meter.refusal(tools.sized(question), tools.model.name) or tools.meter.seconds_left < SPARE_SECONDS:
        return ()
    text = yield from _answer(tools, f"{PURPOSE}-{number}", question)
    names = (wanted.spec.entry_point, *wanted.task.also)
    return calls_in(text, names)


def told_again(tools: Tools, number: int) -> Generator[Event, None, None]:
    """The question and its answer once more, where they are on record: they have been paid for."""
    asked = tools.replay.take(Asked, ask_id=f"{PURPOSE}-{number}")
    if asked:
        told = {name: getattr(asked, name) for name in Ask.model_fields}
        yield from _answer(tools, asked.ask_id, Ask(**{**told, "seed": asked.seed - tools.seed}))


def calls_in(answer: str, names: Sequence[str]) -> tuple[str, ...]:
    """The calls in an answer, each once, that need nothing but plain values."""
    text = plain(answer)
    lines = "\n".join(block for _, block in blocks_of(text)) or text
    tests = [_LISTED.sub("", line.strip()).strip("`") for line in lines.splitlines()]
    found = [seed.call() for name in names for seed in seeds_of(name, tests)]
    own = {name.partition(".")[0] for name in names}
    short = [call for call in dict.fromkeys(found) if len(call) <= LONGEST_CALL]
    return tuple([call for call in short if is_closed(parse_expression(call), own)][:MOST_CALLS])


def _answer(tools: Tools, ask_id: str, question: Ask) -> Generator[Event, None, str]:
    """What the model says; nothing where it cannot be asked."""
    asking = ask(tools, ask_id, question)
    try:
        while True:
            event = next(asking)
            if not isinstance(event, Stopped) or event.reason == "interrupted":
                yield event
    except StopIteration as ended:
        return ended.value.text if ended.value else ""
    except ModelError:
        return ""
