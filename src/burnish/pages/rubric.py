"""A case to be measured on: a sentence, what the model is told besides, and a rubric of criteria with points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from burnish.events import CriterionHeld, CriterionTicked, PageScored
from burnish.pages.page import LivePage


@dataclass(frozen=True)
class Criterion:
    """One thing that a page must do, and what it is worth."""

    name: str
    what: str
    """A sentence for people, and for the model where the criterion does not hold."""
    points: int
    decay: float = 0.5
    """The factor for each cycle after the first; 1.0: it does not decay."""
    by: Literal["probe", "person"] = "probe"
    script: str = ""
    """JavaScript: an expression that is true where the criterion holds, or says in a text why it does not."""
    function: str = ""
    """In place of a script: the name of a probe in Python, from `probes.PROBES`."""
    seconds: float = 10.0
    """How long its probe may take."""
    at_end: bool = False
    """Whether it is judged on the last version alone, as its probe takes long."""


@dataclass(frozen=True)
class Case:
    """A sentence with its rubric."""

    name: str
    sentence: str
    criteria: tuple[Criterion, ...]
    context: str = ""
    """Told to the model besides the usual context."""
    targets: tuple[str, ...] = ()
    """Loopback addresses (`127.0.0.2:*`) that the page may reach; none unless the case grants them."""
    folder: Path | None = None


def load_case(name: str) -> Case:
    """A shipped case by its name, or one's own by its folder. Raises SetupProblem with file, line, what is allowed."""
    raise NotImplementedError


def judge_version(case: Case, page: LivePage, is_last: bool) -> tuple[CriterionHeld, ...]:
    """What the probes say of the version that runs; those that are `at_end` only of the last one."""
    raise NotImplementedError


def score(case: Case, held: Mapping[int, Sequence[CriterionHeld]], follow_ups: int = 0) -> PageScored:
    """The points, from what held in which cycle: a criterion counts from the first cycle after which it always held.

    Points that decay are floored: 10 at 0.5 give 10, 5, 2, 1, 0. A person's criteria are open (None) until ticked.
    """
    raise NotImplementedError


def add_ticks(scored: PageScored, ticks: Sequence[CriterionTicked]) -> PageScored:
    """The same with what a person said of each criterion; the last word of each counts."""
    raise NotImplementedError
