"""What one attempt came to, counted from its events. Nothing here judges: `Scored` events hold the verdicts."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from burnish.events import (
    Answered,
    Asked,
    BaseEvent,
    Broke,
    CodeProposed,
    Event,
    Frozen,
    ModelReplied,
    Scored,
)

E = TypeVar("E", bound=BaseEvent)


class Attempt(Frozen):
    """One task tried once. An attempt that broke is solved nowhere: silence is never a pass."""

    task_id: str
    seed: int
    bug: str = ""
    solved: bool = False
    solved_by_call: tuple[bool, ...] = (False,)
    """At place c - 1: would it be solved if it had to stop after c calls? What took no call counts from the first."""
    solved_by_round: tuple[bool, ...] = (False,)
    """At place r: would it be solved if it had to stop after round r? The first draft is round 0."""
    tokens_by_call: tuple[int, ...] = (0,)
    """Tokens read and written until then."""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    model_seconds: float = 0.0
    """Time spent waiting for answers."""
    seconds: float = 0.0
    """From the first event to the last."""
    started: float = 0.0
    """When it began, in seconds since 1970: where attempts overlap, time is counted once."""
    versions: int = 0
    unparsed: int = 0
    """Versions that could not even be run."""
    repeats: int = 0
    """Versions equal to an earlier one."""
    timed_out: bool = False
    """The final answer ran out of time under the scoring tests."""
    error: str = ""


def tally(task_id: str, seed: int, events: Sequence[Event], bug: str = "") -> Attempt:
    """The attempt these events tell of."""
    answers, codes, replies = _all(events, Answered), _all(events, CodeProposed), _all(events, ModelReplied)
    scores, error = {event.version: event for event in _all(events, Scored)}, _error(events)
    calls = max(len(_all(events, Asked)), max((answer.call for answer in answers), default=0))
    passed = {version for version, score in scores.items() if score.passed and not error}
    by_call = _filled(((max(0, answer.call - 1), answer.version in passed) for answer in answers), max(1, calls))
    rounds = 1 + max((answer.round for answer in answers), default=0)
    final = scores.get(answers[-1].version or 0) if answers else None
    started = events[0].at if events else 0.0
    return Attempt(
        task_id=task_id,
        seed=seed,
        bug=bug,
        solved=by_call[-1],
        solved_by_call=by_call,
        solved_by_round=_filled(((answer.round, answer.version in passed) for answer in answers), rounds),
        tokens_by_call=_spent(replies, max(1, calls)),
        calls=calls,
        tokens_in=sum(reply.tokens_in for reply in replies),
        tokens_out=sum(reply.tokens_out for reply in replies),
        model_seconds=sum(reply.seconds for reply in replies),
        seconds=events[-1].at - started if events else 0.0,
        started=started,
        versions=len(codes),
        unparsed=sum(bool(code.problem) for code in codes),
        repeats=_repeats([code.code.strip() for code in codes]),
        timed_out=bool(final and final.timed_out),
        error=error,
    )


def padded(values: Sequence[bool], length: int) -> tuple[bool, ...]:
    """The values, the last one repeated: an attempt that ended early keeps its answer."""
    return (*values, *(values[-1] for _ in range(length - len(values))))


def _filled(answers: Iterable[tuple[int, bool]], length: int) -> tuple[bool, ...]:
    """The state at each place: unsolved until the first answer, then whatever the newest answer is."""
    said = dict(answers)
    state, states = False, []
    for place in range(length):
        state = said.get(place, state)
        states.append(state)
    return tuple(states)


def _spent(replies: Sequence[ModelReplied], length: int) -> tuple[int, ...]:
    """Tokens until the end of each call; a call that got no answer costs nothing we know of."""
    costs = [reply.tokens_in + reply.tokens_out for reply in replies]
    return tuple(sum(costs[: place + 1]) for place in range(length))


def _repeats(codes: Sequence[str]) -> int:
    written = [code for code in codes if code]
    return len(written) - len(set(written))


def _error(events: Sequence[Event]) -> str:
    broke = _all(events, Broke)
    return f"{broke[-1].error}: {broke[-1].message}" if broke else ""


def _all(events: Sequence[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]
