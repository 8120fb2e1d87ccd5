"""strengthen: tests for what goes unnoticed, each kept only if it passes, notices, and does so every time."""

from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.work import Work
from burnish.events import Event, Strengthened


def strengthen(work: Work, tools: Tools) -> Iterator[Event]:
    """Find inputs that tell code and mutant apart, and who says what is right there."""
    assert work.best is not None
    yield Strengthened(version=work.best.number)
