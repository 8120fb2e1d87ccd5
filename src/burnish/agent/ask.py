"""The one way a node asks the model: limits first, then the prompt on record, then the answer as it comes."""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from burnish.agent import prompts
from burnish.agent.limits import Meter, dollars_for, most_dollars, most_tokens
from burnish.agent.packages import RunPackages, Tell
from burnish.agent.questions import Answerer
from burnish.checks.bench.bench import Bench, ModuleBench, ProjectBench
from burnish.checks.final import FinalChecks
from burnish.checks.mutation.mutate_module import Mutations
from burnish.errors import ModelError
from burnish.events import (
    PROVEN,
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
    SpecAgreed,
    Stopped,
)
from burnish.events.replay import Replay
from burnish.models.model import Ask, Chunk, Done, Leavable, Model, Thought, Waiting
from burnish.models.tokens import guess_tokens
from burnish.packages import Budget, Layer
from burnish.sandbox.box import Box
from burnish.sandbox.sandbox import Sandbox
from burnish.search.edits import EditCache
from burnish.tasks.task import Task

SHORT = ("specify", "examples", "assume", "tests", "inputs")
"""Questions whose answers are short by their form: how long code may be says nothing about them."""
MOST_BYTES = 200_000_000
"""That are fetched for packages which nobody but the code asks for."""
T = TypeVar("T")


class Checkpoint(Frozen):
    """What a person is shown at a checkpoint."""

    where: Literal["tests", "checks", "plan"]
    tests: str
    """The file of tests as it will be run; a file of the user's own stands apart from it."""
    code: str = ""
    evidence: tuple[Evidence, ...] = ()
    note: str = ""
    """What became of the person's last answer; empty at the first look."""


class TieBreaker(Protocol):
    """Who says which of several versions is better, where nothing else tells them apart."""

    name: str

    def rate(self, task: Task, spec: SpecAgreed, codes: Sequence[str]) -> list[float]:
        """How good each code is as the answer to a task; more is better."""
        ...


