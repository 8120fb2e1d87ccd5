"""Who answers: a name, `small,large`, what the user decided once and for all, or `auto`, which chooses."""

import sys
from collections.abc import Iterator

from burnish.agent.limits import Limits
from burnish.choosing.candidate import Choice
from burnish.choosing.candidates import candidates, lacking, locked_away
from burnish.choosing.choice import choose
from burnish.choosing.history import history
from burnish.config import load
from burnish.errors import SetupProblem
from burnish.models.names import AUTO, Chosen, Models, Progress, default_names, open_models
from burnish.models.providers import PACKAGES
from burnish.runs import Store


def who_answers(
    names: str | None, limits: Limits | None = None, store: Store | None = None, *, alone: bool = False
) -> Choice:
    """The names as they are; where there are none, the default; for `auto` a choice, with its reason.

    Money is spent only by what was named, or where a cap in dollars or the user's settings allow it. `alone` is for
    work that asks a single model, and has no cap in dollars.
    """
    names = (default_names() if names is None else names).strip()
    if names != AUTO:
        _must_stand_alone(names)
        return Choice(names=names)
    capped = limits is not None and limits.dollars is not None
    may_spend = bool(limits.dollars) if limits and capped else load().may_spend
    did = history(store)
    found = candidates(did, may_spend)
    if capped:  # a cap cannot be kept where the price is unknown
        found = [one for one in found if one.dollars is not None]
    choice = choose(found, did, may_spend, alone=alone)
    return choice.model_copy(update={"why": "; ".join([choice.why, *_not_asked(may_spend, alone)])})


def models_for(
    model: Models | None, limits: Limits | None = None, store: Store | None = None, progress: Progress | None = None
) -> Models:
    """What `attempt` takes: the models as they were given, names, or those that were chosen and why."""
    if model is not None and not isinstance(model, str):
        return model
    choice = who_answers(model, limits, store)
    return Chosen(open_models(choice.names, progress), choice.why) if choice.why else choice.names


def _must_stand_alone(names: str) -> None:
    if AUTO in [part.strip() for part in names.split(",")]:
        raise SetupProblem(
            f"{names!r} names a model and leaves the choice open as well; {AUTO!r} may choose two by itself, one that"
            f" answers and one that helps. Let it stand alone: --model {AUTO}"
        )


def _not_asked(may_spend: bool, alone: bool) -> Iterator[str]:
    """Who is there and was left out, and what to type so that it is not."""
    for server in lacking(may_spend):
        install = f"{sys.executable} -m pip install '{PACKAGES[server.kind]}'"
        yield f"{server.provider}: has models, and its package is not installed (`{install}`)"
    for server in [] if may_spend else locked_away():
        costs = "has a key and costs money" if server.is_official else "may cost money"
        allow = "--dollars 1" if server.is_official and not alone else "`burnish config set may_spend true`"
        yield f"{server.provider}: {costs}, so it was not asked ({allow} would allow it)"
