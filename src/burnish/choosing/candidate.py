"""What a choice is made from, and what it is: plain data."""

from typing import Literal

from pydantic import Field

from burnish.agent.policy import Strength
from burnish.events import Frozen


class Candidate(Frozen):
    """A model that could answer now."""

    name: str
    where: Literal["disk", "server"] = "disk"
    strength: Strength = "middle"
    dollars: float | None = 0.0
    """For a million tokens written; None where nobody says."""

    @property
    def is_free(self) -> bool:
        """Whether an answer costs nothing, for sure."""
        return self.dollars == 0


class Record(Frozen):
    """How a model did for this user."""

    runs: int = Field(default=0, ge=0)
    proven: int = Field(default=0, ge=0)
    tasks: int = Field(default=0, ge=0)
    """Of evaluations."""
    solved: float = Field(default=0.0, ge=0)

    def __add__(self, other: "Record") -> "Record":
        """Both together."""
        return Record(
            runs=self.runs + other.runs,
            proven=self.proven + other.proven,
            tasks=self.tasks + other.tasks,
            solved=self.solved + other.solved,
        )


class Choice(Frozen):
    """Who answers: one name, or `small,large`; and why, in one sentence, where that was left to us."""

    names: str
    why: str = ""
