"""One attempt of an evaluation: a strategy works on a task, then every answer it gave meets the scoring tests."""

import threading
from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.checks import grade_script
from burnish.errors import AttemptError
from burnish.evals.engine import engine_of
from burnish.evals.plan import Plan
from burnish.evals.puzzle import seen
from burnish.evals.strategies.strategy import Strategy
from burnish.events import Answered, Broke, CodeProposed, Event, Graded, RunStarted, Scored
from burnish.models.model import Model
from burnish.sandbox.sandbox import Sandbox
from burnish.search.edits import EditCache
from burnish.tasks.assemble import assemble
from burnish.tasks.sentence import find_kinds
from burnish.tasks.task import Task
from burnish.text import one_line

TOKENS_PER_CALL = 1_000_000
SECONDS_PER_CALL = 1200.0
"""Far above what a call costs: an attempt is bounded by its calls, and these only end one that hangs."""


def trial(task: Task, plan: Plan, seed: int, model: Model, sandbox: Sandbox, cancel: threading.Event) -> list[Event]:
    """All that lasts of one attempt. An AttemptError is its last event; our own bug is raised."""
    return [event for event in happenings(task, plan, seed, model, sandbox, cancel) if event.lasting]


def happenings(
    task: Task,
    plan: Plan,
    seed: int,
    model: Model,
    sandbox: Sandbox,
    cancel: threading.Event,
    strategy: Strategy | None = None,
    edits: EditCache | None = None,
) -> Iterator[Event]:
    """One attempt as it happens, for those who watch. Our own bug is said as `Broke`, and then raised.

    `edits` is what attempts at the same task share.
    """
    yield _started(task, plan, seed, model, sandbox)
    strategy = strategy or _named(plan)
    meter = Meter(_limits(plan, strategy))
    tools = Tools(model, sandbox, meter, cancel, edits=edits or EditCache(), errors_end=True)
    try:
        yield from _work(task, plan, seed, strategy, tools)
    except Exception as error:
        yield Broke(error=type(error).__name__, message=str(error))
        if not isinstance(error, AttemptError):
            raise


def _work(task: Task, plan: Plan, seed: int, strategy: Strategy, tools: Tools) -> Iterator[Event]:
    """The strategy first, to its end; only then the scoring tests, so that nothing can be learnt from them."""
    timeout = strategy.timeout_seconds
    said: list[Event] = []
    for event in strategy.solve(seen(task, plan.protocol, timeout), plan, seed, tools):
        said.append(event)
        yield event
    if not tools.cancel.is_set():
        yield from _scores(task, said, tools.sandbox, timeout)


def _scores(task: Task, events: list[Event], sandbox: Sandbox, timeout: float) -> Iterator[Event]:
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
        yield _scored(version.version, known[module])


def _scored(version: int, graded: Graded) -> Scored:
    return Scored(
        version=version,
        passed=graded.all_passed,
        timed_out=graded.timed_out,
        why="" if graded.all_passed else _first_failure(graded),
        seconds=graded.seconds,
    )


def _first_failure(graded: Graded) -> str:
    failed = [case.message or case.name for case in graded.cases if case.outcome != "passed"]
    return one_line(failed[0] if failed else graded.problem or "there was no test", 200)


def _limits(plan: Plan, strategy: Strategy) -> Limits:
    calls = strategy.calls(plan)
    return Limits(
        rounds=plan.rounds,
        calls=calls,
        tokens=TOKENS_PER_CALL * max(1, calls),
        seconds=SECONDS_PER_CALL * max(1, calls),
        max_tokens=plan.max_tokens,
        thinking=plan.thinking,
    )


def _named(plan: Plan) -> Strategy:
    from burnish.evals.strategies.kinds import strategy

    return strategy(plan.strategy)


def _started(task: Task, plan: Plan, seed: int, model: Model, sandbox: Sandbox) -> RunStarted:
    public = task.model_dump(mode="json", exclude={"hidden_tests", "gold"})
    return RunStarted(
        run_id=f"{task.id}.{seed}",
        verb="eval",
        prompt=task.prompt,
        model=model.name,
        burnish=plan.burnish,
        sandbox=sandbox.level,
        settings={"plan": plan.model_dump(mode="json"), "task": public, "seed": seed, "engine": engine_of(model)},
    )
