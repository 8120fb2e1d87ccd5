"""Runs what an evaluation still lacks: one attempt after another, many at once, each on disk before it is counted.

In an attempt a strategy works on a task, then every answer it gave meets the scoring tests. More attempts are under way
than the model has slots, so that it goes on writing while others wait for the sandbox.
"""

import queue
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property

from burnish.agent.limits import Limits
from burnish.agent.questions import Answerer, OpenQuestion
from burnish.checks import grade_script
from burnish.checks.bench.run_calls import run_calls
from burnish.errors import AttemptError, BurnishError, SetupProblem
from burnish.evals.budget import BudgetSpent, EvalBudget, bill, open_budget, read_spent
from burnish.evals.eval_store import Folder
from burnish.evals.replay import NotRecorded, RecordedModel
from burnish.evals.schema import EvalLimits, Plan
from burnish.evals.strategies.kinds import find_strategy
from burnish.evals.strategies.strategy import Strategy, show_task
from burnish.evals.workers import AttemptEnd, Desk, OnEvent, computes_here, count_workers, work, write_order
from burnish.events import Answered, Broke, CodeProposed, Event, Graded, QuestionAnswered, Scored
from burnish.models.model import Model, Progress
from burnish.models.names import open_model
from burnish.models.scripted import KNOWS_TASKS, ScriptedModel
from burnish.runs.attempt import Resources, begin_run, equip
from burnish.runs.request import EvalSettings, Request
from burnish.sandbox import JobLimits as SandboxLimits
from burnish.sandbox import Sandbox, open_sandbox
from burnish.search.behaviour_groups import AnswerKind, answer_kind
from burnish.tasks.assemble import assemble
from burnish.tasks.sentence import find_kinds
from burnish.tasks.task import Task
from burnish.text import fence_code, one_line

GOLD, BUGGY = (f"scripted:{name}" for name in KNOWS_TASKS)
"""They give every task its reference solution, or its bug: their score says whether suite and grader are sound."""
USUAL_ENGINES = {"local": "llama.cpp", "huggingface": "Transformers", "scripted": "script"}
TOKENS_PER_CALL = 1_000_000
SECONDS_PER_CALL = 1200.0
"""Far above what a call costs: an attempt is bounded by its calls, and these only end one that hangs."""
NICENESS_BESIDE_LLAMA = 5
"""How far grading stands back from llama.cpp, whose threads spin: see `sandbox.JobLimits.niceness`."""
FEWEST_TO_JUDGE, MOST_BROKEN = 10, 0.2
"""Once so many attempts are finished, a larger share of broken ones ends the run."""
POLL_SECONDS = 0.2


class TooManyErrors(BurnishError):
    """So many attempts broke that going on would measure nothing."""


class EvalProgress:
    """Who looks on while an evaluation runs, and may stop it. Every method may be left as it is.

    `on_event` comes from many threads at once; the other methods come from one.
    """

    is_stopped = False

    @cached_property
    def cancel(self) -> threading.Event:
        """Set once no attempt is to go on: by `stop`, a spent limit, or what ends the evaluation."""
        return threading.Event()

    def stop(self) -> None:
        """End the evaluation, from any thread; finished attempts are kept."""
        self.is_stopped = True
        self.cancel.set()

    def raise_if_stopped(self) -> None:
        """Raise CancelledError, at a moment at which nothing is left half done."""
        if self.is_stopped:
            raise CancelledError("The evaluation was stopped.")

    def on_fetch(self, done: int, total: int, source: str) -> None:
        """Weights are on their way: bytes so far, bytes in all, where from."""

    def on_prepare(self, done: int, total: int, what: str) -> None:
        """Tasks are fetched, made, or tried with their own reference solution before any is used."""

    def on_begin(self, folder: Folder) -> None:
        """The plan is on disk; attempts begin, or go on."""

    def on_event(self, event: Event) -> None:
        """Something happened in one of the attempts under way."""

    def on_finish(self, task_id: str, seed: int, events: Sequence[Event]) -> None:
        """An attempt is finished, and on disk."""


