"""survivors: break the version that passes in small ways, and see which of them no test notices."""

from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.work import Work
from burnish.events import Event, Mutated


def survivors(work: Work, tools: Tools) -> Iterator[Event]:
    """Mutants of the best version; where some go unnoticed and too few voices say what is right, ask for more."""
    assert work.best is not None
    yield Mutated(version=work.best.number, mutants=0, noticed=0, why="not built yet")
