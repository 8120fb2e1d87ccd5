"""The strategies there are, by name."""

from difflib import get_close_matches

from burnish.errors import SetupProblem
from burnish.evals.strategies.burnish import Burnish
from burnish.evals.strategies.reflect import Reflect
from burnish.evals.strategies.retry import Retry
from burnish.evals.strategies.single import Single
from burnish.evals.strategies.strategy import Strategy

STRATEGIES: dict[str, Strategy] = {kind.name: kind for kind in (Single(), Retry(), Reflect(), Burnish())}


def strategy(name: str) -> Strategy:
    """The strategy of that name, or a SetupProblem with the nearest names."""
    if name in STRATEGIES:
        return STRATEGIES[name]
    near = get_close_matches(name.lower(), STRATEGIES, n=2, cutoff=0.5)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    raise SetupProblem(
        f"There is no strategy {name!r}.{meant} There are: {', '.join(STRATEGIES)}. "
        f"Name one of them: --strategy {near[0] if near else next(iter(STRATEGIES))}"
    )
