"""Something a check saw at one place in the code."""

from typing import Literal

from burnish.events import Frozen

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