Reviewer = Callable[[Checkpoint], Reviewed]
"""Shows a person what there is at a checkpoint and brings back what they say."""


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
    place: Bench | None = None
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
    packages: RunPackages | None = None
    """What code may import, and what is done for a version that lacks a package; None in evaluations: nothing is."""
    review: Reviewer | None = None
    """Who looks at checkpoints; None where nobody wants to."""
    confidence: float = PROVEN
    """How sure the best version must be to be right before the work ends with calls to spare."""
    questions: int = 0
    """How many questions about what versions disagree on may be asked."""
    settle: Answerer | None = None
    """Who answers them; None where nobody is there: the first one then stays open."""
    replay: Replay = field(default_factory=Replay)
    """What an earlier part of this run has on record."""
    edits: EditCache = field(default_factory=EditCache)
    """Small edits that were found already; the attempts of an evaluation share them."""
    prefer: TieBreaker | None = None
    """Who breaks ties between versions; None: the one that was written first stays."""
    errors_end: bool = False
    """Whether an error of the model ends the attempt at once. So it is in evaluations: an answer that did not come is
    not a wrong one."""

    @cached_property
    def ground(self) -> Bench:
        """Where versions meet their tests."""
        return self.place or ModuleBench(self.sandbox)

    def with_limits(self, question: Ask, model: Model | None = None) -> Ask:
        """The question with the tokens that this run has for one answer, and for the thoughts before it."""
        limits = self.meter.limits
        thinking = limits.thinking_tokens(model or self.model)
        most = None if question.purpose in SHORT else limits.max_tokens
        return question.model_copy(update={"thinking": thinking, "max_tokens": most or question.max_tokens})

    def with_packages(self, layer: Layer | None, allow: Sequence[str], tell: Tell | None) -> "Tools":
        """The tools of a run whose code may get more packages; every place that runs code sees a new layer at once.

        A project's own environment stays as it is.
        """
        if isinstance(self.place, ProjectBench) and not self.place.project.alone:
            return self

        def use_layer(folder: Path) -> None:
            for place in (self.sandbox, self.checks, self.mutations, self.place):
                if isinstance(place, Box | FinalChecks | Mutations | ProjectBench):
                    place.use_layer(folder)

        def budget() -> Budget:
            # Half of the time that is left, so that code which gets no package can still be told to do without.
            return Budget.within(self.meter.seconds_left / 2, self.cancel, MOST_BYTES)

        return replace(self, packages=RunPackages(layer, allow, use_layer, tell, budget))


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
    question = tools.with_limits(question).model_copy(update={"seed": question.seed + tools.seed})
    drawn = (question.temperature, question.seed)
    known = tools.replay.reply(ask_id, question.messages, *drawn, question.json_schema)
    if known and not tools.cancel.is_set():
        asked, recorded = known  # counted like a fresh one, so that a resumed run keeps its caps
        tokens = (recorded.tokens_in, recorded.tokens_out, recorded.tokens_cached)
        tools.meter.spend(1, sum(tokens[:2]), dollars_for(tools.model.name, *tokens))
        yield asked.model_copy(update={"at": time.time()})
        yield (reply := recorded.model_copy(update={"at": time.time()}))
        return reply
    refused = _explain_cut(tools) if tools.cancel.is_set() else tools.meter.book(question, tools.model.name)
    if refused:
        yield refused
        return None
    if tools.replay.changed(ask_id):
        yield Notice(text=f"{ask_id} is asked again: the question reads differently from the recorded one")
    yield Asked(ask_id=ask_id, prompt_version=prompt_version, **dict(question))
    incoming = _IncomingAnswer(tools, ask_id, question)
    yield from incoming.receive(enough or (lambda text: False))
    yield (reply := incoming.to_event())
    if incoming.error:
        raise incoming.error
    if reply.ended == "cut":
        yield incoming.forbidden or _explain_cut(tools, incoming.pause_seconds)
        return None
    return reply


def drop_limits(events: Generator[Event, None, T], limits: list[str]) -> Generator[Event, None, T]:
    """The same events and result without a limit that was reached, which goes to `limits`: it ends no run that is done.

    Ctrl-C still does.
    """
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        if isinstance(event, Stopped) and event.reason != "interrupted":
            limits.append(event.why)
        else:
            yield event


