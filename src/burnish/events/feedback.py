"""What people say: about assumptions, at a checkpoint, and about the whole run."""

from typing import Literal

from pydantic import Field

from burnish.events.base import BaseEvent


class UserAnswered(BaseEvent):
    """The user was asked about something that the model would take for granted."""

    kind: Literal["user_answered"] = "user_answered"
    assumption: str
    words: str = ""
    """What holds instead; empty: the user agreed."""


class Reviewed(BaseEvent):
    """A person looked at what there was and said how to go on; it is feedback, and it stays with the run."""

    kind: Literal["reviewed"] = "reviewed"
    where: Literal["tests", "checks"]
    said: Literal["go_on", "change", "comment", "edited", "stop"]
    words: str = ""
    line: int | None = None
    """Which line a comment is about."""
    text: str = ""
    """For "edited": the file as the person wants it."""
    basis: str = ""
    """Hash of what was shown: the same is not asked twice."""
    seconds: float = 0.0
    """How long it took the person; no limit counts this."""


class Rated(BaseEvent):
    """Somebody said what they think of the run."""

    kind: Literal["rated"] = "rated"
    stars: int = Field(ge=1, le=5)
    comment: str = ""
