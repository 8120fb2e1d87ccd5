"""Rewrites for time that grows too fast.

They take for granted that elements can be hashed, and that what they compare equal is equal: the tests know better.
"""

from collections.abc import Callable, Iterable

from burnish.agent.mending.growing import appends, queues
from burnish.agent.mending.joining import joins
from burnish.agent.mending.pairs import pairs
from burnish.agent.mending.recursion import remembered
from burnish.agent.mending.searching import counts, places, sets
from burnish.agent.mending.slices import sums
from burnish.agent.mending.source import Change, Source

PERFORMANCE: dict[str, Callable[[Source], Iterable[Change]]] = {
    "what is searched in a loop becomes a set": sets,
    "counting in a loop is done once before it": counts,
    "places looked for in a loop are noted before it": places,
    "sums of slices become differences of running sums": sums,
    "a loop over all pairs looks up its partner": pairs,
    "a list that is used at its front becomes a deque": queues,
    "a list that is copied to grow is appended to": appends,
    "a text put together in a loop is joined at its end": joins,
    "a function that calls itself remembers what it said": remembered,
}
