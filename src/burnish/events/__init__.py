"""The spine: everything that can happen in a run, as small frozen types, one file per family.

The agent emits events and does nothing else; the terminal, the store and every later reader consume one stream.
What travels between layers is defined here, so that nothing ever has to import upward.
"""

import json
from typing import Annotated

from pydantic import Field, TypeAdapter
from pydantic_core import PydanticSerializationError

from burnish.events.agent import (
    Answered,
    AnswerLost,
    Asked,
    CodeProposed,
    Compared,
    Decided,
    Message,
    ModelChunk,
    ModelReplied,
    ModelThought,
    Move,
    PlaceChosen,
    QuestionAnswered,
    QuestionAsked,
    QuestionOption,
    Refined,
    SpecAgreed,
    StepKind,
    StepMeasured,
    TestsProbed,
    Tweaked,
    WordedExample,
)
from burnish.events.apps import AppFile, AppJudged, AppPlanned, FunctionBegun, FunctionWritten, ModuleBuilt
from burnish.events.base import LATEST, BaseEvent, Count, Frozen
from burnish.events.checks import (
    Case,
    CheckFinished,
    CommandRan,
    Evidence,
    Failure,
    Graded,
    Mutated,
    NewTest,
    Outcome,
    Scored,
    Source,
    Strengthened,
    Survivor,
    TestsFrozen,
    TestsProposed,
    TestsRan,
)
from burnish.events.feedback import FeedbackGiven, FeedbackTakenBack, Rated, Reviewed, UserAnswered
from burnish.events.pages import (
    ConsoleLine,
    CriterionHeld,
    CriterionScore,
    CriterionTicked,
    PageError,
    PageJudged,
    PageObserved,
    PageRefused,
    PageScored,
    PageTold,
    PageWritten,
)
from burnish.events.run import (
    PROVEN,
    RECORD_VERSION,
    Applied,
    Broke,
    FilesWritten,
    Notice,
    PackagesAdded,
    Refused,
    Resumed,
    RunFinished,
    RunStarted,
    Stopped,
    Verdict,
)
from burnish.events.settings import AppFacts, FixFacts, PageFacts, Place, Recorded, RunSettings, StrengthenFacts
from burnish.text import replace_surrogates

Event = Annotated[
    RunStarted
    | Asked
    | ModelChunk
    | ModelThought
    | Notice
    | ModelReplied
    | AnswerLost
    | PackagesAdded
    | UserAnswered
    | SpecAgreed
    | PlaceChosen
    | TestsProposed
    | TestsFrozen
    | Refused
    | CodeProposed
    | Tweaked
    | Compared
    | TestsProbed
    | QuestionAsked
    | QuestionAnswered
    | TestsRan
    | CommandRan
    | Decided
    | Mutated
    | Strengthened
    | Refined
    | StepMeasured
    | Reviewed
    | CheckFinished
    | Stopped
    | Broke
    | RunFinished
    | Answered
    | Scored
    | FilesWritten
    | Applied
    | Resumed
    | Rated
    | FeedbackGiven
    | FeedbackTakenBack
    | PageWritten
    | PageRefused
    | PageTold
    | PageObserved
    | PageJudged
    | PageScored
    | CriterionTicked
    | AppPlanned
    | FunctionBegun
    | FunctionWritten
    | ModuleBuilt
    | AppJudged,
    Field(discriminator="kind"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def write_event(event: BaseEvent) -> bytes:
    """The event as one line of a record. Words with a lone surrogate, which UTF-8 cannot hold, get a mark instead."""
    try:
        return event.model_dump_json().encode() + b"\n"
    except PydanticSerializationError:
        text = json.dumps(event.model_dump(), ensure_ascii=False, default=str)
        return replace_surrogates(text).encode() + b"\n"


def read_event(line: str | bytes) -> Event:
    """The event that one line of a record holds."""
    return _EVENT.validate_json(line)


__all__ = [
    "PROVEN",
    "AnswerLost",
    "Answered",
    "AppFacts",
    "AppFile",
    "AppJudged",
    "AppPlanned",
    "Applied",
    "Asked",
    "BaseEvent",
    "Broke",
    "Case",
    "CheckFinished",
    "CodeProposed",
    "CommandRan",
    "Compared",
    "ConsoleLine",
    "Count",
    "CriterionHeld",
    "CriterionScore",
    "CriterionTicked",
    "Decided",
    "Event",
    "Evidence",
    "Failure",
    "FeedbackGiven",
    "FeedbackTakenBack",
    "FilesWritten",
    "FixFacts",
    "Frozen",
    "FunctionBegun",
    "FunctionWritten",
    "Graded",
    "LATEST",
    "Message",
    "ModelChunk",
    "ModelReplied",
    "ModelThought",
    "ModuleBuilt",
    "Move",
    "Mutated",
    "NewTest",
    "Notice",
    "Outcome",
    "PackagesAdded",
    "PageError",
    "PageFacts",
    "PageJudged",
    "PageObserved",
    "PageRefused",
    "PageScored",
    "PageTold",
    "PageWritten",
    "Place",
    "PlaceChosen",
    "QuestionAnswered",
    "QuestionAsked",
    "QuestionOption",
    "RECORD_VERSION",
    "Rated",
    "Recorded",
    "Refined",
    "Refused",
    "Resumed",
    "Reviewed",
    "RunFinished",
    "RunSettings",
    "RunStarted",
    "Scored",
    "Source",
    "SpecAgreed",
    "StepKind",
    "StepMeasured",
    "Stopped",
    "StrengthenFacts",
    "Strengthened",
    "Survivor",
    "TestsFrozen",
    "TestsProbed",
    "TestsProposed",
    "TestsRan",
    "Tweaked",
    "UserAnswered",
    "Verdict",
    "WordedExample",
    "read_event",
    "write_event",
]
