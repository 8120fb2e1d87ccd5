"""Something a check saw at one place in the code."""

from contextlib import suppress
from typing import Literal

from pydantic import ValidationError

from burnish.events import Evidence, Frozen

Severity = Literal["", "low", "medium", "high"]


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


def read_findings(item: Evidence) -> list[Finding]:
    """What a check found at places in the code, worst first. Anything that is not a finding is passed over."""
    rows = item.details.get("findings")
    found = []
    for row in rows if isinstance(rows, list) else ():
        with suppress(ValidationError):
            found.append(Finding.model_validate(row))
    return found
