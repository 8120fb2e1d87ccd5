"""The one way a node asks the model: limits first, then the prompt on record, then the answer as it comes."""

import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Literal

from burnish.agent import prompts
from burnish.agent.edits import Edits
from burnish.agent.limits import Meter, most_dollars, most_tokens
from burnish.agent.packages import Packages
from burnish.checks.final import FinalChecks
from burnish.checks.ground import Alone, Ground
from burnish.checks.mutation.alone import Mutations
from burnish.errors import ModelError
from burnish.events import (
    AnswerLost,
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
from burnish.models.model import Ask, Chunk, Done, Leavable, Model, Thought, Waiting
from burnish.models.tokens import guess_tokens
from burnish.runs.replay import Replay
from burnish.sandbox.sandbox import Sandbox

SHORT = ("specify", "assume", "tests", "inputs")
"""Questions whose answers are short by their form: how long code may be says nothing about them."""


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
    packages: Packages | None = None
    """What code may import, and what is done for a version that lacks a package; None in evaluations: nothing is."""
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

    def sized(self, question: Ask, model: Model | None = None) -> Ask:
        """The question with the tokens that this run has for one answer, and for the thoughts before it."""
        limits = self.meter.limits
        thinking = getattr(model or self.model, "thinking", 0) if limits.thinking is None else limits.thinking
        most = None if question.purpose in SHORT else limits.max_tokens
        return question.model_copy(update={"thinking": thinking, "max_tokens": most or question.max_tokens})


def ask(
    tools: Tools,
    ask_id: str,
    question: Ask,
    prompt_version: str = prompts.VERSION,
    enough: Callable[[str], bool] | None = None,
) -> Generator[Event, None, ModelReplied | None]:
    """The answer, or None when a limit or the user ended the work; the reason is then among the events.

    The rest is not waited for once what came, up to the end of a line, is `enough`, where the model allows that.
    """
    question = tools.sized(question).model_copy(update={"seed": question.seed + tools.seed})
    known = tools.replay.reply(ask_id, question.messages, question.temperature, question.seed)
    if known and not tools.cancel.is_set():
        asked, recorded = known
        tools.meter.count(recorded.tokens_in, recorded.tokens_out, tools.model.name, recorded.tokens_cached)
        yield asked.model_copy(update={"at": time.time()})
        yield (reply := recorded.model_copy(update={"at": time.time()}))
        return reply
    refused = _why_cut(tools) if tools.cancel.is_set() else tools.meter.book(question, tools.model.name)
    if refused:
        yield refused
        return None
    if tools.replay.changed(ask_id):
        yield Notice(text=f"{ask_id} is asked again: the question reads differently from the recorded one")
    yield Asked(ask_id=ask_id, prompt_version=prompt_version, **dict(question))
    heard = yield from _heard(tools, ask_id, question, enough or (lambda text: False))
    yield (reply := _reply(tools, ask_id, question, heard))
    if heard.error:
        raise heard.error
    if reply.ended == "cut":
        yield heard.forbidden or _why_cut(tools, heard.pause_seconds)
        return None
    return reply


@dataclass
class _Heard:
    """What has come of one answer."""

    text: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    done: Done | None = None
    started: float = field(default_factory=time.monotonic)
    """When it was asked for, or, where tries were lost, asked for last."""
    seconds: float = 0.0
    pause_seconds: float = 0.0
    """What the server wants us to wait, where that is more than there is."""
    forbidden: Stopped | None = None
    """The limit that forbids to ask once more where an answer was lost."""
    error: ModelError | None = None
    """Why nothing more came, where what did come may have to be paid for."""

    def hear(self, piece: Chunk | Thought) -> None:
        """A little more of it, or all so far in another light."""
        if piece.instead:
            self.text, self.thoughts = [], []
        (self.text if isinstance(piece, Chunk) else self.thoughts).append(piece.text)

    @property
    def left(self) -> bool:
        """Whether the rest is not waited for."""
        return self.done is not None and self.done.ended == "enough"

    @property
    def refused(self) -> bool:
        """Whether the server did not even begin: that costs nothing."""
        return bool(self.pause_seconds) and not self.forbidden and not self.text and not self.thoughts

    @property
    def tokens_thought(self) -> int:
        """As the provider says, else about what the thoughts would make."""
        about = guess_tokens(len(self.thoughts), sum(map(len, self.thoughts)))
        return about if self.done is None else self.done.tokens_thought or min(about, self.done.tokens_out)


def _heard(tools: Tools, ask_id: str, question: Ask, enough: Callable[[str], bool]) -> Generator[Event, None, _Heard]:
    """The answer as it comes, until its end, or until it is enough or there is no time left for more of it.

    An error is raised from here only if the answer cannot have cost anything; else it is put on record first.
    """
    heard = _Heard()
    try:
        for piece in tools.model.stream(question, tools.cancel):
            match piece:
                case Chunk():
                    heard.hear(piece)
                    yield ModelChunk(ask_id=ask_id, text=piece.text)
                    heard.done = _left(tools.model, question, heard.text, enough)
                case Thought():
                    heard.hear(piece)
                    yield ModelThought(ask_id=ask_id, text=piece.text)
                case Waiting():
                    yield from _waited(tools, ask_id, question, piece, heard)
                case Done():
                    heard.done = piece
            if heard.left or heard.forbidden or heard.pause_seconds or tools.meter.seconds_left <= 0:
                break
    except ModelError as error:
        if not error.may_cost:
            raise
        heard.error = error
    heard.seconds = max(0.0, time.monotonic() - heard.started)
    return heard


def _left(model: Model, question: Ask, text: list[str], enough: Callable[[str], bool]) -> Done | None:
    """What the answer cost, where it has come to the end of a line and need not go on."""
    if "\n" not in text[-1] or not isinstance(model, Leavable) or not enough(whole := "".join(text)):
        return None
    return model.counted(question, whole)


def _waited(tools: Tools, ask_id: str, question: Ask, piece: Waiting, heard: _Heard) -> Iterator[Event]:
    """An answer that was lost on its way and is asked for again is booked again, and what it may have cost is put on
    record: nobody knows whether it is to be paid for. Its time, and the pause after it, are no part of the next one's.
    """
    if piece.why:
        yield Notice(text=piece.why)
    if piece.seconds:
        heard.started = time.monotonic() + piece.seconds
    heard.pause_seconds = piece.seconds if piece.seconds > tools.meter.seconds_left else 0.0
    if not piece.lost:
        return
    name = tools.model.name
    heard.forbidden = tools.meter.book_again(question, name)
    if not heard.forbidden:
        dollars = most_dollars(question, name)
        yield AnswerLost(ask_id=ask_id, model=name, tokens=most_tokens(question), dollars=dollars)


def _reply(tools: Tools, ask_id: str, question: Ask, heard: _Heard) -> ModelReplied:
    """The answer on record, and what it cost; one that was broken off stays booked at the most it can have cost."""
    done, name = heard.done, tools.model.name
    read, cached = (done.tokens_in, done.tokens_cached) if done else (0, 0)
    written = done.tokens_out if done else len(heard.text) + heard.tokens_thought
    if done or heard.refused:
        dollars = tools.meter.settle(question, read, written, name, cached)
    else:
        dollars = most_dollars(question, name)
    return ModelReplied(
        ask_id=ask_id,
        purpose=question.purpose,
        text="".join(heard.text),
        tokens_in=read,
        tokens_out=written,
        seconds=heard.seconds,
        ended=done.ended if done else "cut",
        dollars=dollars,
        tokens_cached=cached,
        tokens_thought=heard.tokens_thought,
        model=name,
    )


def _why_cut(tools: Tools, pause_seconds: float = 0.0) -> Stopped:
    if tools.cancel.is_set():
        return Stopped(reason="interrupted", why="stopped by the user")
    limit, left = tools.meter.limits.seconds, max(0.0, tools.meter.seconds_left)
    if pause_seconds:
        wants = f"{tools.model.name} can be asked again in {pause_seconds:.0f} s"
        return Stopped(reason="seconds", why=f"{wants}, and of the limit of {limit:g} seconds {left:.0f} are left")
    return Stopped(reason="seconds", why=f"the limit of {limit:g} seconds is reached")
