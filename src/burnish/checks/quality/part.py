"""One part of the score, and how counts become points."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from burnish.checks.finding import Finding
from burnish.checks.quality.module import Module

SMALLEST = 20
"""Statements that a project is taken to have at least, so that one slip in a short function is a slip."""
SCALE = 20.0
"""This many points against the code in 100 statements leave 37 of 100; a quarter as many leave 78."""


class Part(NamedTuple):
    """What one part says. `score` is None where there was nothing it could judge; the others then weigh more."""

    name: str
    score: float | None
    why: str
    findings: tuple[Finding, ...] = ()


def falling(points: float, modules: Sequence[Module]) -> float:
    """A score that falls with the points against the code in 100 statements, fast at first and never below 0."""
    size = max(SMALLEST, sum(module.statements for module in modules))
    return 100.0 * math.exp(-100.0 * points / size / SCALE)
