"""The idea of a check: it looks at final files and says what it saw. Its kinds are this file's neighbours."""

from typing import Any, Literal, Protocol, Self

from pydantic import ConfigDict, ValidationError

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.project import Project
from burnish.events import Evidence, Frozen

Severity = Literal["", "low", "medium", "high"]
RANKS: dict[Severity, int] = {"": 0, "low": 1, "medium": 2, "high": 3}
"""How bad a finding is: the higher, the worse."""


CERTAINTY = {"low": ", maybe a false alarm", "medium": ", likely right", "high": ", surely right"}
"""How sure a tool is of what it found."""


def describe_worst(severity: str, confidence: str) -> str:
    """The worst of some findings: how bad it is, and how sure the tool is of it."""
    return f"the worst of {severity or 'unknown'} severity{CERTAINTY.get(confidence, '')}"


class Finding(Frozen):
    """One thing to look at. Goes into `Evidence.details["findings"]`, one after the other, worst first."""

    file: str
    """As the project's root sees it."""
    line: int = 0
    """From 1; 0 when it is about the whole file."""
    what: str
    """One sentence for a person."""
    rule: str = ""
    """The tool's own name for it, e.g. "B602" or "C901"."""
    severity: Severity = ""
    confidence: Severity = ""
    diff: str = ""
    """For a surviving mutant: the change that no test noticed."""


class DetailRow(Frozen):
    """One row in a check's details. Records may be older or newer than we are: other fields are passed over."""

    model_config = ConfigDict(extra="ignore")


class Details(Frozen):
    """What a check found, in full: `Evidence.details` holds it as plain data, and those fields alone that were set."""

    findings: tuple[Finding, ...] = ()

    def dump(self) -> dict[str, Any]:
        """For `Evidence.details`."""
        return {name: value for name, value in self.model_dump(mode="json").items() if name in self.model_fields_set}

    @classmethod
    def read(cls, evidence: Evidence) -> Self:
        """What an answer holds. Records may be old or made by others: a field that does not fit is left as unset."""
        known = {name: value for name, value in evidence.details.items() if name in cls.model_fields}
        while True:
            try:
                return cls.model_validate(known)
            except ValidationError as error:
                for wrong in error.errors():
                    known.pop(str(wrong["loc"][0]), None)


def read_findings(item: Evidence) -> list[Finding]:
    """What a check found at places in the code, worst first."""
    return list(Details.read(item).findings)


class Check(Protocol):
    """Something that can prove the code wrong.

    Judges the final files in a state that no earlier job could touch. A tool that is missing or crashed, and a service
    that did not answer, is "not_run" (raise CheckError, or say so); a suite that hangs on the code is "failed"; silence
    is never "passed". `Evidence.details` holds a kind of `Details` as plain data.
    """

    name: str

    def judge(self, project: Project, context: CheckContext, /) -> Evidence:
        """What this check says about the project. Long ones say how far they are through `context.tell`."""
        ...
