"""The one way a node asks the model: limits first, then the prompt on record, then the answer as it comes."""

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Literal

from burnish.agent import prompts
from burnish.agent.edits import Edits
from burnish.agent.limits import Meter
from burnish.checks.final import FinalChecks
from burnish.checks.ground import Alone, Ground
from burnish.checks.mutation.alone import Mutations
from burnish.events import (
    Asked,
    Event,
    Evidence,
    Frozen,
    ModelChunk,
    ModelReplied,
    ModelThought,
    Notice,
    Reviewed,
    Stopped,
)
from burnish.models.model import Ask, Chunk, Done, Model, Thought, Waiting
from burnish.runs.replay import Replay
from burnish.sandbox.sandbox import Sandbox


class Shown(Frozen):
    """What a person is shown at a checkpoint."""

    where: Literal["tests", "checks"]
    tests: str
    """The file of tests as it will be run; a file of the user's own stands apart from it."""
    code: str = ""
    evidence: tuple[Evidence, ...] = ()
    note: str = ""
    """What became of the person's last answer; empty at the first look."""


@dataclass(frozen=True)
class Tools:
    """What nodes work with; one set a run."""

    model: Model
    sandbox: Sandbox
    meter: Meter
    cancel: threading.Event
    seed: int = 0
    """Added to the seed of every ask, so that attempts at one task can differ."""
    checks: FinalChecks | None = None
    """What looks at the final files beside the tests; None where only tests are asked for, as in evaluations."""
    mutations: Mutations | None = None
    """What breaks versions in small ways, to see what their tests notice; None where nobody asks for that."""
    place: Ground | None = None
    """Where versions are tried; None means each alone in the sandbox."""
    others: tuple[Model, ...] = ()
    """Who is asked when the first model is stuck, in this order."""
    answer: Callable[[str], str] | None = None
    """Puts an assumption to the user, who may answer in other words; None where nobody is to be asked."""
    without: frozenset[str] = frozenset()
    """Parts of the agent that are left out, to see what they are worth; names from `policy.PARTS`."""
    afterwards: frozenset[str] = frozenset()
    """What follows once the tests pass: "strengthen" (tests for changes that go unnoticed), "refine" (rounds for what
    checks find). Nothing in evaluations, where only tests count."""
    review: Callable[[Shown], Reviewed] | None = None
    """Shows a person what there is at a checkpoint and brings back what they say; None where nobody wants to look."""
    replay: Replay = field(default_factory=Replay)
    """What an earlier part of this run has on record."""
    edits: Edits = field(default_factory=Edits)
    """Small edits that were found already; the attempts of an evaluation share them."""
    errors_end: bool = False
    """Whether an error of the model ends the attempt at once. So it is in evaluations: an answer that did not come is
    not a wrong one."""

    @property
    def ground(self) -> Ground:
        """Where versions meet their tests."""
        return self.place or Alone(self.sandbox)


def ask(
    tools: Tools, ask_id: str, question: Ask, prompt_version: str = prompts.VERSION
) -> Generator[Event, None, ModelReplied | None]:
    """The answer, or None when a limit or the user ended the work; the reason is then among the events."""
    thinking = getattr(tools.model, "thinking", 0)
    question = question.model_copy(update={"seed": question.seed + tools.seed, "thinking": thinking})
    recorded = tools.replay.reply(ask_id, question.messages, question.temperature, question.seed)
    if recorded and not tools.cancel.is_set():
        tools.meter.count(recorded.tokens_in, recorded.tokens_out, tools.model.name, recorded.tokens_cached)
        yield Asked(ask_id=ask_id, prompt_version=prompt_version, **dict(question))
        yield (reply := recorded.model_copy(update={"at": time.time()}))
        return reply
    refused = _why_cut(tools) if tools.cancel.is_set() else tools.meter.book(question, tools.model.name)
    if refused:
        yield refused
        return None
    if tools.replay.changed(ask_id):
        yield Notice(text=f"{ask_id} is asked again: the question reads differently from the recorded one")
    yield Asked(ask_id=ask_id, prompt_version=prompt_version, **dict(question))
    reply = yield from _answer(tools, ask_id, question)
    spent = tools.meter.settle(question, reply.tokens_in, reply.tokens_out, tools.model.name, reply.tokens_cached)
    yield (reply := reply.model_copy(update={"dollars": spent}))
    if reply.ended == "cut":
        yield _why_cut(tools)
        return None
    return reply


def _answer(tools: Tools, ask_id: str, question: Ask) -> Generator[Event, None, ModelReplied]:
    started = time.monotonic()
    text: list[str] = []
    done: Done | None = None
    for piece in tools.model.stream(question, tools.cancel):
        match piece:
            case Chunk():
                text.append(piece.text)
                yield ModelChunk(ask_id=ask_id, text=piece.text)
            case Thought():
                yield ModelThought(ask_id=ask_id, text=piece.text)
            case Waiting(why=why) if why:
                yield Notice(text=why)
            case Done():
                done = piece
        if tools.meter.seconds_left <= 0:
            break
    return ModelReplied(
        ask_id=ask_id,
        purpose=question.purpose,
        text="".join(text),
        tokens_in=done.tokens_in if done else 0,
        tokens_out=done.tokens_out if done else len(text),
        seconds=time.monotonic() - started,
        ended=done.ended if done else "cut",
        tokens_cached=done.tokens_cached if done else 0,
        tokens_thought=done.tokens_thought if done else 0,
    )


def _why_cut(tools: Tools) -> Stopped:
    if tools.cancel.is_set():
        return Stopped(reason="interrupted", why="stopped by the user")
    limit = tools.meter.limits.seconds
    return Stopped(reason="seconds", why=f"the limit of {limit:g} seconds is reached")
