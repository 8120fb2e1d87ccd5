"""The picture: plan, build level by level, test, judge, decide, correct. All that happens in a build is here."""

import json
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NotRequired, cast

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from pydantic import ValidationError

from burnish.agent.ask import Checkpoint, drop_limits
from burnish.agent.ask import ask as ask_model
from burnish.agent.graph import GraphState, drain
from burnish.agent.nodes.review import NotTaken, hold_review
from burnish.apps.blueprint import Blueprint
from burnish.apps.functions import Workshop, list_functions
from burnish.apps.judging.checkpoints import judge_app, run_contract_tests
from burnish.apps.planning import plan as planning
from burnish.apps.planning.plan import Planned
from burnish.apps.state import (
    CORRECT,
    BuildBrief,
    BuildState,
    hash_text,
    join_files,
    make_files,
    render_blueprint,
    weigh,
)
from burnish.events import (
    AppJudged,
    AppPlanned,
    BaseEvent,
    CheckFinished,
    Decided,
    Event,
    FunctionWritten,
    Refused,
    Reviewed,
    RunFinished,
    Stopped,
)
from burnish.events.apps import MadeBy
from burnish.models.model import Ask
from burnish.no_telemetry import disable_tracing
from burnish.text import join_words, one_line

PLAN, CHANGE = "plan", "plan-change"
"""What the model is asked for: a blueprint, or what a sentence changes in one."""
PROMPTS = "1"
"""Version of the prompts in `planning`."""
BUILD, JUDGE = "build", "judge"
MOST_ATTEMPTS = 2
"""Times that one function is written before the app does without it."""
NODES, MOST_LEVELS = 3, 12
"""Steps of a round, and levels of an app, with some to spare."""
SIDE_BY_SIDE = 2
"""Modules whose tests run at once: each has a cell of its own."""
NO_WORDS = "an app"
NOW = "This is how it is now."


class BuildGraphState(GraphState):
    """All that has happened so far; and the module that a node was sent to build."""

    module: NotRequired[str]


def build_app(brief: BuildBrief, workshop: Workshop, record: Callable[[BaseEvent], None]) -> Iterator[Event]:
    """The work itself: every event of its graph, each given to `record` before the next step."""
    with disable_tracing():
        most = {"recursion_limit": NODES * (workshop.tools.meter.limits.rounds + MOST_LEVELS + 3)}
        yield from build(BuildLoop(brief, workshop), record).stream({"events": []}, most, stream_mode="custom")


def build(loop: "BuildLoop", record: Callable[[BaseEvent], None]) -> Any:
    """The compiled graph of one run. `record` is called with each event before the next step is taken."""
    graph = StateGraph(BuildGraphState)

    def add(name: str, node: Callable[[BuildState], Iterator[Event]]) -> None:
        graph.add_node(name, drain(lambda values: node(BuildState(values["events"], loop.brief)), record))

    def build_one(values: GraphState) -> Iterator[Event]:
        return loop.build(BuildState(values["events"], loop.brief), cast(BuildGraphState, values)["module"])

    def choose(values: BuildGraphState) -> str | list[Send]:
        state = BuildState(values["events"], loop.brief)
        if state.stopped:
            return "finish"
        choice = next(event.choice for event in reversed(state.events) if isinstance(event, Decided))
        sent = {"events": list(state.events)}  # modules of one level are built side by side
        return [Send(BUILD, {**sent, "module": name}) for name in state.next_level] if choice == BUILD else choice

    # One line a node, then the edges: this reads as the picture.
    add("plan", loop.plan)
    graph.add_node(BUILD, drain(build_one, record))
    add("test", loop.test)
    add(JUDGE, loop.judge)
    add("decide", loop.decide)
    add(CORRECT, loop.correct)
    add("finish", loop.finish)

    graph.add_edge(START, "plan")
    graph.add_edge("plan", "decide")
    graph.add_conditional_edges("decide", choose, [BUILD, CORRECT, JUDGE, "finish"])
    graph.add_edge(BUILD, "test")
    graph.add_edge(CORRECT, "test")
    graph.add_edge("test", "decide")
    graph.add_edge(JUDGE, "decide")
    graph.add_edge("finish", END)
    return graph.compile()


