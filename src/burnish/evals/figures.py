"""What `results.json` holds: one evaluation in numbers, and every attempt they were counted from."""

from typing import Literal

from burnish.evals.plan import Asking, Protocol
from burnish.evals.tally import Attempt
from burnish.events import Frozen

RESULTS_VERSION = 1
Interval = tuple[float, float]


class LeftOut(Frozen):
    """A row of the suite that could not be used."""

    id: str
    why: str


class Cost(Frozen):
    """What something took. `seconds` is wall time of the whole evaluation, shared out; None is "not known"."""

    tokens_in: float
    tokens_out: float
    seconds: float
    dollars: float | None


class ByBug(Frozen):
    """How a kind of bug fared: attempts, and those solved."""

    bug: str
    n: int
    solved: int


class Results(Frozen):
    """One evaluation. Shares are between 0 and 1, over the attempts that are finished.

    With several seeds a task counts with the mean over its seeds, and an interval is Wilson's with n = tasks: more
    seeds steady the estimate but are never mistaken for more tasks.
    """

    version: int = RESULTS_VERSION
    burnish: str
    suite: str
    variant: str
    split: Literal["eval", "tune"]
    tasks_hash: str = ""
    limit: int | None = None
    protocol: Protocol
    strategy: str
    ask: Asking
    model: str
    engine: str
    rounds: int
    temperature: float | None
    without: tuple[str, ...] = ()
    seeds: tuple[int, ...]
    tasks: int
    """Tasks of the plan, without broken rows."""
    planned: int
    """Attempts of the plan: tasks times seeds."""
    finished: int
    tasks_finished: int
    """Tasks with at least one finished attempt: the n of every interval."""
    broken: tuple[LeftOut, ...] = ()
    solved: int
    """Attempts whose final answer passes the scoring tests."""
    pass_at_1: tuple[float, ...]
    """By round; the last one is the headline."""
    pass_at_1_interval: tuple[Interval, ...]
    pass_at_1_by_call: tuple[float, ...]
    pass_at_1_by_call_interval: tuple[Interval, ...]
    tokens_by_call: tuple[float, ...]
    """Mean tokens a task has cost until the end of each call."""
    pass_at_k: tuple[float | None, ...]
    """For k = 1, 2 … number of seeds, over the tasks that have k attempts; None when there are none."""
    cost: Cost
    cost_per_task: Cost | None
    """Per finished attempt."""
    cost_per_solved: Cost | None
    """None when nothing is solved."""
    model_seconds: float
    """Time attempts waited for answers, added up; attempts run side by side, so it may exceed the wall time."""
    tokens_per_second: float
    """Tokens written over wall time, grading and all."""
    calls_per_task: float
    parse_failure_rate: float
    """Of all versions, how many could not be run."""
    repeat_rate: float
    """Of all versions, how many were equal to an earlier one of the same attempt."""
    timeouts: int
    errors: int
    by_bug: tuple[ByBug, ...] = ()
    attempts: tuple[Attempt, ...] = ()

    @property
    def complete(self) -> bool:
        """Has every attempt of the plan been made?"""
        return self.finished == self.planned

    def text(self) -> str:
        """The words of `results.json`."""
        return self.model_dump_json(indent=1) + "\n"
