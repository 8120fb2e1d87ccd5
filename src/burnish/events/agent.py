"""What the agent asks, hears, decides and proposes."""

import re
from enum import StrEnum
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from burnish.events.base import LATEST, BaseEvent, Count, Frozen
from burnish.events.run import Verdict


class Message(Frozen):
    """One turn of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


class Asked(BaseEvent):
    """A prompt is on its way to the model, exactly as it will be read."""

    kind: Literal["asked"] = "asked"
    ask_id: str
    purpose: str
    messages: tuple[Message, ...]
    temperature: float
    top_p: float
    max_tokens: int
    seed: int
    top_k: int = 40
    min_p: float = 0.05
    repetition_penalty: float = 1.0
    thinking: int = 0
    json_schema: str = ""
    stop: tuple[str, ...] = ()
    prompt_version: str = ""


class ModelChunk(BaseEvent):
    """A few more characters of an answer that is still being written."""

    lasting: ClassVar[bool] = False
    kind: Literal["model_chunk"] = "model_chunk"
    ask_id: str
    text: str
    instead: bool = False
    """Whether it stands for all that came of this answer before, which was taken for thoughts."""


class ModelThought(BaseEvent):
    """A few more characters of what a model says to itself before it answers."""

    lasting: ClassVar[bool] = False
    kind: Literal["model_thought"] = "model_thought"
    ask_id: str
    text: str
    instead: bool = False
    """Whether it stands for all that came before, which was taken for the answer."""


class ModelReplied(BaseEvent):
    """A whole answer."""

    kind: Literal["model_replied"] = "model_replied"
    ask_id: str
    purpose: str
    text: str
    tokens_in: Count
    tokens_out: Count
    seconds: float = Field(ge=0, le=LATEST)
    ended: Literal["stop", "length", "enough", "stop_string", "cut"] = "stop"
    """"length" when the answer hit its token limit, "enough" when the rest was not waited for, as all that was wanted
    was there, "stop_string" when a text came before which it was to end, "cut" when it was interrupted or the server
    hung up."""
    dollars: float | None = Field(default=None, ge=0)
    """What it cost; None where the price is unknown, and in older records."""
    tokens_cached: Count = 0
    """Of those read, how many came from the provider's cache, and cost less."""
    tokens_thought: Count = 0
    """Of those written, how many were thoughts, which are not part of the text. Where the provider does not say, about
    as many as the thoughts that came would make."""
    model: str = ""
    """Who answered; empty in older records."""
    waited_seconds: float = Field(default=0.0, ge=0, le=LATEST)
    """How long another process had the cores before the answer was begun; no part of `seconds`."""


class AnswerLost(BaseEvent):
    """An answer was lost on its way and is asked for again. It may have to be paid for all the same."""

    kind: Literal["answer_lost"] = "answer_lost"
    ask_id: str
    model: str
    tokens: Count
    """The most that were read and written."""
    dollars: float | None = Field(default=None, ge=0)
    """The most that it cost; None where the price is unknown."""


class WordedExample(Frozen):
    """An example that the words give without code ("7 gives 11"), as a model read it."""

    test: str
    quote: str
    """The words that it was read from, as they stand in the task."""


class SpecAgreed(BaseEvent):
    """What the code must look like and which tests the user's own words give."""

    kind: Literal["spec_agreed"] = "spec_agreed"
    entry_point: str
    signature: str
    given_tests: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    """What was taken for granted where the words leave it open: a call and what it gives, or the user's own words. In
    earlier records also other words of the model's.
    """
    open_questions: tuple[str, ...] = ()
    """What the model says is open, without deciding it."""
    worded: tuple[WordedExample, ...] = ()
    """Examples in words. Each decides once versions that were written independently pass it."""


class PlaceChosen(BaseEvent):
    """From here on another function of the file is repaired: the fault may be there."""

    kind: Literal["place_chosen"] = "place_chosen"
    function: str
    """Its dotted name."""
    version: int
    """The first version that may be written for it."""
    why: Literal["edits", "answer", "nothing", "again"]
    """Only small edits of this function pass; only an answer that repairs it does, though asked for another; the one
    before yielded nothing; none did, and this is the likeliest.
    """


