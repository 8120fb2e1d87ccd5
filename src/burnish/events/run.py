"""How a run begins, is taken up again and ends, and what is put where the user wants it."""

import re
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from burnish.events.base import BaseEvent

RECORD_VERSION = 1
"""Version of the run file. Raise it when an old file would read differently, and teach `runs.record.UPGRADES` the
step."""

Verdict = Literal["proven", "plausible", "failed"]
PROVEN = 0.95
"""The least confidence with which anything is called proven."""


class RunStarted(BaseEvent):
    """A run began. Always the first line of a run's record."""

    kind: Literal["run_started"] = "run_started"
    version: int = RECORD_VERSION
    run_id: str
    verb: str
    prompt: str
    model: str
    burnish: str
    sandbox: str = ""
    settings: dict[str, object] = Field(default_factory=dict)
    """Written from `RunSettings`, and read as one: `Run.settings`."""
    continues: str | None = None
    """The earlier run that it goes on from; RUN:VERSION where that is not its result."""


class Resumed(BaseEvent):
    """The run was taken up again where it had been left."""

    kind: Literal["resumed"] = "resumed"
    answers: int
    """Answers of the model that were on record and are not asked for again."""
    burnish: str = ""
    settings: dict[str, object] = Field(default_factory=dict)
    """What differs from the run's beginning, such as limits that were raised."""
    sandbox: str = ""
    """Where code runs from now on; empty in older records."""
    question: str = ""
    """The open question that is answered now: what followed it no longer counts, but for what it cost."""


class Notice(BaseEvent):
    """Something a person who waits would like to know: weights are loading, another run has the cores."""

    lasting: ClassVar[bool] = False
    kind: Literal["notice"] = "notice"
    text: str
    stays: bool = False
    """Whether it is to be read later too, and so is not replaced by the next one."""


class PackagesAdded(BaseEvent):
    """Code of this run may import these packages from here on: all that there are, with their versions."""

    kind: Literal["packages_added"] = "packages_added"
    asked: tuple[str, ...]
    """What was asked for, by the user or by code; the rest is what these need."""
    packages: tuple[tuple[str, str], ...]
    """Name and version of each."""
    wheels: tuple[tuple[str, str], ...] = ()
    """The file that each came in, in the same order, and its SHA-256; empty in older records."""
    why: str = ""
    """"" where the user asked; else who did: "version 1 imports it"."""
    new: str = ""
    """The name of the one that it did so for; "" where the user asked, and in older records."""
    for_version: int | None = None
    """The version whose code asked for it; None where the user asked."""
    seconds: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _split_why(cls, data: Any) -> Any:
        """Earlier records name the version in `why` alone."""
        if isinstance(data, dict) and "for_version" not in data:
            found = re.match(r"version (\d{1,9}) imports ", str(data.get("why", "")))
            return {**data, "for_version": int(found[1])} if found else data
        return data


class Refused(BaseEvent):
    """Something was not accepted: tests that are not the accepted ones any more, a file that changed meanwhile."""

    kind: Literal["refused"] = "refused"
    what: str
    why: str


class Stopped(BaseEvent):
    """The work ended: done, or at a limit. Never an error."""

    kind: Literal["stopped"] = "stopped"
    reason: Literal["done", "rounds", "calls", "tokens", "seconds", "dollars", "stuck", "interrupted", "review"]
    """"review": a person who looked at it wanted no more."""
    why: str = ""


class Broke(BaseEvent):
    """This attempt could not go on; `error` names who is to blame."""

    kind: Literal["broke"] = "broke"
    error: str
    message: str


class RunFinished(BaseEvent):
    """The verdict, and the version that carries it."""

    kind: Literal["run_finished"] = "run_finished"
    verdict: Verdict
    why: str
    version: int | None = None
    disputed: tuple[str, ...] = ()
    """Model-made tests that were set aside, as written."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """How likely it is that the code is right; None in older records, and where no code is handed over."""
    calibrated: bool = False
    """Whether the confidence was fitted for the models that answered; if not, it is a guess."""
    basis: str = ""
    """What the confidence rests on, in a few words; empty where there is none."""


class FilesWritten(BaseEvent):
    """The result was put where the user wanted it."""

    kind: Literal["files_written"] = "files_written"
    folder: str
    files: tuple[str, ...]


class Applied(BaseEvent):
    """A repaired file was put in place of the broken one."""

    kind: Literal["applied"] = "applied"
    file: str
    backup: str
