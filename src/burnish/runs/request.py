"""What is asked of one attempt, as frozen data: all that decides a run, and all that its record says it began with."""

from typing import Any

from pydantic import Field

from burnish.agent.limits import Limits
from burnish.events import PROVEN, AppFacts, FixFacts, Frozen, PageFacts, RunSettings, StrengthenFacts
from burnish.tasks.task import Task
from burnish.version import __version__


class EvalSettings(Frozen):
    """What the record of an attempt says of its evaluation."""

    plan: dict[str, Any]
    seed: int
    engine: str
    left_out: tuple[str, ...]
    """What a run of `write` would have done beside it."""


class Request(Frozen):
    """One attempt, before it begins. What cannot be written down is in `runs.attempt.Resources`."""

    task: Task
    """What to write; `task.own_tests` says whether the model writes tests too."""
    verb: str = "write"
    model: str = ""
    """Who answers where no models are given: their names, `small,large`; empty: what the settings say."""
    chosen: str = ""
    """Why these models, where they were chosen for the user."""
    limits: Limits = Limits()
    sandbox: str = "auto"
    checks: tuple[str, ...] = ()
    """What looks at the final files beside the tests, which decide."""
    afterwards: frozenset[str] = frozenset()
    """What follows once the tests pass: "strengthen", tests for changes that go unnoticed; "refine", rounds for what
    checks find."""
    packages: tuple[str, ...] = ()
    """Third-party packages that are prepared before any code runs."""
    allow_packages: tuple[str, ...] = ()
    """Packages that code may have though they are not well known."""
    seed: int = 0
    """Added to the seed of every ask, so that attempts at one task can differ."""
    without: frozenset[str] = frozenset()
    """Parts of the agent that are left out, to see what they are worth; names from `policy.PARTS`."""
    model_errors_end: bool = False
    """Whether an error of the model ends the attempt at once: in evaluations an answer that did not come is not a
    wrong one."""
    confidence: float = Field(default=PROVEN, gt=0, le=1)
    """How sure the best version must be to be right before the work ends with calls to spare; 1: never."""
    continues: str | None = None
    """The earlier run that this one goes on from; RUN:VERSION where it is not its result."""
    out: str = ""
    """The folder for the result; empty where none was named."""
    ask: bool = False
    """Whether a person is asked about assumptions."""
    review: bool = False
    """Whether a person looks at what there is on the way."""
    questions: int = 0
    """How many questions about what versions disagree on may be asked; one that nobody answers stays open."""
    keep_thoughts: bool = False
    """Whether what models think before they answer is kept, in a file beside the record. It is never in a prompt."""
    part_of: str = ""
    """The run that this one is a step of."""
    nothing: str = ""
    """Why there is nothing to do. The run then ends where it begins, and nobody is asked."""
    fix: FixFacts | None = None
    strengthen: StrengthenFacts | None = None
    page: PageFacts | None = None
    app: AppFacts | None = None
    evaluation: EvalSettings | None = None
    burnish: str = __version__

    @property
    def settings(self) -> RunSettings:
        """What the record says; nothing that the agent must not see."""
        said: dict[str, Any] = {"limits": self.limits.on_record()}
        if self.verb in ("write", "fix", "eval", "page", "build"):  # others have a name and a prompt
            task = self.task.model_dump(mode="json", exclude={"hidden_tests", "gold"})
            said |= {"task": task, "checks": self.checks}
            said |= {"sandbox": self.sandbox, "afterwards": tuple(sorted(self.afterwards))}
        extra = (
            *("packages", "allow_packages", "chosen", "out", "ask", "review", "questions", "keep_thoughts"),
            *("part_of", "fix", "strengthen", "page", "app"),
        )
        said |= {name: value for name in extra if (value := getattr(self, name))}
        said |= {"confidence": self.confidence} if self.confidence != PROVEN else {}
        return RunSettings(**said, **(dict(self.evaluation) if self.evaluation else {}))