@dataclass
class _IncomingAnswer:
    """One answer while it comes in, and what has come of it."""

    tools: Tools
    ask_id: str
    question: Ask
    text: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    done: Done | None = None
    started: float = field(default_factory=time.monotonic)
    """When it was asked for, or, where tries were lost, asked for last."""
    pause_seconds: float = 0.0
    """What the server wants us to wait, where that is more than there is."""
    forbidden: Stopped | None = None
    """The limit that forbids to ask once more where an answer was lost."""
    error: ModelError | None = None
    """Why nothing more came, where what did come may have to be paid for."""
    pause: ExitStack = field(default_factory=ExitStack)
    is_idle: bool = False
    """Whether another process has the cores, so that no limit of time counts."""
    idle_since: float = 0.0
    waited_seconds: float = 0.0

    def receive(self, enough: Callable[[str], bool]) -> Iterator[Event]:
        """The answer as it comes, until its end, or until it is enough or there is no time left for more of it.

        An error is raised from here only if the answer cannot have cost anything; else it is put on record first.
        """
        model = self.tools.model
        try:
            for piece in model.stream(self.question, self.tools.cancel):
                self._stop_clock(isinstance(piece, Waiting) and piece.is_idle)
                if isinstance(piece, Chunk | Thought) and piece.instead:  # all so far in another light
                    self.text, self.thoughts = [], []
                match piece:
                    case Chunk():
                        self.text.append(piece.text)
                        yield ModelChunk(ask_id=self.ask_id, text=piece.text, instead=piece.instead)
                        # Only a model on this machine lets go of an answer at no cost, and only at the end of a line
                        # is it clear what the text so far says.
                        if "\n" in piece.text and isinstance(model, Leavable) and enough(whole := "".join(self.text)):
                            self.done = model.counted(self.question, whole)
                            break
                    case Thought():
                        self.thoughts.append(piece.text)
                        yield ModelThought(ask_id=self.ask_id, text=piece.text, instead=piece.instead)
                    case Waiting():
                        yield from self._wait(piece)
                    case Done():
                        self.done = piece
                if self.forbidden or self.pause_seconds or self.tools.meter.seconds_left <= 0:
                    break
        except ModelError as error:
            if not error.may_cost:
                raise
            self.error = error
        finally:
            self._stop_clock(False)

    def _stop_clock(self, is_idle: bool) -> None:
        """Stop the clock of the limits while another process has the cores; the answer begins when it goes on."""
        if is_idle and not self.is_idle:
            self.pause.enter_context(self.tools.meter.pause())
            self.idle_since = time.monotonic()
        elif self.is_idle and not is_idle:
            self.pause.close()
            self.started = time.monotonic()
            self.waited_seconds += self.started - self.idle_since
        self.is_idle = is_idle

    def _wait(self, piece: Waiting) -> Iterator[Event]:
        """An answer that was lost on its way and is asked for again is booked again, and what it may have cost is put
        on record: nobody knows whether it is to be paid for. Its time, and the pause after it, are no part of the next
        one's.
        """
        meter, name = self.tools.meter, self.tools.model.name
        if piece.why:
            yield Notice(text=piece.why)
        if piece.seconds:
            self.started = time.monotonic() + piece.seconds
        self.pause_seconds = piece.seconds if piece.seconds > meter.seconds_left else 0.0
        if not piece.lost:
            return
        self.forbidden = meter.book(self.question, name, is_retry=True)
        if not self.forbidden:
            tokens, dollars = most_tokens(self.question), most_dollars(self.question, name)
            yield AnswerLost(ask_id=self.ask_id, model=name, tokens=tokens, dollars=dollars)

    def to_event(self) -> ModelReplied:
        """The answer on record, and what it cost; one that was broken off stays booked at the most it can have cost.

        What the provider does not say about thoughts is counted from their text. A server that did not even begin
        costs nothing.
        """
        name = self.tools.model.name
        thought = guess_tokens(len(self.thoughts), sum(map(len, self.thoughts)))
        done = self.done or Done(tokens_in=0, tokens_out=len(self.text) + thought)
        tokens = (done.tokens_in, done.tokens_out)
        not_begun = self.pause_seconds and not self.forbidden and not self.text and not self.thoughts
        dollars = most_dollars(self.question, name)
        if self.done or not_begun:
            dollars = self.tools.meter.settle(self.question, *tokens, name, done.tokens_cached)
        return ModelReplied(
            ask_id=self.ask_id,
            purpose=self.question.purpose,
            text="".join(self.text),
            tokens_in=done.tokens_in,
            tokens_out=done.tokens_out,
            seconds=max(0.0, time.monotonic() - self.started),
            ended=done.ended if self.done else "cut",
            dollars=dollars,
            tokens_cached=done.tokens_cached,
            tokens_thought=done.tokens_thought or min(thought, done.tokens_out),
            model=name,
            waited_seconds=self.waited_seconds,
        )


def _explain_cut(tools: Tools, pause_seconds: float = 0.0) -> Stopped:
    if tools.cancel.is_set():
        return Stopped(reason="interrupted", why="stopped by the user")
    limit, left = tools.meter.limits.seconds, max(0.0, tools.meter.seconds_left)
    if pause_seconds:
        wants = f"{tools.model.name} can be asked again in {pause_seconds:.0f} s"
        return Stopped(reason="seconds", why=f"{wants}, and of the limit of {limit:g} seconds {left:.0f} are left")
    return Stopped(reason="seconds", why=f"the limit of {limit:g} seconds is reached")
