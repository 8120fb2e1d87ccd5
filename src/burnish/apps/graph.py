"""The picture: plan, build level by level, test, judge, decide, correct. All that happens while an app is built is here."""

import hashlib
import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NotRequired, cast

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from pydantic import ValidationError

from burnish.agent.ask import Checkpoint, drop_limits
from burnish.agent.ask import ask as ask_model
from burnish.agent.graph import GraphState, drain
from burnish.agent.nodes.review import NotTaken, hold_review
from burnish.apps import planning
from burnish.apps.blueprint import Blueprint
from burnish.apps.checkpoints import judge_app, judge_modules
from burnish.apps.functions import Workshop, list_functions
from burnish.apps.generate import generate_module
from burnish.apps.modules import Module, list_modules
from burnish.apps.planning import Planned
from burnish.errors import AttemptError
from burnish.events import (
    AppFacts,
    AppFile,
    AppJudged,
    AppPlanned,
    BaseEvent,
    CheckFinished,
    Decided,
    Event,
    Evidence,
    FunctionWritten,
    ModuleBuilt,
    Refused,
    Reviewed,
    RunFinished,
    Stopped,
    Verdict,
)
from burnish.events.apps import MadeBy, Stage
from burnish.models.model import Ask
from burnish.no_telemetry import disable_tracing
from burnish.text import join_words, one_line, plural

PLAN, CHANGE = "plan", "plan-change"
"""What the model is asked for: a blueprint, or what a sentence changes in one."""
PROMPTS = "1"
"""Version of the prompts in `planning`."""
BUILD, CORRECT, JUDGE = "build", "correct", "judge"
MOST_ATTEMPTS = 2
"""Times that one function is written before the app does without it."""
NODES = 3
"""In one round, with some to spare."""
MOST_LEVELS = 12


class AppGraphState(GraphState):
    """All that has happened so far; and the module that a node was sent to build."""

    module: NotRequired[str]


def build_app(brief: AppBrief, workshop: Workshop, record: Callable[[BaseEvent], None]) -> Iterator[Event]:
    """The work itself: every event of its graph, each given to `record` before the next step."""
    with disable_tracing():
        most = {"recursion_limit": NODES * (workshop.tools.meter.limits.rounds + MOST_LEVELS + 3)}
        yield from build(AppLoop(brief, workshop), record).stream({"events": []}, most, stream_mode="custom")


def build(loop: "AppLoop", record: Callable[[BaseEvent], None]) -> Any:
    """The compiled graph of one run. `record` is called with each event before the next step is taken."""
    graph = StateGraph(AppGraphState)

    def add(name: str, node: Callable[[AppState], Iterator[Event]]) -> None:
        graph.add_node(name, drain(lambda values: node(AppState(values["events"])), record))

    def build_one(values: GraphState) -> Iterator[Event]:
        return loop.build(AppState(values["events"]), cast(AppGraphState, values)["module"])

    # One line a node, then the edges: this reads as the picture.
    add("plan", loop.plan)
    graph.add_node("build", drain(build_one, record))
    add("test", loop.test)
    add("judge", loop.judge)
    add("decide", loop.decide)
    add("correct", loop.correct)
    add("finish", loop.finish)

    graph.add_edge(START, "plan")
    graph.add_edge("plan", "decide")
    graph.add_conditional_edges("decide", after_decision, ["build", "correct", "judge", "finish"])
    graph.add_edge("build", "test")
    graph.add_edge("correct", "test")
    graph.add_edge("test", "decide")
    graph.add_edge("judge", "decide")
    graph.add_edge("finish", END)
    return graph.compile()


def after_decision(values: AppGraphState) -> str | list[Send]:
    """Modules of one level are built side by side."""
    state = AppState(values["events"])
    if state.stopped:
        return "finish"
    decided = next(event for event in reversed(state.events) if isinstance(event, Decided))
    if decided.choice != BUILD:
        return decided.choice
    events = list(values["events"])
    return [Send("build", {"events": events, "module": module.name}) for module in state.next_level]


