"""One attempt of an evaluation: a strategy works on a task, then every answer it gave meets the scoring tests."""

from collections.abc import Iterator

from burnish.agent.limits import Limits
from burnish.checks import grade_script
from burnish.errors import AttemptError
from burnish.evals.schema import Plan
from burnish.evals.strategies.kinds import find_strategy
from burnish.evals.strategies.strategy import Strategy, show_task
from burnish.evals.task_models import name_engine
from burnish.events import Answered, Broke, CodeProposed, Event, Graded, Scored
from burnish.runs.attempt import Resources, begin_run, equip
from burnish.runs.request import EvalSettings, Request
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks.assemble import assemble
from burnish.tasks.sentence import find_kinds
from burnish.tasks.task import Task
from burnish.text import one_line

TOKENS_PER_CALL = 1_000_000
SECONDS_PER_CALL = 1200.0
"""Far above what a call costs: an attempt is bounded by its calls, and these only end one that hangs."""


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
    yield begin_run(request, resources, f"{task.id}.{seed}", sandbox.level)
    try:
        events: list[Event] = []
        puzzle = show_task(task, plan.protocol, strategy.timeout_seconds)
        for event in strategy.solve(puzzle, plan, seed, equip(request, resources, sandbox)):
            events.append(event)
            yield event
        # Only now, so that nothing can be learnt from the scoring tests.
        if not resources.cancel.is_set():
            yield from _score_answers(task, events, sandbox, strategy.timeout_seconds)
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
        model_errors_end=True,
        evaluation=EvalSettings(
            plan=plan.model_dump(mode="json"),
            seed=seed,
            engine=name_engine(resources.models[0]),
            left_out=getattr(strategy, "left_out", ()),
        ),
        burnish=plan.burnish,
    )


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
