"""What an evaluation writes down: `eval.json` before it begins, `results.json` when it is counted.

Fields are only ever added, with a default: folders of earlier versions open and resume.
"""

from typing import Literal, Self

from pydantic import Field

from burnish.events import Frozen, Verdict
from burnish.tasks.task import EvalSplit
from burnish.version import __version__

PLAN_VERSION = 1
RESULTS_VERSION = 1

Protocol = Literal["visible", "oracle"]
"""`visible`: the strategy sees the prompt and the visible examples; hidden tests only score.
`oracle`: the scoring tests are shown and drive the loop, as in much published work."""
Asking = Literal["auto", "write", "fix"]
"""What the model is asked for: to write the function from its description, or to fix the code that is there.
`auto` is fix where there is buggy code, else write."""
Interval = tuple[float, float]
StoppedBy = Literal["", "tokens", "seconds", "dollars"]


class EvalLimits(Frozen):
    """What a whole evaluation may take, all sittings together. Reaching one ends it; what is finished stays."""

    tokens: int | None = Field(default=None, ge=1)
    """Read and written by the model."""
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """In which attempts are under way."""
    dollars: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class Spent(Frozen):
    """What an evaluation with a limit has taken so far, with what came to nothing."""

    tokens: int = 0
    seconds: float = 0.0
    dollars: float = 0.0


class PlanSettings(Frozen):
    """What was measured, as plan and results both name it. The first seven say which Burnish, where, on which tasks."""

    version: int
    burnish: str = __version__
    commit: str = ""
    """Of the clone that the evaluation began with; empty for an installed package."""
    machine: str = ""
    suite: str
    """A name from `burnish eval list`, or the path of a JSON-lines file."""
    variant: str = ""
    split: EvalSplit = "eval"
    tasks_hash: str = ""
    """SHA-256 over the tasks as loaded and validated, so that a resumed run measures the same ones."""
    limit: int | None = Field(default=None, ge=1)
    model: str
    engine: str = ""
    """What computes the answers, in words: tables name it."""
    strategy: str = "burnish"
    protocol: Protocol = "visible"
    ask: Asking = "auto"
    rounds: int = Field(default=5, ge=0)
    """Rounds after the first answer; `retry` and `reflect` make at most rounds + 1 calls."""
    temperature: float | None = Field(default=None, ge=0)
    """In place of the strategy's own, where it has just one: `single` 0, `retry` 0.7."""
    without: tuple[str, ...] = ()
    """Parts of our own agent that are left out, to see what they are worth."""
    confidence: float = Field(default=0.95, gt=0, le=1)
    """How sure our own agent must be before it stops with calls to spare; 1: it makes all its calls."""
    answers: int = Field(default=0, ge=0, le=3)
    """Questions about what versions disagree on that the reference answers, in a user's place."""
    left_out: tuple[str, ...] = ()
    """What `write` does besides and the strategy does not: only tests count here, and what follows them costs time."""
    seeds: tuple[int, ...] = (0,)
    """Independent attempts at each task, one for each seed."""
    timeout_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """For the tests of a task, in place of the strategy's own; of this the reference must need no more than a third."""
    replayed: str = ""
    """The evaluation whose recorded answers were given in place of a model's; empty: a model was asked."""


class Plan(PlanSettings):
    """One evaluation, before it begins."""

    version: int = PLAN_VERSION
    max_tokens: int | None = Field(default=None, ge=1)
    """Tokens of one answer with code at most, in place of the strategy's own."""
    thinking: int | None = Field(default=None, ge=0)
    """Tokens for the thoughts before one answer; None: what the user's settings say for the model."""
    at_once: int = Field(default=0, ge=0)
    """Attempts under way at the same time; 0 means as many as keep the model's slots busy."""
    sandbox: str = "auto"


class Row(Frozen):
    """What the reports need to know of one task."""

    id: str
    entry_point: str = ""
    bug: str = ""
    prompt: str = ""


class LeftOut(Frozen):
    """A row of the suite that is no fair task, and why."""

    id: str
    why: str


class Contents(Frozen):
    """`eval.json`."""

    plan: Plan
    data: str = ""
    """Where the tasks were read from: a folder of benchmark files or the JSON-lines file; empty for the usual place."""
    tasks: tuple[Row, ...]
    broken: tuple[LeftOut, ...] = ()
    replay_source: str = ""
    """The folder of the evaluation that `plan.replayed` names."""
    limits: EvalLimits = EvalLimits()
    spent: Spent = Spent()
    """Kept only where there is a limit."""
    stopped_by: StoppedBy = ""
    """The limit that ended it last; empty where none did."""