def run_missing(
    folder: Folder,
    tasks: Sequence[Task],
    resources: Resources,
    watch: EvalProgress | None = None,
    strategy: Strategy | None = None,
) -> None:
    """Make every attempt that is not on disk yet, in the order of tasks.

    An attempt that breaks is recorded and the rest goes on, unless too many do (TooManyErrors). Setting
    `resources.cancel`, or Ctrl-C in this thread, ends it at once; attempts under way are then forgotten and finished
    ones kept. Without a sandbox in `resources`, one of the plan's kind is opened.

    A limit that is reached ends it as well, and `eval.json` says which: no attempt begins any more, those under way
    come to their end where what is left pays for it, and out of time they are forgotten at once.
    """
    watch = watch or EvalProgress()
    done = folder.finished_attempts()
    missing = [(task, seed) for task in tasks for seed in folder.plan.seeds if (task.id, seed) not in done]
    watch.on_begin(folder)
    if not missing:
        return
    budget, limited, stopped_by = open_budget(folder), folder.contents.limits != EvalLimits(), ""
    box = resources.sandbox
    reasons = Counter[str]()
    with nullcontext(box) if box else open_eval_sandbox(resources.models[0], folder.plan.sandbox) as sandbox:
        shared = replace(resources, sandbox=sandbox)
        try:
            for finished, end in enumerate(_make_attempts(missing, folder.plan, shared, budget, watch, strategy), 1):
                if end.stopped:
                    stopped_by = stopped_by or end.stopped.reason
                    continue
                broke = [event for event in end.events if isinstance(event, Broke)]
                # Written by this thread alone, so nothing is written any more once it has left.
                if broke or not end.bug:
                    folder.write(end.task_id, end.seed, end.events)
                if end.bug:
                    raise end.bug
                reasons.update(
                    f"{event.error}: {one_line(event.message, 300)}"
                    for event in broke
                    if event.error != NotRecorded.__name__
                )
                watch.on_finish(end.task_id, end.seed, end.events)
                if finished >= FEWEST_TO_JUDGE and reasons.total() > MOST_BROKEN * finished:
                    raise _too_many_errors(reasons, finished, folder)
        except BaseException:
            resources.cancel.set()
            raise
        finally:
            if limited:
                folder.update(spent=read_spent(budget), stopped_by=stopped_by)


