"""What a run was started with, as its record has it: plain data on disk, a frozen type for every reader.

A record may come from a stranger or from an older Burnish. What is missing, or is not what it should be, counts as not
said: it has its default.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import ConfigDict, ValidationError, ValidatorFunctionWrapHandler, field_validator

from burnish.events.base import Frozen
from burnish.events.run import PROVEN


class Recorded(Frozen):
    """A part of the settings of a run."""

    model_config = ConfigDict(extra="ignore")

    @field_validator("*", mode="wrap")
    @classmethod
    def _or_default(cls, value: Any, handler: ValidatorFunctionWrapHandler, info: Any) -> Any:
        try:
            return handler(value)
        except ValidationError:
            return cls.model_fields[info.field_name].get_default(call_default_factory=True)

    def to_json(self) -> dict[str, Any]:
        """Plain data for the record: only what was said."""
        return self.model_dump(mode="json", exclude_unset=True)


class Place(Recorded):
    """A function that may hold the fault, and what speaks against it."""

    file: str = ""
    """Its path below the project's root."""
    function: str = ""
    clues: tuple[str, ...] = ()
    """Values of `fault_localisation.Clue`, what says most first."""
    score: float = 0.0


class FixFacts(Recorded):
    """What a run of `fix` knows of its file, enough to go on from."""

    file: str = ""
    name: str = ""
    """Its path below the project's root."""
    sha256: str = ""
    """Of its content before the repair."""
    encoding: str = "utf-8"
    apply: bool = False
    tests: tuple[str, ...] = ()
    python: str | None = None
    test_seconds: float = 0.0
    aside: tuple[str, ...] = ()
    """Tests that fail for reasons that the repair cannot reach."""
    guidance: tuple[str, ...] = ()
    """Files of the project that say how its code should be, and were read."""
    places: tuple[Place, ...] = ()
    """Where the fault may be, the likeliest first; none in older records."""

    @property
    def root(self) -> Path:
        """Of the project that the file belongs to."""
        return Path(self.file).parents[len(Path(self.name).parts) - 1]


class StrengthenFacts(Recorded):
    """What a run of `strengthen` was about."""

    root: str = ""
    tests: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    function: str = ""
    python: str = ""
    apply: bool = False
    pinned: bool = True
    seconds: float = 0.0
    max_tokens: int | None = None
    thinking: int | None = None


class PageFacts(Recorded):
    """What a run of `page` is about, enough to go on from."""

    case: str = ""
    """The shipped case, or the absolute folder of one's own; empty: a sentence alone."""
    context: str = ""
    """What the model is told about its surroundings, whole, as it was at the beginning."""
    targets: tuple[str, ...] = ()
    """Loopback addresses that it may reach, as its case was granted them; none but those."""
    headless: bool = True
    """Whether the page ran in a browser of ours; else in a tab of the user's."""
    before: str = ""
    """Of a follow-up: the code that it goes on from."""
    follow_ups: int = 0
    """How many sentences came after the first one, this one counted."""


class AppFacts(Recorded):
    """What a run of `build` is about, enough to go on from."""

    flips: tuple[str, ...] = ()
    """Switches of assumptions that are turned."""
    without: Literal["", "rules", "model"] = ""
    """Who has no say, to see what they are worth."""
    earlier: tuple[str, ...] = ()
    """Of a follow-up: the blueprints before it, as JSON, the oldest first."""
    functions: dict[str, str] = {}
    """Of a follow-up: the functions that were written before it, by ENTITY.NAME."""
    edited: dict[str, str] = {}
    """Of a follow-up: files that the user changed since, by path."""
    into: str = ""
    """Of a follow-up: the folder that is changed where it lies; empty: the result is put into one of its own."""


class RunSettings(Recorded):
    """All that a run was started with. `task` and `limits` are plain data, as their own types lie above events."""

    limits: dict[str, Any] = {}
    task: dict[str, Any] = {}
    """Without what the agent must not see."""
    checks: tuple[str, ...] | None = None
    """What looks at the final files beside the tests; None in old records, which do not say."""
    sandbox: str = "auto"
    afterwards: tuple[str, ...] = ()
    """What follows once the tests pass."""
    packages: tuple[str, ...] = ()
    allow_packages: tuple[str, ...] = ()
    chosen: str = ""
    """Why these models, where they were chosen for the user."""
    out: str = ""
    """The folder for the result; empty where none was named."""
    ask: bool = False
    review: bool = False
    confidence: float = PROVEN
    """How sure a version had to be to be right before the work ended with calls to spare."""
    questions: int = 0
    """How many may be asked about what versions disagree on; none in older records."""
    keep_thoughts: bool = False
    part_of: str = ""
    """The run that this one is a step of."""
    fix: FixFacts | None = None
    strengthen: StrengthenFacts | None = None
    page: PageFacts | None = None
    app: AppFacts | None = None
    plan: dict[str, Any] = {}
    """Of an evaluation, as are those that follow."""
    seed: int = 0
    engine: str = ""
    left_out: tuple[str, ...] = ()
    """What `write` would have done beside it: the agent that is measured leaves out what follows passing tests."""

    @classmethod
    def merge(cls, *parts: Mapping[str, object]) -> Self:
        """What the run was last started with: its beginning, and what differed each time it was taken up again."""
        merged: dict[str, object] = {}
        for part in parts:
            merged |= part
        return cls.model_validate(merged)
