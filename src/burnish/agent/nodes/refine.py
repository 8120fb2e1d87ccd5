"""refine: a round for each check that finds something: security, then performance, then quality."""

from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.work import Work
from burnish.events import Event


def refine(work: Work, tools: Tools) -> Iterator[Event]:
    """Keep what is better by that check's figure, loses no test, and makes no other check worse."""
    yield from ()
