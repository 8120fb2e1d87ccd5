"""The picture: write, run, observe, decide, correct. Everything that happens in the run of a page is on this page."""

import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langgraph.graph import END, START, StateGraph

from burnish.agent.ask import Tools, ask, drop_limits
from burnish.agent.graph import GraphState, drain
from burnish.agent.prompts import Messages
from burnish.events import (
    BaseEvent,
    Decided,
    Event,
    ModelReplied,
    PageJudged,
    PageObserved,
    PageRefused,
    PageTold,
    PageWritten,
    RunFinished,
    Stopped,
)
from burnish.models.model import Ask
from burnish.no_telemetry import disable_tracing
from burnish.pages import prompts
from burnish.pages.answer import read_answer
from burnish.pages.findings import FAILS, Finding, find_troubles
from burnish.pages.page import PageGone
from burnish.pages.rubric import Case, judge_version, score
from burnish.pages.watched_page import NO_ANSWER, WatchedPage
from burnish.text import one_line, plural

PURPOSE, QUESTION = "page", "page-question"
"""What the model is asked for: a version, or an answer that the page wants."""
AFRESH = "afresh"
TEMPERATURE, CORRECTING, WARMER = 0.3, 0.6, 0.9
"""Of the first version, of corrections (small models write the same again where it is low), and of a new beginning."""
ALIKE = 3
"""Versions in a row with the same findings, after which correcting them goes nowhere."""
MOST_AFRESH = 3
"""Times that a run begins from nothing before it counts as stuck."""
SEEDS_APART = 100
"""Between the questions of one cycle."""
MOST_QUESTIONS = 5
"""That the versions of a run may have answered by the model; each different one costs a call."""
QUESTION_TOKENS = 300
NODES = 5
"""In one cycle, with some to spare."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class PageBrief:
    """What the page shall be."""

    sentence: str
    context: str
    """What the model is told about its surroundings."""
    case: Case | None = None
    before: str = ""
    """Of a follow-up: the code that it goes on from."""
    follow_ups: int = 0

    @property
    def surroundings(self) -> str:
        """The context, with what the case adds to it."""
        return f"{self.context.rstrip()}\n\n{self.case.context}".strip() if self.case else self.context


@dataclass(frozen=True)
class PageState:
    """A run as its nodes see it: all that happened so far, and what follows from it."""

    events: Sequence[Event]

    @cached_property
    def written(self) -> dict[int, PageWritten]:
        """The versions, by their cycle."""
        return {event.cycle: event for event in self.events if isinstance(event, PageWritten)}

    @cached_property
    def seen(self) -> dict[int, PageObserved]:
        """What each version did when it ran last."""
        return {event.cycle: event for event in self.events if isinstance(event, PageObserved)}

    @cached_property
    def judged(self) -> dict[int, PageJudged]:
        """What was found of each version."""
        return {event.cycle: event for event in self.events if isinstance(event, PageJudged)}

    @cached_property
    def answer(self) -> PageWritten | PageRefused | None:
        """What the model answered last."""
        answers = (event for event in reversed(self.events) if isinstance(event, PageWritten | PageRefused))
        return next(answers, None)

    @property
    def cycle(self) -> int:
        """The cycle that goes on; 0 before the first answer."""
        return self.answer.cycle if self.answer else 0

    @cached_property
    def stopped(self) -> Stopped | None:
        """Why the work ended."""
        return next((event for event in self.events if isinstance(event, Stopped)), None)

    @cached_property
    def gave_up(self) -> str | None:
        """The reason that page or model gave; None where nobody gave up."""
        told = (event for event in self.events if isinstance(event, PageTold) and event.tool == "give_up")
        return next((event.text for event in told), None)

    @cached_property
    def answers(self) -> dict[str, str]:
        """What the page asked, and what the model said."""
        told = [event for event in self.events if isinstance(event, PageTold) and event.tool in ("ask", "answer")]
        pairs = zip(told, told[1:], strict=False)
        return {asked.text: said.text for asked, said in pairs if (asked.tool, said.tool) == ("ask", "answer")}

    @property
    def repeats(self) -> bool:
        """Whether the last answer is code that ran already."""
        return isinstance(self.answer, PageWritten) and self.has_before(self.answer.code, self.cycle)

    def has_before(self, code: str, cycle: int) -> bool:
        """Whether this is the code of a version before that cycle; how it is laid out does not matter."""
        return any(one.code.split() == code.split() for one in self.written.values() if one.cycle < cycle)

    @property
    def afresh(self) -> int:
        """How often it was to be written from nothing."""
        return sum(isinstance(event, Decided) and event.choice == AFRESH for event in self.events)

    @property
    def goes_nowhere(self) -> bool:
        """Whether the same code came again, or the same findings for the third time in a row."""
        ends = [event for event in self.events if isinstance(event, PageJudged | PageRefused)][-ALIKE:]
        told = {_DIGITS.sub("", end.why if isinstance(end, PageRefused) else "\n".join(end.findings)) for end in ends}
        return self.repeats or (len(ends) == ALIKE and len(told) == 1)

    def count_points(self, brief: PageBrief, cycle: int) -> int:
        """What the criteria that hold on a version are worth, whenever they came to hold; 0 without a case.

        One that could not be judged yet counts as well, unless the version fails: on a busy machine a right page that
        takes its time would else be worth less than a wrong one that is done.
        """
        points = {one.name: one.points for one in brief.case.criteria} if brief.case else {}
        held = self.judged[cycle].held if cycle in self.judged else ()
        hopeful = cycle in self.seen and not fails(find_in(self, brief, cycle))
        return sum(points.get(one.name, 0) for one in held if one.holds or (hopeful and one.holds is None))

    def best(self, brief: PageBrief) -> PageWritten | None:
        """The version to hand over: most points, then nothing that makes it fail, fewest findings, the latest."""

        def rank(written: PageWritten) -> tuple[int, bool, int, int]:
            cycle, troubles = written.cycle, find_in(self, brief, written.cycle)
            return self.count_points(brief, cycle), not fails(troubles), -len(troubles), cycle

        ran = [one for one in self.written.values() if one.cycle in self.seen] or list(self.written.values())
        return max(ran, key=rank, default=None)


def find_in(state: PageState, brief: PageBrief, cycle: int) -> tuple[Finding, ...]:
    """What is to be put right in a version that ran."""
    seen, judged = state.seen.get(cycle), state.judged.get(cycle, PageJudged(cycle=cycle))
    return find_in_version(brief, state.written[cycle], seen, judged) if seen else ()


def find_in_version(
    brief: PageBrief, version: PageWritten, seen: PageObserved, judged: PageJudged
) -> tuple[Finding, ...]:
    """The same, from what it did by itself and what it did while probes used it."""
    seen = seen.model_copy(update={"errors": (*seen.errors, *judged.thrown)})
    return find_troubles(brief.sentence, version.code, seen, brief.case, judged.held)


def fails(troubles: Sequence[Finding]) -> bool:
    """Whether a version with these findings is no result."""
    return any(finding.trouble in FAILS for finding in troubles)


def make_page(
    brief: PageBrief, tools: Tools, page: WatchedPage, record: Callable[[BaseEvent], None]
) -> Iterator[Event]:
    """The loop at work: every event of its graph, each given to `record` before the next step."""
    with disable_tracing():
        most = {"recursion_limit": NODES * (tools.meter.limits.rounds + 3)}
        yield from build(PageLoop(brief, tools, page), record).stream({"events": []}, most, stream_mode="custom")


def build(loop: "PageLoop", record: Callable[[BaseEvent], None]) -> Any:
    """The compiled graph of one run. `record` is called with each event before the next step is taken."""
    graph = StateGraph(GraphState)

    def add(name: str, node: Callable[[PageState], Iterator[Event]]) -> None:
        graph.add_node(name, drain(lambda values: node(PageState(values["events"])), record))

    def branch(name: str, route: Callable[[PageState], str], targets: list[str]) -> None:
        def choose(values: GraphState) -> str:
            state = PageState(values["events"])
            return END if state.stopped and state.stopped.reason == "interrupted" else route(state)

        graph.add_conditional_edges(name, choose, [*targets, END])

    # One line a node, then the edges: this reads as the picture.
    add("write", loop.write)
    add("run", loop.run)
    add("observe", loop.observe)
    add("decide", loop.decide)
    add("correct", loop.correct)
    add("finish", loop.finish)

    graph.add_edge(START, "write")
    branch("write", after_answer, ["run", "decide", "finish"])
    branch("correct", after_answer, ["run", "decide", "finish"])
    branch("run", lambda state: "observe", ["observe"])
    graph.add_edge("observe", "decide")
    branch("decide", lambda state: "finish" if state.stopped else "correct", ["correct", "finish"])
    graph.add_edge("finish", END)
    return graph.compile()


def after_answer(state: PageState) -> str:
    """New code is run; of an answer without any, and of code that ran already, there is nothing to observe."""
    if state.stopped:
        return "finish"
    is_new = isinstance(state.answer, PageWritten) and state.gave_up is None and not state.repeats
    return "run" if is_new else "decide"


@dataclass(frozen=True)
class PageLoop:
    """The nodes of the graph, and what they work with."""

    brief: PageBrief
    tools: Tools
    page: WatchedPage

    def write(self, state: PageState) -> Iterator[Event]:
        """Ask for the first version."""
        brief = self.brief
        before = brief.before if prompts.has_room(self.tools.model, brief.before) else ""
        yield from self._ask_for_version(state, prompts.write(brief.surroundings, brief.sentence, before), TEMPERATURE)

    def run(self, state: PageState) -> Iterator[Event]:
        """Put the newest version into the page, unless the record says what came of that."""
        newest = state.written[state.cycle]
        known = self.tools.replay.take(PageObserved, cycle=newest.cycle)
        if known is None:
            yield from self._run_and_watch(state, newest)
            return
        answers = dict(state.answers)
        while told := self.tools.replay.take(PageTold, cycle=newest.cycle):
            yield told.model_copy(update={"at": time.time()})
            if told.tool == "ask" and told.text not in answers:
                answers[told.text] = ""
                if self.tools.replay.changed(f"{QUESTION}-{len(answers)}"):  # what it cost counts
                    yield from self._answer(told.text, len(answers))
        yield known.model_copy(update={"at": time.time()})

    def observe(self, state: PageState) -> Iterator[Event]:
        """What the probes say of the newest version, and what is to be put right."""
        written = state.written[state.cycle]
        known, seen = self.tools.replay.take(PageJudged, cycle=written.cycle), state.seen[written.cycle]
        judged = known or PageJudged(cycle=written.cycle)
        if known is None and self.page.running != written.cycle and not seen.killed:  # taken up again just here
            seen = yield from self._run_and_watch(state, written)
        if known is None and not seen.killed:
            judged = self._judge(seen, is_last=False)
            self.page.start_recording()
        findings = tuple(finding.text for finding in find_in_version(self.brief, written, seen, judged))
        yield PageJudged(
            cycle=written.cycle,
            held=judged.held,
            thrown=judged.thrown,
            findings=findings,
            sent=prompts.tell_findings(findings),
        )

    def decide(self, state: PageState) -> Iterator[Event]:
        """Done, at a limit, or given up; else what to do about what was found."""
        limits, judged = self.tools.meter.limits, state.judged.get(state.cycle)
        is_clean = judged is not None and not judged.findings
        if state.gave_up is not None:
            yield Stopped(reason="stuck", why=f"given up: {one_line(state.gave_up, 200)}")
        elif is_clean:
            yield Stopped(reason="done")
        elif over := self.tools.meter.over:
            yield over
        elif state.cycle > limits.rounds:
            yield Stopped(reason="rounds", why=f"the limit of {limits.rounds} rounds is reached")
        elif state.goes_nowhere and state.afresh == MOST_AFRESH:
            yield Stopped(reason="stuck", why="the same came again, however often it was to be written afresh")
        elif state.goes_nowhere:
            same = f"The same findings {ALIKE} times"
            yield Decided(choice=AFRESH, reason=f"{same}: it is to be written afresh in another way.")
        else:
            found = plural(len(judged.findings), "finding") if judged else "an answer without code"
            yield Decided(choice="correct", reason=f"Version {state.cycle} has {found}." if judged else f"{found}.")

    def correct(self, state: PageState) -> Iterator[Event]:
        """Show the model what was found, and ask for the whole code again; or, stuck, for another way."""
        context, sentence = self.brief.surroundings, self.brief.sentence
        decided = next(event for event in reversed(state.events) if isinstance(event, Decided))
        # Not always the latest: one that was written afresh may be worse than what there was.
        points = {cycle: state.count_points(self.brief, cycle) for cycle in state.judged}
        shown = state.written.get(max(points, key=lambda cycle: (points[cycle], cycle), default=0))
        sent = state.judged[shown.cycle].sent if shown else ""
        code, temperature = shown.code if shown else "", CORRECTING
        if not prompts.has_room(self.tools.model, code):
            code, sent = "", f"{sent}\nIt was long, too: write shorter code."
        messages = afresh = prompts.write_afresh(context, sentence, sent)
        if decided.choice == AFRESH:
            temperature = WARMER
        elif code:
            messages = prompts.correct(context, sentence, code, sent)
        if isinstance(state.answer, PageRefused):
            messages = prompts.explain_form(context, sentence, code, state.answer.why)
        yield from self._ask_for_version(state, messages, temperature, afresh)

    def finish(self, state: PageState) -> Iterator[Event]:
        """The best version runs and is judged, and is handed over with its score; it always ends."""
        best, case = state.best(self.brief), self.brief.case
        if best is None:
            why = "no answer held code that could run in the page" if state.answer else "no answer came"
            yield RunFinished(verdict="failed", why=why)
            return
        seen, judged = state.seen.get(best.cycle), state.judged.get(best.cycle, PageJudged(cycle=best.cycle))
        # Probes use a page as a person would: for its last judgement it is put in anew.
        is_judged_anew = case is not None and any(one.at_end for one in case.criteria)
        if self.page.running != best.cycle or seen is None or is_judged_anew:
            seen = yield from self._run_and_watch(state, best)
            if case and not seen.killed:
                judged = self._judge(seen, is_last=True)
            findings = tuple(finding.text for finding in find_in_version(self.brief, best, seen, judged))
            yield judged.model_copy(update={"findings": findings})
        troubles = find_in_version(self.brief, best, seen, judged)
        self.page.start_recording()
        self.page.finish_recording()
        if case:
            earlier = {cycle: judged.held for cycle, judged in state.judged.items() if cycle < best.cycle}
            yield score(case, earlier | {best.cycle: judged.held}, self.brief.follow_ups)
        gave_up, is_bad = state.gave_up is not None, fails(troubles)
        why = f"given up: {one_line(state.gave_up or '', 200)}" if gave_up else ""
        why = why or (troubles[0].text if is_bad else f"version {best.cycle} runs without an error")
        yield RunFinished(verdict="failed" if gave_up or is_bad else "plausible", why=why, version=best.cycle)

    def _ask_for_version(
        self, state: PageState, messages: Messages, temperature: float, afresh: Messages = ()
    ) -> Iterator[Event]:
        """The model's next version, or why its answer is none; nothing where a limit ended the work.

        Code that ran already costs a call and no cycle: the model is asked at once for another way, by `afresh`.
        """
        cycle, again, tokens = state.cycle + 1, 0, prompts.answer_tokens(self.tools.model)
        while True:
            name = f"{PURPOSE}-{cycle}-{again}" if again else f"{PURPOSE}-{cycle}"
            seed = cycle + SEEDS_APART * again
            question = Ask(purpose=PURPOSE, messages=messages, temperature=temperature, max_tokens=tokens, seed=seed)
            reply = yield from ask(self.tools, name, question, prompts.VERSION)
            if reply is None:
                return
            answer = read_answer(reply.text, reply.ended)
            if not state.has_before(answer.code, cycle) or state.afresh + again == MOST_AFRESH:
                break
            yield Decided(choice=AFRESH, reason="The same code: it is to be written afresh in another way.")
            messages, temperature, again = afresh, WARMER, again + 1
        if answer.code:
            yield PageWritten(cycle=cycle, code=answer.code, repaired=answer.repaired, ask_id=reply.ask_id)
            return
        if answer.gave_up:
            yield PageTold(cycle=cycle, tool="give_up", text=answer.gave_up)
        yield PageRefused(cycle=cycle, why=answer.why)

    def _run_and_watch(self, state: PageState, version: PageWritten) -> Generator[Event, None, PageObserved]:
        """A version runs; the page's words come as it says them, and what it asks is answered by the model.

        What was asked before has the answer that it had.
        """
        answers = dict(state.answers)
        calls = self.page.run(version.code, version.cycle)
        try:
            while True:
                call = next(calls)
                yield PageTold(cycle=version.cycle, tool=call.tool, text=call.text)
                if call.tool == "ask":
                    if call.text not in answers:
                        answers[call.text] = yield from self._answer(call.text, len(answers) + 1)
                    yield PageTold(cycle=version.cycle, tool="answer", text=answers[call.text])
                    call.reply.set_result(answers[call.text])
        except StopIteration as end:
            tokens = [event.tokens_in for event in state.events if isinstance(event, ModelReplied)]
            seen: PageObserved = end.value.model_copy(update={"context_tokens": tokens[-1] if tokens else None})
            yield seen
            return seen

    def _answer(self, question: str, number: int) -> Generator[Event, None, str]:
        """What the model says to the page; a limit ends its questions, and not the run."""
        if number > MOST_QUESTIONS:
            return NO_ANSWER
        messages = prompts.answer_page(self.brief.sentence, question)
        wanted = Ask(purpose=QUESTION, messages=messages, max_tokens=QUESTION_TOKENS)
        reply = yield from drop_limits(ask(self.tools, f"{QUESTION}-{number}", wanted, prompts.VERSION), [])
        return reply.text.strip() if reply else NO_ANSWER

    def _judge(self, seen: PageObserved, is_last: bool) -> PageJudged:
        """What probes say of the version that runs, and what it threw while they used it."""
        judged = PageJudged(cycle=seen.cycle)
        if self.brief.case is None:
            return judged
        try:
            held = judge_version(self.brief.case, self.page.live, is_last, seen)
            thrown = self.page.live.errors()[len(seen.errors) :]
        except PageGone:
            return judged
        return judged.model_copy(update={"held": held, "thrown": thrown})
