"""From events to figures: what one attempt came to, and what `results.json` says of all of them.

Nothing here judges: `Scored` events hold the verdicts. The same folder gives the same bytes: nothing here asks what
time it is.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from burnish.errors import SetupProblem
from burnish.evals.eval_store import Folder
from burnish.evals.replay import NotRecorded
from burnish.evals.schema import Attempt, ByBug, Cost, LeftOut, Plan, PlanSettings, Results
from burnish.evals.verdicts import measure_verdicts
from burnish.events import (
    Answered,
    AnswerLost,
    Asked,
    BaseEvent,
    Broke,
    CodeProposed,
    Event,
    ModelReplied,
    QuestionAnswered,
    Scored,
)
from burnish.intervals import wilson
from burnish.text import plural

RESULTS_FILE = "results.json"
FREE = ("local", "huggingface", "scripted")
"""Providers whose answers cost electricity and no invoice."""
SOLVED, KEPT, UNSOLVED, UNREACHED, BROKE = "solved", "kept", "unsolved", "unreached", "broke"
STATE_LABELS = {
    SOLVED: "solved",
    KEPT: "solved earlier, and stopped",
    UNSOLVED: "not solved",
    UNREACHED: "stopped unsolved",
    BROKE: "broke",
}
"""What a round of an attempt came to, as a grid shows it."""

E = TypeVar("E", bound=BaseEvent)
Value = TypeVar("Value", bound=float)


def count_attempt(task_id: str, seed: int, events: Sequence[Event], bug: str = "", most_answers: int = 0) -> Attempt:
    """The attempt these events tell of, in which up to so many questions were to be answered."""

    def pick(kind: type[E]) -> list[E]:
        return [event for event in events if isinstance(event, kind)]

    answers, codes, replies, broke = pick(Answered), pick(CodeProposed), pick(ModelReplied), pick(Broke)
    scores = {event.version: event for event in pick(Scored)}
    calls = max(len(pick(Asked)), max((answer.call for answer in answers), default=0))
    passed = {version for version, score in scores.items() if score.passed and not broke}
    by_call = _fill(((max(0, answer.call - 1), answer.version in passed) for answer in answers), max(1, calls))
    # A question comes only where the work would end without it: what stood then is what a user would have got.
    latest = {answer.answers: answer for answer in answers}
    counts = range(most_answers + 1) if most_answers else ()
    by_answers = [latest.get(max((known for known in latest if known <= count), default=0)) for count in counts]
    rounds = 1 + max((answer.round for answer in answers), default=0)
    # A call that got no answer costs nothing we know of.
    costs = [reply.tokens_in + reply.tokens_out for reply in replies]
    written = [code.code.strip() for code in codes if code.code.strip()]
    final = scores.get(answers[-1].version or 0) if answers else None
    told = answers[-1] if answers and not broke else None  # nobody is told anything of an attempt that broke
    sure = told.confidence if told else None
    started = events[0].at if events else 0.0
    dollars = [*(one.dollars for one in replies), *(one.dollars for one in pick(AnswerLost))]
    return Attempt(
        task_id=task_id,
        seed=seed,
        bug=bug,
        solved=by_call[-1],
        solved_by_call=by_call,
        solved_by_round=_fill(((answer.round, answer.version in passed) for answer in answers), rounds),
        solved_by_answers=tuple(bool(one and one.version in passed) for one in by_answers),
        confidence_by_answers=tuple(one.confidence if one and not broke else None for one in by_answers),
        verdict_by_answers=tuple(one.verdict if one and not broke else None for one in by_answers),
        asked=len(pick(QuestionAnswered)),
        tokens_by_call=tuple(sum(costs[: place + 1]) for place in range(max(1, calls))),
        calls=calls,
        tokens_in=sum(reply.tokens_in for reply in replies),
        tokens_out=sum(reply.tokens_out for reply in replies),
        model_seconds=sum(reply.seconds for reply in replies),
        seconds=events[-1].at - started if events else 0.0,
        started=started,
        versions=len(codes),
        unparsed=sum(bool(code.problem) for code in codes),
        repeats=len(written) - len(set(written)),
        timed_out=bool(final and final.timed_out),
        error=f"{broke[-1].error}: {broke[-1].message}" if broke else "",
        not_recorded=bool(broke) and broke[-1].error == NotRecorded.__name__,
        dollars=None if None in dollars else sum(one or 0.0 for one in dollars),
        confidence=sure if sure is not None and 0 <= sure <= 1 else None,
        verdict=told.verdict if told else None,
    )


def _fill(answers: Iterable[tuple[int, bool]], length: int) -> tuple[bool, ...]:
    """The state at each place: unsolved until the first answer, then whatever the newest answer is."""
    changes = dict(answers)
    state, states = False, []
    for place in range(length):
        state = changes.get(place, state)
        states.append(state)
    return tuple(states)


def pad(values: Sequence[Value], length: int) -> tuple[Value, ...]:
    """The values, the last one repeated: an attempt that ended early keeps its answer."""
    return (*values, *(values[-1] for _ in range(length - len(values))))


def round_states(attempt: Attempt, rounds: int) -> list[str]:
    """A state for each round; the rounds after an early end were not reached."""
    if attempt.error:
        return [BROKE] * rounds
    states = [SOLVED if solved else UNSOLVED for solved in attempt.solved_by_round]
    return (states + [KEPT if attempt.solved else UNREACHED] * rounds)[:rounds]


def attempt_group(attempt: Attempt) -> str:
    """The one word for an attempt: solved, unsolved, lost (right for a while, and given up) or broke."""
    if attempt.error:
        return BROKE
    if attempt.solved:
        return SOLVED
    return "lost" if any(attempt.solved_by_call) else UNSOLVED


def sort_key(attempt: Attempt) -> tuple[bool, int, int]:
    """Puts what was solved soonest first, and what broke last."""
    solved = attempt.solved_by_round
    since = len(solved) - next((back for back, state in enumerate(reversed(solved)) if not state), len(solved))
    return bool(attempt.error), since if attempt.solved else 1_000_000, -sum(solved)


def compute_results(folder: Folder) -> Results:
    """The numbers of an evaluation, finished or not."""
    bugs = folder.bugs
    most = folder.plan.answers
    attempts = [count_attempt(task, seed, events, bugs.get(task, ""), most) for task, seed, events in folder.attempts()]
    results = count_results(folder.plan, len(folder.task_ids), folder.broken, attempts)
    held = folder.contents
    # Not in `count_results`, which a screen calls twice a second: intervals of these figures take a moment.
    verdicts = measure_verdicts(group_by_task(attempts).values())
    counts = range(most + 1) if most else ()
    limited = [group_by_task(one.after_answers(count) for one in attempts).values() for count in counts]
    by_answers = tuple(map(measure_verdicts, limited))
    spent = {"limits": held.limits, "spent": held.spent, "stopped_by": held.stopped_by}
    return results.model_copy(update={**spent, "verdicts": verdicts, "verdicts_by_answers": by_answers})


def read_results(path: Path) -> Results:
    """The results in a file, or in the folder of an evaluation."""
    file = path / RESULTS_FILE if path.is_dir() else path
    try:
        return Results.model_validate_json(file.read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it does not hold an evaluation's results"
        raise SetupProblem(
            f"The results in {str(file)!r} cannot be read ({reason}). Write them anew with: burnish eval resume {path}"
        ) from error


def count_results(plan: Plan, tasks: int, broken: Iterable[LeftOut], attempts: Sequence[Attempt]) -> Results:
    """The results of these attempts under this plan."""
    by_task = group_by_task(attempts)
    n = len(by_task)
    # A mean over tasks of the mean over seeds.
    by_round = _mean_curve([_mean_curve([one.solved_by_round for one in tries]) for tries in by_task.values()])
    by_call = _mean_curve([_mean_curve([one.solved_by_call for one in tries]) for tries in by_task.values()])
    by_answers = _mean_curve([_mean_curve([one.solved_by_answers for one in tries]) for tries in by_task.values()])
    columns = zip(*(one.confidence_by_answers for one in attempts), strict=True)
    sure = [[said for said in column if said is not None] for column in columns]
    at_k: list[float | None] = []
    for k in range(1, len(plan.seeds) + 1):
        enough = [[one.solved for one in tries] for tries in by_task.values() if len(tries) >= k]
        at_k.append(fmean(pass_at_k(sum(tries), len(tries), k) for tries in enough) if enough else None)
    bugs = Counter(attempt.bug for attempt in attempts if attempt.bug)
    fixed = Counter(attempt.bug for attempt in attempts if attempt.solved)
    versions = sum(attempt.versions for attempt in attempts)
    solved = sum(attempt.solved for attempt in attempts)
    prices = [0.0 if plan.model.partition(":")[0] in FREE else attempt.dollars for attempt in attempts]
    unpriced = prices.count(None)
    dollars = None if unpriced else sum(price or 0.0 for price in prices)
    cost = Cost(
        tokens_in=sum(attempt.tokens_in for attempt in attempts),
        tokens_out=sum(attempt.tokens_out for attempt in attempts),
        seconds=_wall_seconds(attempts),
        dollars=dollars,
    )
    begun = min((attempt.started for attempt in attempts), default=0.0)
    return Results(
        **plan.model_dump(include=set(PlanSettings.model_fields) - {"version"}),
        measured_at=datetime.fromtimestamp(begun, UTC).isoformat(timespec="seconds") if attempts else "",
        tasks=tasks,
        planned=tasks * len(plan.seeds),
        finished=len(attempts),
        tasks_finished=n,
        broken=tuple(broken),
        solved=solved,
        pass_at_1=by_round,
        pass_at_1_interval=tuple(wilson(share * n, n) for share in by_round),
        pass_at_1_by_call=by_call,
        pass_at_1_by_call_interval=tuple(wilson(share * n, n) for share in by_call),
        pass_at_1_by_answers=by_answers,
        pass_at_1_by_answers_interval=tuple(wilson(share * n, n) for share in by_answers),
        confidence_by_answers=tuple(fmean(known) if known else None for known in sure),
        asked_per_task=fmean(attempt.asked for attempt in attempts) if attempts else 0.0,
        tokens_by_call=_mean_curve([attempt.tokens_by_call for attempt in attempts]),
        pass_at_k=tuple(at_k),
        cost=cost,
        cost_per_task=_divide(cost, len(attempts)),
        cost_per_solved=_divide(cost, solved),
        model_seconds=sum(attempt.model_seconds for attempt in attempts),
        tokens_per_second=cost.tokens_out / cost.seconds if cost.seconds else 0.0,
        calls_per_task=fmean(attempt.calls for attempt in attempts) if attempts else 0.0,
        parse_failure_rate=sum(attempt.unparsed for attempt in attempts) / max(1, versions),
        repeat_rate=sum(attempt.repeats for attempt in attempts) / max(1, versions),
        timeouts=sum(attempt.timed_out for attempt in attempts),
        errors=sum(bool(attempt.error) and not attempt.not_recorded for attempt in attempts),
        not_recorded=sum(attempt.not_recorded for attempt in attempts),
        dollars_unknown=f"the price of {plan.model} was not known in {plural(unpriced, 'attempt')}" if unpriced else "",
        by_bug=tuple(ByBug(bug=bug, n=count, solved=fixed[bug]) for bug, count in sorted(bugs.items())),
        attempts=tuple(attempts),
    )


def group_by_task(attempts: Iterable[Attempt]) -> dict[str, list[Attempt]]:
    """The attempts of each task, in the order in which tasks first appear."""
    by_task: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        by_task.setdefault(attempt.task_id, []).append(attempt)
    return by_task


def pass_at_k(passes: int, attempts: int, k: int) -> float:
    """The chance that at least one of k fresh attempts passes (unbiased estimator, Chen et al. 2021)."""
    if not 1 <= k <= attempts:
        raise ValueError(f"pass@{k} needs at least {k} attempts, and there are {attempts}")
    return 1 - math.comb(attempts - passes, k) / math.comb(attempts, k)


def _mean_curve(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The mean at each place to the end of the longest row; a row that ended early keeps its last value."""
    longest = max(map(len, rows), default=0)
    return tuple(fmean(column) for column in zip(*(pad(row, longest) for row in rows), strict=True))


def _wall_seconds(attempts: Iterable[Attempt]) -> float:
    """The time in which any attempt was under way; a pause between an interruption and its resumption is not."""
    total, reached = 0.0, float("-inf")
    for begin, end in sorted((attempt.started, attempt.started + attempt.seconds) for attempt in attempts):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def _divide(cost: Cost, among: int) -> Cost | None:
    if not among:
        return None
    return Cost(**{name: None if amount is None else amount / among for name, amount in cost})
