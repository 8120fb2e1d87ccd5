"""review: a person looks at what there is, if one wants to, and says how to go on."""

from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.work import Work
from burnish.events import Event


def review(work: Work, tools: Tools) -> Iterator[Event]:
    """Show code, tests and checks before the verdict."""
    yield from ()
