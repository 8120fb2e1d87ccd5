"""What happens to a live page: code is put into it, runs, is observed and scored, cycle by cycle."""

from typing import Literal

from pydantic import Field

from burnish.events.base import BaseEvent, Frozen

Kill = Literal["", "busy", "memory", "left", "closed", "crashed", "time"]
"""Why a page was ended: it answered no more, took too much memory, went elsewhere, was closed, broke down, ran too
long. Empty: it was not."""


class PageError(Frozen):
    """Something that went wrong in the page."""

    kind: Literal["syntax", "exception", "rejection", "blocked", "unseen"]
    """"blocked": the page tried what its policy forbids; "unseen": what it made cannot be seen, or is gone."""
    message: str
    line: int | None = None
    """Of the code of that cycle, from 1."""
    cycle: int


class ConsoleLine(Frozen):
    """One line of the page's console."""

    level: Literal["log", "info", "warn", "error", "debug"]
    text: str
    line: int | None = None


class PageWritten(BaseEvent):
    """A version of the page's code is there."""

    kind: Literal["page_written"] = "page_written"
    cycle: int = Field(ge=1)
    code: str
    repaired: str = ""
    """What had to be done to the answer before it was code, where the protocol was misunderstood; empty: nothing."""
    ask_id: str = ""


class PageRefused(BaseEvent):
    """An answer held no code that could be put into the page."""

    kind: Literal["page_refused"] = "page_refused"
    cycle: int
    why: str
    """As it is sent back to the model."""


class PageTold(BaseEvent):
    """The page called the agent through its channel, or was answered."""

    kind: Literal["page_told"] = "page_told"
    cycle: int
    tool: Literal["log", "done", "give_up", "ask", "answer"]
    """"answer": what the model replied to `ask`."""
    text: str


class PageObserved(BaseEvent):
    """What a version did once it ran. The page may have been killed before any of it was known."""

    kind: Literal["page_observed"] = "page_observed"
    cycle: int
    value: str = ""
    """What the code returned, as JSON; empty where it returned nothing."""
    errors: tuple[PageError, ...] = ()
    console: tuple[ConsoleLine, ...] = ()
    frames_per_second: float | None = None
    heap_bytes: int | None = None
    heap_growth_bytes: int | None = None
    """From the beginning of the observation to its end."""
    nodes: int | None = None
    canvas: Literal["none", "blank", "drawn", "moving"] = "none"
    killed: Kill = ""
    seconds: float = 0.0
    overhead_seconds: float = 0.0
    """What we spent ourselves, beside the model and the time that was meant for watching."""
    screenshot: str = ""
    """A file in the run's folder; empty where there is none."""
    recording: str = ""
    own_memory_bytes: int | None = None
    """Of our own process, to show that it does not grow."""
    context_tokens: int | None = None


class CriterionHeld(Frozen):
    """Whether a version meets one criterion of a rubric."""

    name: str
    holds: bool | None
    """None: not judged, since its probe broke, or the page was gone."""
    why: str = ""


class PageJudged(BaseEvent):
    """What is to be put right, and what exactly is sent back to the model; nothing where all is as it should be."""

    kind: Literal["page_judged"] = "page_judged"
    cycle: int
    held: tuple[CriterionHeld, ...] = ()
    """The criteria that a probe has judged on this version; none without a case."""
    thrown: tuple[PageError, ...] = ()
    """What went wrong only while probes used the page."""
    findings: tuple[str, ...] = ()
    sent: str = ""


class CriterionScore(Frozen):
    """What one criterion of a rubric gave."""

    name: str
    what: str
    points: int
    """That it gave, decay included."""
    of: int
    by: Literal["probe", "person"]
    holds: bool | None
    """None: not judged (a probe that broke, a person who has not looked)."""
    cycle: int | None = None
    """The first in which it held and went on to hold; None where it did not."""
    why: str = ""


class PageScored(BaseEvent):
    """The rubric of the case, judged on the version that is handed over."""

    kind: Literal["page_scored"] = "page_scored"
    case: str
    criteria: tuple[CriterionScore, ...]
    points: int
    of: int
    follow_ups: int = 0


class CriterionTicked(BaseEvent):
    """A person said whether a criterion holds."""

    kind: Literal["criterion_ticked"] = "criterion_ticked"
    case: str
    name: str
    holds: bool | None
    """None: what was said before is taken back."""
    by: str = ""