class Move(Frozen):
    """One thing to do in a round."""

    kind: str
    """The node that does it: "draft", "rewrite" or "repair"; in earlier records also "reflect", "syntax", "repeat"."""
    version: int
    """The number of the version it makes."""
    round: int
    temperature: float = 0.0
    model: int = 0
    """Which of the run's models is asked: 0 is the first one named."""
    base: int | None = None
    """The version that it starts from; 0 is the code that was there before."""


class Decided(BaseEvent):
    """The agent chose what to do next, and why, in one plain sentence."""

    kind: Literal["decided"] = "decided"
    choice: str
    reason: str
    moves: tuple[Move, ...] = ()
    """What is done next, side by side."""
    check: str = ""
    """In a round for what a check found: which check, and what."""
    finding: str = ""

    @model_validator(mode="before")
    @classmethod
    def _split_reason(cls, data: Any) -> Any:
        """Earlier records have check and finding in the reason alone."""
        if isinstance(data, dict) and data.get("choice") == "refine" and "check" not in data:
            found = re.match(r"A round for (\w+): (.*)", str(data.get("reason")), re.DOTALL)
            return {**data, "check": found[1], "finding": found[2]} if found else data
        return data


class CodeProposed(BaseEvent):
    """A new version of the code, a whole module; `problem` says why it cannot even be run."""

    kind: Literal["code_proposed"] = "code_proposed"
    version: int
    code: str
    by: str
    ask_id: str = ""
    problem: str = ""
    round: int = 0
    """0 for the first drafts; each time the agent went back to the code adds one."""
    base: int | None = None
    """The version that it was made from; 0 is the code that was there before; None: written afresh."""
    mended: str = ""
    """What had to be done to the answer before it was code: "taken out of a JSON wrapper". Empty: nothing."""
    no_answer: bool = False
    """True when the model's server failed, so that the empty code says nothing about the model."""

    @model_validator(mode="before")
    @classmethod
    def _find_no_answer(cls, data: Any) -> Any:
        """Earlier records say it in the problem alone."""
        if isinstance(data, dict) and "no_answer" not in data:
            return {**data, "no_answer": str(data.get("problem", "")).startswith("the model did not answer: ")}
        return data


class Tweaked(BaseEvent):
    """Small edits of one version were tried without asking the model."""

    kind: Literal["tweaked"] = "tweaked"
    base: int
    """The version; 0 is the code that was there before."""
    tried: int
    passed: int
    """How many passed every given test."""
    seconds: float = 0.0


class Compared(BaseEvent):
    """Versions that pass the same tests were run on the same inputs, to see which of them behave alike."""

    kind: Literal["compared"] = "compared"
    groups: tuple[tuple[int, ...], ...]
    """Versions that gave the same answers, the group with most support first."""
    inputs: tuple[str, ...]
    """The calls they were compared on."""
    unchanged: tuple[int, ...] = ()
    """Versions that behave as the code did that is known to be wrong."""
    apart: str = ""
    """A call on which the first two groups differ, and what each says."""
    likeness: tuple[float, ...] = ()
    """For each group, from 0 to 1: on how many of the calls the model's other answers, those that fail a test included,
    give what it gives; empty in older records."""
    asked: tuple[str, ...] = ()
    """Of a repair: calls that failing tests make, as far as they could be written down."""
    kept: tuple[str, ...] = ()
    """Of a repair: calls that passing tests make, and calls near them, on which the old code is presumed right."""
    unasked: tuple[tuple[int, str], ...] = ()
    """Versions that do something else on one of those although as many answers as not do what the old code does, each
    with the call."""
    preferred: tuple[tuple[int, float], ...] = ()
    """How good a reward model finds each version, where one was named; it only breaks ties."""
    preferred_by: str = ""
    """Which reward model that is, and the beginning of its hash."""


