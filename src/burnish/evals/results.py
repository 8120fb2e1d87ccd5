"""An evaluation in numbers: everything `results.json` holds, derived from the plan and the attempts on disk.

The same folder gives the same bytes: nothing here asks what time it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Protocol

from burnish.errors import SetupProblem
from burnish.evals.figures import ByBug, Cost, Interval, LeftOut, Results
from burnish.evals.plan import Plan
from burnish.evals.scores import pass_at_k
from burnish.evals.tally import Attempt, padded, tally
from burnish.events import Event
from burnish.intervals import wilson

__all__ = ["Evaluated", "Results", "counted_up", "grouped", "read_results", "results"]

FILE = "results.json"
FREE = ("local", "huggingface", "scripted")
"""Providers whose answers cost electricity and no invoice."""


class BrokenRow(Protocol):
    """A row of the suite that was left out, and why."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def why(self) -> str: ...  # noqa: D102


class Evaluated(Protocol):
    """What the numbers are derived from: a plan, its tasks, and the attempts that are finished."""

    @property
    def plan(self) -> Plan: ...  # noqa: D102
    @property
    def task_ids(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def bugs(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def broken(self) -> Sequence[BrokenRow]: ...  # noqa: D102
    def attempts(self) -> Iterator[tuple[str, int, list[Event]]]: ...  # noqa: D102


def results(folder: Evaluated) -> Results:
    """The numbers of an evaluation, finished or not."""
    bugs = folder.bugs
    attempts = tuple(tally(task, seed, events, bugs.get(task, "")) for task, seed, events in folder.attempts())
    return counted_up(folder.plan, len(folder.task_ids), folder.broken, attempts)


def read_results(path: Path) -> Results:
    """The results in a file, or in the folder of an evaluation."""
    file = path / FILE if path.is_dir() else path
    try:
        return Results.model_validate_json(file.read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it does not hold an evaluation's results"
        raise SetupProblem(
            f"The results in {str(file)!r} cannot be read ({reason}). Write them anew with: burnish eval resume {path}"
        ) from error


def counted_up(plan: Plan, tasks: int, broken: Iterable[BrokenRow], attempts: Sequence[Attempt]) -> Results:
    """The results of these attempts under this plan."""
    by_task = grouped(attempts)
    by_round = _curve({task: [one.solved_by_round for one in tries] for task, tries in by_task.items()})
    by_call = _curve({task: [one.solved_by_call for one in tries] for task, tries in by_task.items()})
    versions = sum(attempt.versions for attempt in attempts)
    solved = sum(attempt.solved for attempt in attempts)
    cost = _cost(plan, attempts)
    return Results(
        burnish=plan.burnish,
        suite=plan.suite,
        variant=plan.variant,
        split=plan.split,
        tasks_hash=plan.tasks_hash,
        limit=plan.limit,
        protocol=plan.protocol,
        strategy=plan.strategy,
        ask=plan.ask,
        model=plan.model,
        engine=plan.engine,
        rounds=plan.rounds,
        temperature=plan.temperature,
        without=plan.without,
        seeds=plan.seeds,
        tasks=tasks,
        planned=tasks * len(plan.seeds),
        finished=len(attempts),
        tasks_finished=len(by_task),
        broken=tuple(LeftOut(id=row.id, why=row.why) for row in broken),
        solved=solved,
        pass_at_1=by_round,
        pass_at_1_interval=_intervals(by_round, len(by_task)),
        pass_at_1_by_call=by_call,
        pass_at_1_by_call_interval=_intervals(by_call, len(by_task)),
        tokens_by_call=_tokens_by_call(attempts),
        pass_at_k=tuple(_pass_at(k, by_task) for k in range(1, len(plan.seeds) + 1)),
        cost=cost,
        cost_per_task=_shared(cost, len(attempts)),
        cost_per_solved=_shared(cost, solved),
        model_seconds=sum(attempt.model_seconds for attempt in attempts),
        tokens_per_second=cost.tokens_out / cost.seconds if cost.seconds else 0.0,
        calls_per_task=fmean(attempt.calls for attempt in attempts) if attempts else 0.0,
        parse_failure_rate=sum(attempt.unparsed for attempt in attempts) / max(1, versions),
        repeat_rate=sum(attempt.repeats for attempt in attempts) / max(1, versions),
        timeouts=sum(attempt.timed_out for attempt in attempts),
        errors=sum(bool(attempt.error) for attempt in attempts),
        by_bug=tuple(_by_bug(attempts)),
        attempts=tuple(attempts),
    )


def grouped(attempts: Iterable[Attempt]) -> dict[str, list[Attempt]]:
    """The attempts of each task, in the order in which tasks first appear."""
    found: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        found.setdefault(attempt.task_id, []).append(attempt)
    return found


def _curve(by_task: Mapping[str, Sequence[Sequence[bool]]]) -> tuple[float, ...]:
    """The share solved at each place: a mean over tasks of the mean over seeds, to the end of the longest attempt."""
    longest = max((len(states) for tries in by_task.values() for states in tries), default=0)
    means = [
        [fmean(column) for column in zip(*(padded(states, longest) for states in tries), strict=True)]
        for tries in by_task.values()
    ]
    return tuple(fmean(column) for column in zip(*means, strict=True))


def _intervals(shares: Iterable[float], n: int) -> tuple[Interval, ...]:
    return tuple(wilson(share * n, n) for share in shares)


def _pass_at(k: int, by_task: Mapping[str, Sequence[Attempt]]) -> float | None:
    tries = [attempts for attempts in by_task.values() if len(attempts) >= k]
    return fmean(pass_at_k(sum(one.solved for one in some), len(some), k) for some in tries) if tries else None


def _tokens_by_call(attempts: Sequence[Attempt]) -> tuple[float, ...]:
    longest = max((len(attempt.tokens_by_call) for attempt in attempts), default=0)
    rows = [(one.tokens_by_call + one.tokens_by_call[-1:] * longest)[:longest] for one in attempts]
    return tuple(fmean(column) for column in zip(*rows, strict=True))


def _cost(plan: Plan, attempts: Sequence[Attempt]) -> Cost:
    return Cost(
        tokens_in=sum(attempt.tokens_in for attempt in attempts),
        tokens_out=sum(attempt.tokens_out for attempt in attempts),
        seconds=_wall_seconds(attempts),
        dollars=0.0 if plan.model.partition(":")[0] in FREE else None,
    )


def _wall_seconds(attempts: Iterable[Attempt]) -> float:
    """The time in which any attempt was under way; a pause between an interruption and its resumption is not."""
    total, reached = 0.0, float("-inf")
    for begin, end in sorted((attempt.started, attempt.started + attempt.seconds) for attempt in attempts):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def _shared(cost: Cost, among: int) -> Cost | None:
    if not among:
        return None
    return Cost(
        tokens_in=cost.tokens_in / among,
        tokens_out=cost.tokens_out / among,
        seconds=cost.seconds / among,
        dollars=None if cost.dollars is None else cost.dollars / among,
    )


def _by_bug(attempts: Sequence[Attempt]) -> Iterator[ByBug]:
    for bug in sorted({attempt.bug for attempt in attempts if attempt.bug}):
        those = [attempt for attempt in attempts if attempt.bug == bug]
        yield ByBug(bug=bug, n=len(those), solved=sum(attempt.solved for attempt in those))
