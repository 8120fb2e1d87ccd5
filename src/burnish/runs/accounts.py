"""What a run took of each model that answered: asks, tokens, time and money, summed from its answers alone."""

from collections.abc import Iterable, Sequence

from burnish.events import AnswerLost, Frozen, ModelReplied


class Account(Frozen):
    """One model's part of what a run took."""

    model: str
    asks: int
    """Answers of this model, those that were broken off too, if anything had come of them."""
    tokens_in: int
    tokens_cached: int
    """Of those read, how many came from the provider's cache, and cost less."""
    tokens_out: int
    tokens_thought: int
    """Of those written, how many were thoughts."""
    seconds: float
    """All its answers together; several are often written at once."""
    lost: int = 0
    """Answers that were lost on their way, and asked for again."""
    tokens_lost: int = 0
    """What those were booked at: the most that they can have taken."""
    dollars: float | None
    """Answers that were lost on their way count at the most they can have cost. None: no price is known, and
    what it cost is not known either."""


def accounts_of(told: Iterable[ModelReplied | AnswerLost], otherwise: str) -> tuple[Account, ...]:
    """An account a model, in the order of their first answers; older answers, which name none, are `otherwise`'s."""
    by_model: dict[str, list[ModelReplied | AnswerLost]] = {}
    for one in told:
        by_model.setdefault(one.model or otherwise, []).append(one)
    return tuple(_account(model, answers) for model, answers in by_model.items())


def _account(model: str, told: Sequence[ModelReplied | AnswerLost]) -> Account:
    replies = [one for one in told if isinstance(one, ModelReplied)]
    lost = [one for one in told if isinstance(one, AnswerLost)]
    return Account(
        model=model,
        asks=sum(bool(reply.text or reply.tokens_out) or reply.ended != "cut" for reply in replies),
        tokens_in=sum(reply.tokens_in for reply in replies),
        tokens_cached=sum(reply.tokens_cached for reply in replies),
        tokens_out=sum(reply.tokens_out for reply in replies),
        tokens_thought=sum(reply.tokens_thought for reply in replies),
        seconds=sum(reply.seconds for reply in replies),
        lost=len(lost),
        tokens_lost=sum(one.tokens for one in lost),
        dollars=dollars_of(told),
    )


def dollars_of(told: Iterable[ModelReplied | AnswerLost]) -> float | None:
    """What they cost together; None as soon as the price of one is unknown."""
    costs = [one.dollars for one in told]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