@dataclass(frozen=True)
class AppLoop:
    """The nodes of the graph, and what they work with."""

    brief: AppBrief
    workshop: Workshop

    def plan(self, state: AppState) -> Iterator[Event]:
        """From the sentence to a blueprint, which a person may change; or why there is none."""
        planned = yield from self._plan_first()
        if planned.blueprint is None:
            said = planned.refusal or planned.question
            yield Refused(what="the sentence", why=said)
            yield Stopped(reason="stuck", why=said)
            return
        blueprint, facts = planned.blueprint, self.brief.facts
        for switch in facts.flips:
            blueprint = planning.flip(blueprint, switch)
        for event in (looking := self._review(blueprint)):
            if isinstance(event, Blueprint):
                blueprint = event
            else:
                yield event
                if isinstance(event, Stopped):
                    looking.close()
                    return
        made_by: MadeBy = "rules" if not self._asks else "model" if facts.without == "rules" else "both"
        switches = (f"{one.id}: {one.text if one.on else one.otherwise}" for one in blueprint.switches)
        yield AppPlanned(
            blueprint=blueprint.model_dump_json(),
            title=blueprint.title,
            entities=tuple(entity.label for entity in blueprint.entities),
            assumptions=tuple(switches),
            left_out=blueprint.left_out,
            made_by=made_by,
            rebuilt=self._list_rebuilt(blueprint) if self.brief.earlier else (),
        )

    def build(self, state: AppState, name: str) -> Iterator[Event]:
        """One module: its functions are written, then its files are made."""
        module = next(module for module in state.modules if module.name == name)
        wanted = [one for one in list_functions(state.blueprint) if one.entity.name == name]
        known = {one.name for one in wanted if self._knows(state, one.name)}
        for function in known:
            code = self.brief.facts.functions[function]
            yield FunctionWritten(function=function, code=code, verdict="plausible", why="as it was before")
        new = [one for one in wanted if one.name not in known]
        why = "no model was to be asked" if not self._asks else "no calls or no time were left"
        events: list[Event] = []
        if self._asks and self._can_ask:
            for event in self.workshop.write(new, self._count_waiting(state)):
                events.append(event)
                yield event
        else:
            events = [FunctionWritten(function=one.name, why=why) for one in new]
            yield from events
        yield self._make_module(AppState((*state.events, *events, *self._list_known(known))), module)

    def test(self, state: AppState) -> Iterator[Event]:
        """The contract tests of what was built last, before anything leans on it."""
        last = next(event for event in reversed(state.events) if isinstance(event, Decided | ModuleBuilt))
        level = state.built[last.module].level if isinstance(last, ModuleBuilt) else 0
        modules = [module for module in state.modules if module.level == level and module.name in state.built]
        yield from self._judge(state, [module.name for module in modules])

    def judge(self, state: AppState) -> Iterator[Event]:
        """The four checkpoints, on the whole app."""
        yield from self._judge(state, [""])

    def decide(self, state: AppState) -> Iterator[Event]:
        """What comes next: what fails is put right first, then the next level, then the whole."""
        meter, suspects = self.workshop.tools.meter, state.suspects if state.planned else []
        rounds = sum(isinstance(event, Decided) and event.choice == CORRECT for event in state.events)
        if state.stopped:
            return
        if suspects and rounds < meter.limits.rounds:
            yield Decided(choice=CORRECT, reason=f"Something fails, and {join_words(suspects)} may be why.")
        elif level := state.next_level:
            names = join_words([module.name for module in level])
            yield Decided(choice=BUILD, reason=f"Next, side by side: {names}.")
        elif {said.basis for (name, _), said in state.judged.items() if not name} != {self._hash(state)}:
            yield Decided(choice=JUDGE, reason="All modules are there: the whole is judged.")
        elif any(said.verdict == "failed" for said in state.whole) or state.failing:
            why = f"the limit of {meter.limits.rounds} rounds is reached" if suspects else "nothing could be left out"
            yield Stopped(reason="rounds" if suspects else "stuck", why=why)
        else:
            yield meter.over or Stopped(reason="done")

    def correct(self, state: AppState) -> Iterator[Event]:
        """Each suspected function is written once more, or the app does without it; its module is made anew."""
        functions = {one.name: one for one in list_functions(state.blueprint)}
        again = [name for name in state.suspects if name.partition(".")[0] in state.failing]
        again = [name for name in again if state.functions[name].attempt < MOST_ATTEMPTS and self._can_ask]
        events: list[Event] = []
        for name in state.suspects:
            if name not in again:
                why = "left out: something fails with it"
                events.append(FunctionWritten(function=name, attempt=MOST_ATTEMPTS, why=why, stage=state.stage))
        yield from events
        if again:
            written = self.workshop.write([functions[name] for name in again], len(again), MOST_ATTEMPTS, state.stage)
            for event in written:
                events.append(event)
                yield event
        now = AppState((*state.events, *events))
        for module in state.modules:
            if module.name in {name.partition(".")[0] for name in state.suspects}:
                yield self._make_module(now, module)

    def finish(self, state: AppState) -> Iterator[Event]:
        """The verdict, from what the checkpoints said of the app as it is."""
        if state.planned is None or not state.whole:
            why = state.stopped.why if state.stopped else "nothing was built"
            yield RunFinished(verdict="failed", why=why)
            return
        for evidence in state.whole:
            yield CheckFinished(evidence=evidence)
        verdict, why = weigh(state)
        yield RunFinished(verdict=verdict, why=why)

    @property
    def _asks(self) -> bool:
        return self.brief.facts.without != "model"

    @property
    def _can_ask(self) -> bool:
        meter = self.workshop.tools.meter
        return self._asks and meter.calls_left > 0 and meter.over is None

    def _plan_first(self) -> Generator[Event, None, Planned]:
        """The blueprint before anybody turned a switch or looked at it."""
        sentence, facts = self.brief.sentence, self.brief.facts
        if self.brief.earlier:
            before = self.brief.earlier[-1]
            return (yield from self._change(before, sentence)) if sentence else Planned(blueprint=before)
        if not self._asks:
            return planning.plan_by_rules(sentence)
        answer = yield from self._ask(PLAN, planning.build_plan_ask(sentence))
        return planning.read_plan(sentence, answer, by_rules=facts.without != "rules")

    def _change(self, before: Blueprint, sentence: str, number: int = 1) -> Generator[Event, None, Planned]:
        """A blueprint with what a sentence changes in it."""
        answer = ""
        if self._asks:
            name = CHANGE if number == 1 else f"{CHANGE}-{number}"
            answer = yield from self._ask(name, planning.build_change_ask(before, sentence))
        return planning.read_change(before, sentence, answer)

    def _ask(self, name: str, question: Ask) -> Generator[Event, None, str]:
        """What the model says; nothing where a limit keeps it from being asked: rules then go on alone."""
        reply = yield from drop_limits(ask_model(self.workshop.tools, name, question, PROMPTS), [])
        if reply is None and self.workshop.tools.cancel.is_set():
            raise AttemptError("stopped by the user")
        return reply.text if reply else ""

    def _review(self, blueprint: Blueprint) -> Generator[Event | Blueprint, None, None]:
        """Show the blueprint to a person, if one wants to look: each change of it, and what happens meanwhile."""
        tools, changes = self.workshop.tools, 1
        found: list[Blueprint] = []
        if tools.review is None and not self._was_reviewed:
            return

        def show(note: str) -> Checkpoint:
            text = json.dumps((found or [blueprint])[-1].model_dump(mode="json", exclude_defaults=True), indent=2)
            return Checkpoint(where="plan", tests="", code=text + "\n", note=note)

        def follow(said: Reviewed) -> Generator[Event, None, str]:
            nonlocal changes
            now = (found or [blueprint])[-1]
            if said.said == "edited":
                try:
                    found.append(Blueprint.model_validate_json(said.text))
                except ValidationError as error:
                    raise NotTaken(one_line(error.errors()[0]["msg"], 300)) from error
                return "This is how it is now."
            changes += 1
            planned = yield from self._change(now, said.words, changes)
            if planned.blueprint is None:
                raise NotTaken(planned.refusal or planned.question)
            found.append(planned.blueprint)
            return "This is how it is now."

        for event in hold_review(tools, show, follow):
            yield event
            yield from found[-1:]

    @property
    def _was_reviewed(self) -> bool:
        return any(isinstance(event, Reviewed) for event in self.workshop.known)

    def _knows(self, state: AppState, function: str) -> bool:
        """Whether a function is there from before, and asked for in the same words."""
        if function not in self.brief.facts.functions or not self.brief.earlier:
            return False
        before = {one.name: one.to_task() for one in list_functions(self.brief.earlier[-1])}
        now = {one.name: one.to_task() for one in list_functions(state.blueprint)}
        return before.get(function) == now[function]

    def _list_known(self, names: set[str]) -> list[Event]:
        code = self.brief.facts.functions
        return [FunctionWritten(function=name, code=code[name], verdict="plausible") for name in names]

    def _count_waiting(self, state: AppState) -> int:
        return sum(one.name not in state.functions for one in list_functions(state.blueprint))

    def _make_module(self, state: AppState, module: Module) -> ModuleBuilt:
        """The files of a module, as the record has them; files of the user's stay where nothing else changed in it."""
        began = time.monotonic()
        made = make_files(module, state.blueprint, state.used, self.brief)
        own = self.brief.facts.edited
        changed = sorted(path for path in made if path in own)
        kept = changed if not self._differs(module, state.blueprint, state.used) else []
        files = made | {path: own[path] for path in kept}
        has_functions = any(name.partition(".")[0] == module.name for name in state.used)
        return ModuleBuilt(
            module=module.name,
            level=module.level,
            needs=module.needs,
            files=tuple(AppFile(path=path, sha256=hash_text(text)) for path, text in sorted(files.items())),
            kept=tuple(kept),
            replaced=() if kept else tuple(changed),
            made_by="both" if has_functions else "rules",
            seconds=time.monotonic() - began,
            stage=state.stage,
        )

    def _differs(self, module: Module, blueprint: Blueprint, functions: Mapping[str, str]) -> bool:
        """Whether a module is another one than before the follow-up."""
        if not self.brief.earlier:
            return True
        return made_before(self.brief).get(module.name) != make_files(module, blueprint, functions, self.brief)

    def _list_rebuilt(self, blueprint: Blueprint) -> tuple[str, ...]:
        functions = self.brief.facts.functions
        modules = list_modules(blueprint)
        return tuple(module.name for module in modules if self._differs(module, blueprint, functions))

    def _judge(self, state: AppState, names: Sequence[str]) -> Iterator[Event]:
        """What the checkpoints say, from the record where the same files were judged; "" is the whole."""
        tools = self.workshop.tools
        basis, files = self._hash(state), list_files(state, self.brief)
        known: list[AppJudged] = []
        for name in names:
            while found := tools.replay.take(AppJudged, module=name, basis=basis):
                known.append(found)
        if {one.module for one in known} >= {*names}:
            yield from (one.model_copy(update={"at": time.time()}) for one in known)
            return
        began = time.monotonic()
        if names == [""]:
            found_by_name = {"": judge_app(state.blueprint, files, self.workshop.layer, keep=self.workshop.keep)}
        else:
            found_by_name = judge_modules(state.blueprint, names, files, tools.sandbox)
        if tools.cancel.is_set():  # what broke because all was closed under it says nothing
            raise AttemptError("stopped by the user")
        seconds = time.monotonic() - began
        for name, evidence in found_by_name.items():
            for one in evidence:
                yield AppJudged(module=name, evidence=one, basis=basis, seconds=seconds, stage=state.stage)

    def _hash(self, state: AppState) -> str:
        return hash_text(json.dumps(list_files(state, self.brief), sort_keys=True))