def _make_attempts(
    missing: Sequence[tuple[Task, int]],
    plan: Plan,
    resources: Resources,
    budget: EvalBudget,
    watch: EvalProgress,
    strategy: Strategy | None,
) -> Iterator[AttemptEnd]:
    """Each attempt as it ends, from threads or processes that take the next until there is none; stops early when
    cancelled or when the budget is spent.
    """
    model, cancel = resources.models[0], resources.cancel
    at_once = min(len(missing), plan.at_once or model.slots + max(2, model.slots // 4))
    desk = Desk(missing, lambda task, seed: bill(model_for_task(task, model, seed), budget), watch.on_event)

    def make_all() -> None:
        """One thread: attempt after attempt."""
        while not cancel.is_set() and (pair := desk.take_next()):
            own = replace(resources, models=[desk.models[pair[0].id, pair[1]]])
            end = make_attempt(*pair, plan, own, watch.on_event, strategy)
            if not cancel.is_set():  # else it may be half an attempt
                desk.end(end)

    assert resources.sandbox, "attempts of an evaluation share one"
    workers = count_workers(model, at_once, len(missing)) if strategy is None else 0
    kind = resources.sandbox.kind
    with desk.employ(write_order(plan, model, kind, at_once, workers), workers) if workers else nullcontext():
        # The threads are daemons: one that waits for an answer must not keep the process alive.
        for _ in range(0 if workers else at_once):
            threading.Thread(target=make_all, name="burnish-attempt", daemon=True).start()
        left = len(missing)
        while left and not cancel.is_set():
            with suppress(queue.Empty):
                end = desk.ends.get(timeout=POLL_SECONDS)
                left -= 1
                left -= desk.drop_waiting() if end.stopped else 0
                yield end
            if left and (over := budget.over):
                cancel.set()
                yield AttemptEnd("", 0, (), stopped=over)


def make_attempt(
    task: Task, seed: int, plan: Plan, resources: Resources, watch: OnEvent, strategy: Strategy | None = None
) -> AttemptEnd:
    """One attempt, and how it ended."""
    events: list[Event] = []
    try:
        for event in stream_attempt(task, plan, seed, resources, strategy):
            events += [event] if event.lasting else []
            watch(event)
    except BudgetSpent as error:
        return AttemptEnd(task.id, seed, events, stopped=error.stopped)
    except Exception as error:
        return AttemptEnd(task.id, seed, events, error)
    return AttemptEnd(task.id, seed, events)


def work_for(address: str) -> None:
    """The life of a worker process."""
    work(address, make_attempt)


def _too_many_errors(reasons: Counter[str], finished: int, folder: Folder) -> TooManyErrors:
    [(reason, count)] = reasons.most_common(1)
    often = "each time" if count == reasons.total() else f"{count} times"
    return TooManyErrors(
        f"{reasons.total()} of {finished} attempts broke, so the evaluation was stopped. The commonest reason "
        f"({often}): {reason}. Finished attempts are kept, broken ones too; to have one made again delete its "
        f"file in {folder.path / 'attempts'}. When the cause is gone, go on with: "
        f"burnish eval resume {folder.name}"
    )


def open_eval_sandbox(model: Model, kind: str) -> AbstractContextManager[Sandbox]:
    """A sandbox that leaves the model its processors: beside llama.cpp one cell, which stands back."""
    if computes_here(model):
        return open_sandbox(kind, cells=1, limits=SandboxLimits(niceness=NICENESS_BESIDE_LLAMA))
    return open_sandbox(kind)


def open_task_model(name: str, progress: Progress | None = None) -> Model:
    """The model behind a name, also behind the two that only an evaluation knows."""
    return ScriptedModel([], name) if name in (GOLD, BUGGY) else open_model(name, progress)


def name_engine(model: Model) -> str:
    """What computes the answers: the model's own word for it, or the usual one for its provider.

    Tables name it, because the same weights answer differently on another engine.
    """
    provider = model.name.partition(":")[0]
    return str(getattr(model, "engine", "") or USUAL_ENGINES.get(provider, provider))


def model_for_task(task: Task, model: Model, seed: int = 0) -> Model:
    """Who answers in one attempt at this task. A script begins anew, so that no attempt depends on another; of a
    recorded evaluation it is what this very attempt has on record.
    """
    if isinstance(model, RecordedModel):
        return model.for_attempt(task.id, seed)
    if not isinstance(model, ScriptedModel):
        return model
    if model.name not in (GOLD, BUGGY):
        return model.afresh()
    signature = task.signature if "(" in task.signature else f"{task.entry_point}(*args, **kwargs)"
    wrong = task.base_code or f"{task.prelude.rstrip()}\n\n\ndef {signature}:\n    pass\n".lstrip()
    code = task.gold if model.name == GOLD else wrong
    replies = {"": [fence_code(code, "python")] if code else []}  # a row without gold has no answer, and says so
    if task.visible_tests:
        replies["tests"] = [fence_code("\n".join(task.visible_tests), "python")]
    return ScriptedModel(replies, model.name, whole=True)


def stream_attempt(
    task: Task, plan: Plan, seed: int, resources: Resources, strategy: Strategy | None = None
) -> Iterator[Event]:
    """One attempt as it happens, for those who watch. An AttemptError is its last event; our own bug is said as
    `Broke` as well, and then raised.

    Many attempts share the open sandbox, the model and the edits of `resources`; nothing is put on disk here.
    """
    strategy, sandbox = strategy or find_strategy(plan.strategy), resources.sandbox
    assert sandbox, "attempts of an evaluation share one"
    request = build_request(task, plan, seed, resources, strategy)
    if plan.answers:
        resources = replace(resources, settle=reference_user(task, sandbox))
    yield begin_run(request, resources, f"{task.id}.{seed}", sandbox.level)
    try:
        events: list[Event] = []
        timeout = plan.timeout_seconds or strategy.timeout_seconds
        puzzle = show_task(task, plan.protocol, timeout)
        for event in strategy.solve(puzzle, plan, seed, equip(request, resources, sandbox)):
            events.append(event)
            yield event
        # Only now, so that nothing can be learnt from the scoring tests.
        if not resources.cancel.is_set():
            yield from _score_answers(task, events, sandbox, timeout)
    except BudgetSpent:
        raise
    except Exception as error:
        yield Broke(error=type(error).__name__, message=str(error))
        if not isinstance(error, AttemptError):
            raise


def build_request(task: Task, plan: Plan, seed: int, resources: Resources, strategy: Strategy) -> Request:
    """What is asked of one attempt. Its record names what the agent that is measured leaves out."""
    calls = strategy.calls(plan)
    return Request(
        task=task,
        verb="eval",
        limits=Limits(
            rounds=plan.rounds,
            calls=calls,
            tokens=TOKENS_PER_CALL * max(1, calls),
            seconds=SECONDS_PER_CALL * max(1, calls),
            max_tokens=plan.max_tokens,
            thinking=plan.thinking,
        ),
        sandbox=plan.sandbox,
        questions=plan.answers,
        model_errors_end=True,
        evaluation=EvalSettings(
            plan=plan.model_dump(mode="json"),
            seed=seed,
            engine=name_engine(resources.models[0]),
            left_out=plan.left_out,
        ),
        burnish=plan.burnish,
    )


def reference_user(task: Task, sandbox: Sandbox) -> Answerer:
    """A user who knows what the reference gives for a call, and nothing else: that is all an attempt hears of it.

    What it does not give as a plain value they do not care about, nor does anybody where there is no reference.
    """

    def settle(question: OpenQuestion) -> QuestionAnswered:
        module = assemble(task, task.gold)
        said = run_calls({0: module}, [question.asked.call], sandbox)[0][0] if task.gold else ""
        value, _, changed = said.partition("\n")
        # What a call that returns nothing did to its arguments is no value to be compared.
        plain = answer_kind(said) is AnswerKind.VALUE and not (changed and value == "None")
        try:
            return question.read(value if plain else "", by="simulated")
        except SetupProblem:  # no plain value, or one that a visible test contradicts
            return question.read("", by="simulated")

    return settle


def _score_answers(task: Task, events: list[Event], sandbox: Sandbox, timeout: float) -> Iterator[Event]:
    """Every version that was ever the answer, in order; the same code is run once."""
    answers = {event.version for event in events if isinstance(event, Answered)}
    known: dict[str, Graded] = {}
    kinds = find_kinds(task)
    for version in (event for event in events if isinstance(event, CodeProposed) and event.version in answers):
        if version.problem:
            yield Scored(version=version.version, passed=False, why=one_line(version.problem, 200))
            continue
        module = assemble(task, version.code)
        if module not in known:
            known[module] = grade_script(module, task.hidden_tests, sandbox, timeout, kinds)
        graded = known[module]
        failed = [case.message or case.name for case in graded.cases if case.outcome != "passed"]
        why = one_line(failed[0] if failed else graded.problem or "there was no test", 200)
        yield Scored(
            version=version.version,
            passed=graded.all_passed,
            timed_out=graded.timed_out,
            why="" if graded.all_passed else why,
            seconds=graded.seconds,
        )