class TestsProbed(BaseEvent):
    """Small edits of a version met the tests that decide: how much do those notice?"""

    __test__: ClassVar[bool] = False  # pytest would take the name for a class of tests
    kind: Literal["tests_probed"] = "tests_probed"
    version: int
    tests: int
    """How many there were: an answer of the user's adds one."""
    tried: int
    noticed: int
    """Edits that fail a test."""
    inputs: int = 0
    """Calls of the version itself that were made; 0 in older records."""
    raised: int = 0
    """Calls that gave no value."""
    values: int = 0
    """Different values that the others gave: code that mostly says False is easily agreed with."""


class QuestionOption(Frozen):
    """One answer that versions give to the call in question."""

    value: str
    """As Python writes it, or "raises ValueError"."""
    versions: tuple[int, ...] = ()
    votes: float = 0.0


class QuestionAsked(BaseEvent):
    """Versions that pass the same tests differ on a call, and the user may say what it should give.

    It stays open where nobody is there to answer.
    """

    kind: Literal["question_asked"] = "question_asked"
    id: str
    call: str
    options: tuple[QuestionOption, ...]
    """What versions give, most votes first; a few at most."""
    why: str = ""


class QuestionAnswered(BaseEvent):
    """What the call in question should give; the answer is a given test from here on."""

    kind: Literal["question_answered"] = "question_answered"
    id: str
    said: Literal["option", "value", "any"]
    """One of the options, a value of the user's own, or that any will do."""
    value: str = ""
    test: str = ""
    """The test that it became; empty where any will do."""
    by: Literal["person", "simulated", "later"] = "person"
    """"later": a person, once the run had ended; "simulated": the reference, in an evaluation."""
    seconds: float = 0.0
    """How long it took the person; no limit counts this."""


class Refined(BaseEvent):
    """One round for what a check found; its result is kept only if it is better and nothing else is worse."""

    kind: Literal["refined"] = "refined"
    check: str
    base: int
    version: int | None
    """The best that came of it; None where nothing did."""
    kept: bool
    before: str
    after: str = ""
    """The check's figure."""
    why: str = ""
    seconds: float = 0.0


class StepKind(StrEnum):
    """What a row of figures may stand after, in the words of the record."""

    FIRST = "first version"
    ROUND = "round"
    """With its number behind it."""
    NEW_TESTS = "new tests"
    CHECK = "check"
    """A round for what a check found: the record has the name of the check instead."""
    END = "the end"


class StepMeasured(BaseEvent):
    """Where the run stands: one row of the table that shows whether iterating paid."""

    kind: Literal["measured"] = "measured"
    after: str
    """What was done last: "first version", "round 2", "new tests", "security"."""
    version: int
    passed: int
    tests: int
    lines: int
    mutation: float | None = None
    """Percent of the mutants that are noticed; None where it was not measured."""
    quality: float | None = None
    """Maintainability by radon, 0 to 100; None where it was not measured."""
    seconds: float = 0.0
    """Since the run began."""
    tokens: int = 0
    """Read and written so far."""

    @property
    def step(self) -> StepKind:
        """The kind of step that it stands after."""
        word = self.after.split(" ")[0] if self.after.startswith(f"{StepKind.ROUND} ") else self.after
        return StepKind(word) if word in {*StepKind} else StepKind.CHECK


class Answered(BaseEvent):
    """What a strategy would hand over if it had to stop here. Comes after each call, so that calls can be compared."""

    kind: Literal["answered"] = "answered"
    call: int
    """Calls made so far; 0 for what was found without asking."""
    round: int
    """Rounds so far; the first draft has 0."""
    version: int | None
    """None when there is nothing yet that could be run."""
    confidence: float | None = None
    """How likely the strategy holds it to be right; None for one that does not say, and in older records."""
    verdict: Verdict | None = None
    """What the user would be told of it; None for one that does not say, and in older records."""
    answers: int = 0
    """Questions that were answered by then, do-not-cares too."""
