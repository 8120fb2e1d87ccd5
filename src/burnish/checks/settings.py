"""What is enough: thresholds and required checks, from `[tool.burnish]` in the project's pyproject.toml."""

from pydantic import Field

from burnish.events import Frozen

CHECKS = ("tests", "coverage", "mutation", "security", "dependencies", "quality", "performance")
"""All checks, in the order they run and are shown."""


class Settings(Frozen):
    """The thresholds of one project; the defaults are what we would ask of our own code."""

    required: tuple[str, ...] = ("tests", "coverage", "mutation", "security", "quality")
    """Checks that must pass; the others are shown, and can fail without harm to the verdict."""
    coverage: float = Field(default=80.0, ge=0, le=100)
    """Lines and branches that the tests run, in percent."""
    mutation: float = Field(default=60.0, ge=0, le=100)
    """Mutants that the tests notice, in percent."""
    mutation_seconds: float = Field(default=60.0, gt=0)
    """How long mutants are tried; what is left then is counted as not tried."""
    quality: float = Field(default=60.0, ge=0, le=100)
    """The score from 0 to 100."""
    severity: str = "medium"
    """Security findings of this severity and above fail the check: low, medium or high."""
    growth: str = "quadratic"
    """The worst growth of time that passes: constant, log, linear, n log n, quadratic or worse."""
    test_seconds: float = Field(default=120.0, gt=0)
    """How long one run of the whole test suite may take."""
    network: bool = False
    """Whether the code may open connections."""
    newest_days: int = Field(default=14, ge=0)
    """A dependency whose first release is younger than this is a finding."""