@dataclass(frozen=True)
class BuildLoop:
    """The nodes of the graph, and what they work with."""

    brief: BuildBrief
    workshop: Workshop

    def plan(self, state: BuildState) -> Iterator[Event]:
        """From the sentence to a blueprint, which a person may change; or why there is none."""
        planned, facts = (yield from self._plan_first()), self.brief.facts
        if planned.blueprint is None:
            said = planned.refusal or planned.question
            yield Refused(what="the sentence", why=said)
            yield Stopped(reason="stuck", why=said)
            return
        draft = _Draft([planned.blueprint])
        for switch in facts.flips:
            draft.versions.append(planning.flip(draft.blueprint, switch))
        if self.workshop.tools.review or any(isinstance(event, Reviewed) for event in self.workshop.known):
            for event in self._review(draft):
                yield event
                if isinstance(event, Stopped):
                    return
        blueprint = draft.blueprint
        yield AppPlanned(
            blueprint=blueprint.model_dump_json(),
            title=blueprint.title,
            entities=tuple(entity.label for entity in blueprint.entities),
            assumptions=tuple(f"{one.id}: {one.text if one.on else one.otherwise}" for one in blueprint.switches),
            left_out=blueprint.left_out,
            made_by=self._made_by,
            rebuilt=self.brief.list_rebuilt(blueprint, facts.functions) if self.brief.earlier else (),
        )

    def build(self, state: BuildState, name: str) -> Iterator[Event]:
        """One module: its functions are written, then its files are made."""
        began, events = time.monotonic(), list[Event]()
        functions = [one for one in list_functions(state.blueprint) if one.entity.name == name]
        new = [one for one in functions if not self.brief.keep_function(one.name, state.blueprint)]
        for one in functions:
            if code := self.brief.keep_function(one.name, state.blueprint):
                events.append(FunctionWritten(function=one.name, code=code, verdict="plausible", why="as it was"))
            elif not self._can_ask:
                why = "no calls or no time were left" if self._asks else "no model was to be asked"
                events.append(FunctionWritten(function=one.name, why=why))
        yield from events
        if new and self._can_ask:
            waiting = sum(one.name not in state.functions for one in list_functions(state.blueprint))
            events += yield from _keep(self.workshop.write(new, waiting))
        yield state.after(events).build_module(name, time.monotonic() - began)

    def test(self, state: BuildState) -> Iterator[Event]:
        """The contract tests of the modules that were built last, in an app of those that are there."""
        if not state.next_level:
            yield from self._judge(state, state.untested, state.all_files)
        elif not self.brief.earlier and (part := state.built_so_far):  # a follow-up is tested once all of it is there
            yield from self._judge(state, state.untested, join_files(make_files(part, state.used)))

    def judge(self, state: BuildState) -> Iterator[Event]:
        """The four checkpoints, on the whole app."""
        yield from self._judge(state, [""], state.all_files)

    def decide(self, state: BuildState) -> Iterator[Event]:
        """What comes next: what fails is put right first, then the next level, then the whole."""
        meter, suspects = self.workshop.tools.meter, state.suspects if state.planned else []
        if state.stopped:
            return
        if suspects and state.rounds < meter.limits.rounds:
            why = f"{join_words(suspects)} may be why something fails"
            yield Decided(choice=CORRECT, reason=f"{why}: written once more, or left out.")
        elif level := state.next_level:
            yield Decided(choice=BUILD, reason=f"Next, side by side: {join_words(level)}.")
        elif {said.basis for (name, _), said in state.judged.items() if not name} != {_hash(state.all_files)}:
            yield Decided(choice=JUDGE, reason="All modules are there: the whole is judged.")
        elif suspects:
            yield Stopped(reason="rounds", why=f"the limit of {meter.limits.rounds} rounds is reached")
        else:
            yield meter.over or Stopped(reason="done")

    def correct(self, state: BuildState) -> Iterator[Event]:
        """Each suspected function is written once more, or the app does without it; its module is made anew."""
        began, events, stage = time.monotonic(), list[Event](), state.stage
        functions = {one.name: one for one in list_functions(state.blueprint)}
        again = [
            name
            for name in state.suspects
            if name.partition(".")[0] in state.failing
            and state.functions[name].attempt < MOST_ATTEMPTS
            and self._can_ask
        ]
        for name in state.suspects:
            if name not in again:
                why = "left out, as something fails with it"
                events.append(FunctionWritten(function=name, attempt=MOST_ATTEMPTS, why=why, stage=stage))
        yield from events
        if again:
            written = self.workshop.write([functions[name] for name in again], len(again), MOST_ATTEMPTS, stage)
            events += yield from _keep(written)
        now = state.after(events)
        for module in dict.fromkeys(name.partition(".")[0] for name in state.suspects):
            yield now.build_module(module, time.monotonic() - began)

    def finish(self, state: BuildState) -> Iterator[Event]:
        """The verdict, from what the checkpoints said of the app as it is."""
        if state.planned is None or not state.whole:
            yield RunFinished(verdict="failed", why=state.stopped.why if state.stopped else "nothing was built")
            return
        for evidence in state.whole:
            yield CheckFinished(evidence=evidence)
        verdict, why = weigh(state)
        yield RunFinished(verdict=verdict, why=why)

    @property
    def _made_by(self) -> MadeBy:
        """Who has planned."""
        if not self.workshop.tools.meter.calls:
            return "rules"
        return "model" if self.brief.facts.without == "rules" else "both"

    @property
    def _asks(self) -> bool:
        return self.brief.facts.without != "model"

    @property
    def _can_ask(self) -> bool:
        meter = self.workshop.tools.meter
        return self._asks and meter.calls_left > 0 and meter.over is None

    def _plan_first(self) -> Generator[Event, None, Planned]:
        """The blueprint before anybody turned a switch or looked at it."""
        sentence = self.brief.sentence
        if self.brief.earlier:
            before = self.brief.earlier[-1]
            return (yield from self._change(before, sentence)) if sentence else Planned(blueprint=before)
        if not self._asks:
            return planning.plan_by_rules(sentence)
        answer = yield from self._ask(PLAN, planning.build_plan_ask(sentence))
        if self.brief.facts.without != "rules":
            return planning.read_plan(sentence, answer)
        planned = planning.read_plan(NO_WORDS, answer)  # rules find nothing in it: what the model says is all there is
        blueprint = planned.blueprint
        return Planned(blueprint=blueprint.model_copy(update={"sentence": sentence})) if blueprint else planned

    def _change(self, before: Blueprint, sentence: str, number: int = 1) -> Generator[Event, None, Planned]:
        """A blueprint with what a sentence changes in it; a model is asked where rules do not understand it."""
        planned = planning.read_change(before, sentence, "")
        if planned.blueprint is None and not planned.question and self._asks:
            name = CHANGE if number == 1 else f"{CHANGE}-{number}"
            answer = yield from self._ask(name, planning.build_change_ask(before, sentence))
            planned = planning.read_change(before, sentence, answer)
        return planned

    def _ask(self, name: str, question: Ask) -> Generator[Event, None, str]:
        """What the model says; nothing where a limit keeps it from being asked: rules then go on alone."""
        reply = yield from drop_limits(ask_model(self.workshop.tools, name, question, PROMPTS), [])
        self.workshop.check_stopped()
        return reply.text if reply else ""

    def _review(self, draft: "_Draft") -> Iterator[Event]:
        """Show the blueprint to a person, who may edit it, or say in words what is to change."""

        def show(note: str) -> Checkpoint:
            return Checkpoint(where="plan", tests="", code=render_blueprint(draft.blueprint), note=note)

        def follow(said: Reviewed) -> Generator[Event, None, str]:
            if said.said == "edited":
                try:
                    draft.versions.append(Blueprint.model_validate_json(said.text))
                except ValidationError as error:
                    raise NotTaken(one_line(error.errors()[0]["msg"], 300)) from error
                return NOW
            planned = yield from self._change(draft.blueprint, said.words, len(draft.versions) + 1)
            if planned.blueprint is None:
                raise NotTaken(planned.refusal or planned.question)
            draft.versions.append(planned.blueprint)
            return NOW

        yield from hold_review(self.workshop.tools, show, follow)

    def _judge(self, state: BuildState, names: Sequence[str], files: dict[str, str]) -> Iterator[Event]:
        """What the checkpoints say, from the record where the same files were judged; "" is the whole."""
        tools, basis, known = self.workshop.tools, _hash(files), list[AppJudged]()
        for name in names:
            while found := tools.replay.take(AppJudged, module=name, basis=basis):
                known.append(found)
        if known:
            yield from (one.model_copy(update={"at": time.time()}) for one in known)
            return
        began, layer, kind = time.monotonic(), self.workshop.layer, self.workshop.sandbox
        if list(names) == [""]:
            said = [("", one) for one in judge_app(state.blueprint, files, layer, kind, self.workshop.tell)]
        else:
            tests = {name: f"tests/test_{name}.py" for name in names if f"tests/test_{name}.py" in files}
            with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
                answers = pool.map(lambda test: run_contract_tests(files, layer, [test], kind), tests.values())
                said = list(zip(tests, answers, strict=True))
        self.workshop.check_stopped()
        seconds = time.monotonic() - began
        for name, evidence in said:
            yield AppJudged(module=name, evidence=evidence, basis=basis, seconds=seconds, stage=state.stage)


@dataclass(frozen=True)
class _Draft:
    """A blueprint while it is being looked at, the newest version last."""

    versions: list[Blueprint] = field(default_factory=list)

    @property
    def blueprint(self) -> Blueprint:
        """As it is now."""
        return self.versions[-1]


def _keep(events: Iterator[Event]) -> Generator[Event, None, list[Event]]:
    """The same events, and all of them at the end."""
    kept = []
    for event in events:
        kept.append(event)
        yield event
    return kept


def _hash(files: dict[str, str]) -> str:
    return hash_text(json.dumps(files, sort_keys=True))
