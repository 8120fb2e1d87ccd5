"""What a run took of each model that answered: asks, tokens, time and money, summed from its answers alone."""

from collections.abc import Iterable

from burnish.events import Frozen, ModelReplied


class Account(Frozen):
    """One model's part of what a run took."""

    model: str
    asks: int
    """Answers of this model, those that were broken off too."""
    tokens_in: int
    tokens_cached: int
    """Of those read, how many came from the provider's cache, and cost less."""
    tokens_out: int
    tokens_thought: int
    """Of those written, how many were thoughts."""
    seconds: float
    """All its answers together; several are often written at once."""
    dollars: float | None
    """None: no price is known, and what it cost is not known either."""


def accounts_of(replies: Iterable[ModelReplied], otherwise: str) -> tuple[Account, ...]:
    """An account a model, in the order of their first answers; older answers, which name none, are `otherwise`'s."""
    by_model: dict[str, list[ModelReplied]] = {}
    for reply in replies:
        by_model.setdefault(reply.model or otherwise, []).append(reply)
    return tuple(_account(model, answers) for model, answers in by_model.items())


def _account(model: str, replies: list[ModelReplied]) -> Account:
    return Account(
        model=model,
        asks=len(replies),
        tokens_in=sum(reply.tokens_in for reply in replies),
        tokens_cached=sum(reply.tokens_cached for reply in replies),
        tokens_out=sum(reply.tokens_out for reply in replies),
        tokens_thought=sum(reply.tokens_thought for reply in replies),
        seconds=sum(reply.seconds for reply in replies),
        dollars=dollars_of(replies),
    )


def dollars_of(replies: Iterable[ModelReplied]) -> float | None:
    """What they cost together; None as soon as the price of one is unknown."""
    costs = [reply.dollars for reply in replies]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
