"""What people say: about assumptions, at a checkpoint, and about a run once it has ended.

The record is append-only: a change is a later `FeedbackGiven` with the same id, and taking back is an event too.
`fold_feedback` reads what stands now, with what was said on the way in the same words.
"""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from burnish.events.base import BaseEvent, Frozen

USER = "user"
"""Who says something, unless a name is given: nobody's name is read from the machine."""
MOST_CHARACTERS = 1_000_000
"""Of a text in feedback; it is the most that `evidence.json` takes."""
Text = Annotated[str, Field(max_length=MOST_CHARACTERS)]


class UserAnswered(BaseEvent):
    """The user was asked about something that the model would take for granted."""

    kind: Literal["user_answered"] = "user_answered"
    assumption: str
    words: str = ""
    """What holds instead; empty: the user agreed."""


class Reviewed(BaseEvent):
    """A person looked at what there was and said how to go on; it is feedback, and it stays with the run."""

    kind: Literal["reviewed"] = "reviewed"
    where: Literal["tests", "checks", "plan"]
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
    """Somebody said what they think of the run. Older records hold it; now it is `FeedbackGiven` with `Stars`."""

    kind: Literal["rated"] = "rated"
    stars: int = Field(ge=1, le=5)
    comment: str = ""


class Stars(Frozen):
    """How good it is, from 1 (useless) to 5 (just right)."""

    form: Literal["stars"] = "stars"
    stars: int = Field(ge=1, le=5)


class Thumbs(Frozen):
    """Good or not."""

    form: Literal["thumbs"] = "thumbs"
    up: bool


class Comment(Frozen):
    """Words alone."""

    form: Literal["comment"] = "comment"
    line: int | None = Field(default=None, ge=0, le=10**9)
    """Which line of the code (of the tests, where `about` says so) they are about; None: the whole."""
    about: Text = ""
    """For what was said on the way: the assumption, or "tests"."""


class Correction(Frozen):
    """What would have been right: other code, or tests that should hold, such as which call gives which value."""

    form: Literal["correction"] = "correction"
    code: Text = ""
    tests: Text = ""


class Preference(Frozen):
    """This run or version is better than another one."""

    form: Literal["preference"] = "preference"
    than_run: str = Field(max_length=100)
    than_version: int | None = Field(default=None, ge=0, le=10**9)
    """None: what the other run delivered."""


Opinion = Annotated[Stars | Thumbs | Comment | Correction | Preference, Field(discriminator="form")]


class FeedbackGiven(BaseEvent):
    """Somebody said what they think of a run, or of one version in it; with a known id it replaces what they said."""

    kind: Literal["feedback_given"] = "feedback_given"
    id: str = Field(max_length=100)
    opinion: Opinion
    words: Text = ""
    """Why, or for a comment what, in their own words."""
    version: int | None = Field(default=None, ge=0, le=10**9)
    """Which version it is about; None: the run as a whole."""
    by: str = Field(default=USER, max_length=100)
    simulated: bool = False
    """Whether a program stood in for a person."""
    given_in: Literal["rate", "review", "answer"] = "rate"
    """"review" and "answer": said on the way, and read from `Reviewed` and `UserAnswered`."""


class FeedbackTakenBack(BaseEvent):
    """What was said under this id no longer stands."""

    kind: Literal["feedback_taken_back"] = "feedback_taken_back"
    id: str
    by: str = USER
    simulated: bool = False


def fold_feedback(events: Iterable[BaseEvent]) -> tuple[FeedbackGiven, ...]:
    """What stands now, in the order in which it was said or last changed."""
    found: dict[str, FeedbackGiven] = {}
    for place, event in enumerate(events):
        match event:
            case FeedbackTakenBack():
                found.pop(event.id, None)
            case FeedbackGiven():
                found.pop(event.id, None)
                found[event.id] = event
            case Rated() | Reviewed() | UserAnswered():
                # The place in an append-only record never changes, so it serves as an id.
                found |= {given.id: given for given in _read_older(event, f"r{place}")}
    return tuple(found.values())


def _read_older(event: Rated | Reviewed | UserAnswered, name: str) -> Iterable[FeedbackGiven]:
    """What an event of another kind says, as feedback; nothing where a person only went on, agreed or stopped."""
    opinion: Opinion
    match event:
        case Rated():
            opinion, words, given_in = Stars(stars=event.stars), event.comment, "rate"
        case UserAnswered(words=words) if words:
            opinion, given_in = Comment(about=event.assumption[:MOST_CHARACTERS]), "answer"
        case Reviewed(said="edited", text=text, words=words):
            field = "tests" if event.where == "tests" else "code"
            opinion, given_in = Correction.model_validate({field: text[:MOST_CHARACTERS]}), "review"
        case Reviewed(said="comment" | "change", words=words):
            about = "tests" if event.where == "tests" else ""
            opinion, given_in = Comment(line=event.line, about=about), "review"
        case _:
            return
    words = words[:MOST_CHARACTERS]
    yield FeedbackGiven.model_validate(
        {"at": event.at, "id": name, "opinion": opinion, "words": words, "given_in": given_in}
    )
