"""The choice itself: who of those that are there answers, and why. A pure function: nothing is looked up here.

Free comes before paid, and what is known of a model before what is hoped of it. The surest goes first; one that is
larger or dearer helps when it is stuck, as in `small,large`.
"""

from collections.abc import Iterable, Mapping, Sequence

from burnish.agent.policy import Strength
from burnish.choosing.candidate import Candidate, Choice, Record
from burnish.choosing.words import about, told_of_others
from burnish.intervals import wilson
from burnish.models.catalog import CATALOG, DEFAULT_MODEL

PRIORS: dict[Strength, float] = {"small": 0.5, "middle": 0.7, "strong": 0.8}
"""Shares that models of a size solve, between what they do on MBPP and on HumanEvalFix (docs/results.md)."""
FOR_CODE = 0.05
"""What a model that was made for code is better by."""
WEIGHT = 8
"""Runs that the share we expect of a size counts for: fewer than these say little against it."""
MOST_TASKS = 20
"""Tasks of evaluations that count: suites differ, and the user's own runs are nearer to what is asked next."""
WORTH_A_TRY = 0.6
"""The share from which on a cheaper model is asked first: more than the smallest reach, unless they did well here."""
SIZES: tuple[Strength, ...] = ("small", "middle", "strong")


def choose(
    candidates: Sequence[Candidate], history: Mapping[str, Record], may_spend: bool = False, *, alone: bool = False
) -> Choice:
    """The best of those that are there, perhaps two of them unless it is to work `alone`; the default where none is.

    What costs money, or may, is passed over unless it `may_spend`. The same facts give the same choice.
    """
    usable = [one for one in candidates if one.is_free or may_spend]
    if not usable:
        return _default(candidates)
    ranked = sorted(usable, key=lambda one: _order(one, history))
    best = ranked[0]
    cheaper = [one for one in ranked if _is_cheaper(one, best) and expected(one, history) >= WORTH_A_TRY]
    pair = [cheaper[0], best] if cheaper else [best, *_helper(best, ranked, history)]
    pair = pair[:1] if alone else pair
    return Choice(names=",".join(one.name for one in pair), why=_why(pair, ranked, candidates, history))


def expected(candidate: Candidate, history: Mapping[str, Record]) -> float:
    """The share that it will solve, as far as one can tell: what is usual for its size, moved by what it did here."""
    solved, tries = _counted(candidate, history)
    return solved / tries


def sure(candidate: Candidate, history: Mapping[str, Record]) -> float:
    """The share that it will solve at least, most likely: the lower end of Wilson's interval."""
    return wilson(*_counted(candidate, history))[0]


def _counted(candidate: Candidate, history: Mapping[str, Record]) -> tuple[float, int]:
    """What was solved and tried, with the tries that the size stands for among them."""
    record = history.get(candidate.name, Record())
    tasks = min(record.tasks, MOST_TASKS)
    solved = record.proven + (record.solved / record.tasks * tasks if tasks else 0.0)
    prior = PRIORS[candidate.strength] + FOR_CODE * ("code" in candidate.name.lower())
    return solved + WEIGHT * prior, record.runs + tasks + WEIGHT


def _order(candidate: Candidate, history: Mapping[str, Record]) -> tuple[object, ...]:
    """The surest first; of equals the cheapest, the one on this disk, the first in the alphabet."""
    return (-round(sure(candidate, history), 6), _price(candidate), candidate.where != "disk", candidate.name)


def _helper(best: Candidate, ranked: Iterable[Candidate], history: Mapping[str, Record]) -> list[Candidate]:
    """The most promising of those that are larger or dearer, if it promises more than the best does."""
    larger = [one for one in ranked if _is_cheaper(best, one) and expected(one, history) > expected(best, history)]
    return sorted(larger, key=lambda one: -expected(one, history))[:1]


def _is_cheaper(one: Candidate, other: Candidate) -> bool:
    """Free and not paid; of two that are free the smaller, which is faster; of two others, at most half the price."""
    if one.is_free and other.is_free:
        return SIZES.index(one.strength) < SIZES.index(other.strength)
    return _price(one) < float("inf") and 2 * _price(one) <= _price(other)


def _price(candidate: Candidate) -> float:
    return float("inf") if candidate.dollars is None else candidate.dollars


def _why(
    pair: Sequence[Candidate],
    ranked: Sequence[Candidate],
    candidates: Sequence[Candidate],
    history: Mapping[str, Record],
) -> str:
    when = (" first", " when it is stuck") if len(pair) > 1 else ("",)
    parts = [f"{one.name}{then}: {about(one, history.get(one.name))}" for one, then in zip(pair, when, strict=True)]
    others = [one for one in ranked if one not in pair]
    dear = len(candidates) - len(ranked)
    return "; ".join([*parts, *told_of_others(others, history, dear)])


def _default(candidates: Sequence[Candidate]) -> Choice:
    size = f"{CATALOG[DEFAULT_MODEL].bytes / 1e6:,.0f} MB"
    there = "nothing that is free is there" if candidates else "no other model can be asked"
    dear = "; ".join(told_of_others((), {}, len(candidates)))
    return Choice(
        names=DEFAULT_MODEL,
        why=f"{DEFAULT_MODEL}: {there}, so it is the default, fetched first ({size})" + (f"; {dear}" if dear else ""),
    )