class Attempt(Frozen):
    """One task tried once. An attempt that broke is solved nowhere: silence is never a pass."""

    task_id: str
    seed: int
    bug: str = ""
    solved: bool = False
    solved_by_call: tuple[bool, ...] = (False,)
    """At place c - 1: would it be solved if it had to stop after c calls? What took no call counts from the first."""
    solved_by_round: tuple[bool, ...] = (False,)
    """At place r: would it be solved if it had to stop after round r? The first draft is round 0."""
    solved_by_answers: tuple[bool, ...] = ()
    """At place k: would it be solved if nobody had answered more than k questions? Empty where none was to be."""
    confidence_by_answers: tuple[float | None, ...] = ()
    """How likely the strategy held its answer to be right then."""
    verdict_by_answers: tuple[Verdict | None, ...] = ()
    """What a user would have been told then; empty in older results."""
    asked: int = 0
    """Questions that were asked and answered."""
    tokens_by_call: tuple[int, ...] = (0,)
    """Tokens read and written until then."""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    model_seconds: float = 0.0
    """Time spent waiting for answers."""
    seconds: float = 0.0
    """From the first event to the last."""
    started: float = 0.0
    """When it began, in seconds since 1970: where attempts overlap, time is counted once."""
    versions: int = 0
    unparsed: int = 0
    """Versions that could not even be run."""
    repeats: int = 0
    """Versions equal to an earlier one."""
    timed_out: bool = False
    """The final answer ran out of time under the scoring tests."""
    error: str = ""
    not_recorded: bool = False
    """In a replay: it asked something that is not on record, so nobody knows whether it would be solved."""
    dollars: float | None = None
    """None where the price of an answer is not known."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """How likely the strategy held its final answer to be right; None where it does not say, or broke."""
    verdict: Verdict | None = None
    """What a user would have been told of it; None where the strategy does not say."""

    def after_answers(self, most: int) -> Self:
        """The same if nobody had answered more than so many questions."""
        then = (self.solved_by_answers, self.confidence_by_answers, self.verdict_by_answers)
        names = ("solved", "confidence", "verdict")
        return self.model_copy(update={name: values[most] for name, values in zip(names, then, strict=True)})


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


class Estimate(Frozen):
    """A figure with its 95 % interval."""

    value: float
    interval: Interval


class ReliabilityBin(Frozen):
    """Attempts whose confidence lies between two limits: how sure they were, and how often right."""

    low: float
    high: float
    n: int
    confidence: float
    """Mean."""
    solved: Estimate


class RiskPoint(Frozen):
    """What comes of taking only the answers that are at least so sure."""

    confidence: float
    coverage: float
    """Share of the answers that are taken."""
    risk: float
    """Share of those that are wrong."""


class Verdicts(Frozen):
    """How far what a user would have been told can be trusted.

    Of shares the intervals are Wilson's with n = tasks; of the other figures they are a bootstrap over tasks.
    """

    attempts: int
    with_confidence: int
    """Attempts that say how sure they are: calibration is over these. One that broke says nothing."""
    proven: int
    right: int
    """Of those that were called proven."""
    proven_share: float
    """Of all attempts."""
    precision: Estimate | None
    """Of what was called proven, how much is right; None where nothing was."""
    coverage: Estimate | None
    """Of what is solved, how much was called proven; None where nothing is."""
    ece: Estimate
    """Expected calibration error, ten bins of equal width."""
    ece_by_chance: float
    """What it would be on average if every answer were right just as often as it says: few tasks never show 0."""
    brier: Estimate
    auroc: Estimate | None
    """None where all answers are right, or none is."""
    bins: tuple[ReliabilityBin, ...]
    risk_coverage: tuple[RiskPoint, ...]


class Results(PlanSettings):
    """One evaluation. Shares are between 0 and 1, over the attempts that are finished.

    With several seeds a task counts with the mean over its seeds, and an interval is Wilson's with n = tasks: more
    seeds steady the estimate but are never mistaken for more tasks.
    """

    version: int = RESULTS_VERSION
    measured_at: str = ""
    """When the first attempt began, in UTC."""
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
    pass_at_1_by_answers: tuple[float, ...] = ()
    """With 0, 1, 2 … answered questions, of the same attempts; empty where the reference was to answer none."""
    pass_at_1_by_answers_interval: tuple[Interval, ...] = ()
    confidence_by_answers: tuple[float | None, ...] = ()
    """The mean; None where the strategy does not say."""
    asked_per_task: float = 0.0
    """Questions that were asked and answered, a finished attempt."""
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
    """Attempts that broke; those that are not on record are counted apart."""
    not_recorded: int = 0
    """In a replay: attempts that asked something that is not on record. They count as not solved."""
    limits: EvalLimits = EvalLimits()
    spent: Spent = Spent()
    stopped_by: StoppedBy = ""
    dollars_unknown: str = ""
    """Why `cost.dollars` is null."""
    by_bug: tuple[ByBug, ...] = ()
    verdicts: Verdicts | None = None
    """None where no attempt says how sure it is."""
    verdicts_by_answers: tuple[Verdicts | None, ...] = ()
    """At place k: if nobody had answered more than k questions. Empty where none was to be, and in older results."""
    attempts: tuple[Attempt, ...] = ()

    @property
    def complete(self) -> bool:
        """Has every attempt of the plan been made?"""
        return self.finished == self.planned

    def text(self) -> str:
        """The words of `results.json`."""
        return self.model_dump_json(indent=1) + "\n"
