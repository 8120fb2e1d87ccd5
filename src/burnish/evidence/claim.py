"""What became of one thing that the evidence says."""

from typing import Literal

from burnish.events import Frozen

Answer = Literal["holds", "does_not_hold", "not_tried"]


class Claim(Frozen):
    """One thing that is said, what was found here, and whether the two agree."""

    what: str
    """"tests", "coverage"…: the check; or "verdict", "record"."""
    answer: Answer
    said: str
    found: str = ""
    why: str = ""
    """In a few words; always there unless it holds."""
