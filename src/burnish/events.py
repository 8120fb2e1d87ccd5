"""The spine: everything that can happen in a run, as small frozen types.

The agent emits events and does nothing else; the terminal, the store and every later reader consume one stream.
What travels between layers is defined here, so that nothing ever has to import upward.
"""

import json
import re
import time
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator
from pydantic_core import PydanticSerializationError

from burnish.text import replace_surrogates

RECORD_VERSION = 1
"""Version of the run file. Raise it when an old file would read differently, and teach `runs.upgrade` the step."""

Verdict = Literal["proven", "plausible", "failed"]
Outcome = Literal["passed", "failed", "not_run"]
Source = Literal["given", "model"]
Count = Annotated[int, Field(ge=0, le=10**12)]
"""Of tokens."""


LATEST = 32_503_680_000.0
"""The last moment that a record may name, in the year 3000: beyond it no calendar of Python is safe."""


class Frozen(BaseModel):
    """Plain data that never changes and refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Case(Frozen):
    """What one test said."""

    name: str
    outcome: Outcome
    message: str = ""
    """For a failure: the assertion as written, then what was got instead, or the exception. Short."""
    seconds: float = 0.0


class Graded(Frozen):
    """What a whole test suite said about one piece of code, decided outside the process that ran the code."""

    cases: tuple[Case, ...] = ()
    problem: str = ""
    """Why there are no (or not all) cases: code that does not parse, a crash, a timeout. Empty when all is well."""
    not_run: bool = False
    """True when the job broke in the sandbox, so that nothing is known about the code."""
    timed_out: bool = False
    broke_cell: bool = False
    """True when the cell ended while it ran: mostly by taking all memory. What is missing then counts as failed."""
    separated: bool = True
    """False when expected values had to share a process with the code; reports label such a verdict."""
    shared: int = 0
    """How many of the tests that was so for; the others were judged apart."""
    seconds: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _find_not_run(cls, data: Any) -> Any:
        """Earlier records say it in the problem alone."""
        if isinstance(data, dict) and "not_run" not in data:
            return {**data, "not_run": str(data.get("problem", "")).startswith("the tests could not be run")}
        return data

    @property
    def passed(self) -> int:
        """How many tests passed."""
        return sum(case.outcome == "passed" for case in self.cases)

    @property
    def all_passed(self) -> bool:
        """True only when there was at least one test, each passed, and nothing went missing."""
        return bool(self.cases) and not self.problem and self.passed == len(self.cases)


class Evidence(Frozen):
    """One check's answer. A tool that crashed is "not_run"; silence is never "passed"."""

    check: str
    verdict: Outcome
    why: str
    figure: str = ""
    """What was measured, as people say it: "92 %", "3 findings"."""
    threshold: str = ""
    """What would have been enough: "at least 80 %"."""
    details: dict[str, object] = Field(default_factory=dict)


class Message(Frozen):
    """One turn of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


class BaseEvent(Frozen):
    """What every event has: the time it happened. No number in one is without end, or none at all (NaN)."""

    model_config = ConfigDict(allow_inf_nan=False)

    lasting: ClassVar[bool] = True
    """False for events that only a live reader wants; they are not stored."""
    at: float = Field(default_factory=time.time, ge=0, le=LATEST)


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
    continues: str | None = None


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
    prompt_version: str = ""


class ModelChunk(BaseEvent):
    """A few more characters of an answer that is still being written."""

    lasting: ClassVar[bool] = False
    kind: Literal["model_chunk"] = "model_chunk"
    ask_id: str
    text: str


class ModelThought(BaseEvent):
    """A few more characters of what a model says to itself before it answers."""

    lasting: ClassVar[bool] = False
    kind: Literal["model_thought"] = "model_thought"
    ask_id: str
    text: str


class Notice(BaseEvent):
    """Something a person who waits would like to know: weights are loading, another run has the cores."""

    lasting: ClassVar[bool] = False
    kind: Literal["notice"] = "notice"
    text: str
    stays: bool = False
    """Whether it is to be read later too, and so is not replaced by the next one."""


class ModelReplied(BaseEvent):
    """A whole answer."""

    kind: Literal["model_replied"] = "model_replied"
    ask_id: str
    purpose: str
    text: str
    tokens_in: Count
    tokens_out: Count
    seconds: float = Field(ge=0, le=LATEST)
    ended: Literal["stop", "length", "enough", "cut"] = "stop"
    """"length" when the answer hit its token limit, "enough" when the rest was not waited for, as all that was wanted
    was there, "cut" when it was interrupted or the server hung up."""
    dollars: float | None = Field(default=None, ge=0)
    """What it cost; None where the price is unknown, and in older records."""
    tokens_cached: Count = 0
    """Of those read, how many came from the provider's cache, and cost less."""
    tokens_thought: Count = 0
    """Of those written, how many were thoughts, which are not part of the text. Where the provider does not say, about
    as many as the thoughts that came would make."""
    model: str = ""
    """Who answered; empty in older records."""


class AnswerLost(BaseEvent):
    """An answer was lost on its way and is asked for again. It may have to be paid for all the same."""

    kind: Literal["answer_lost"] = "answer_lost"
    ask_id: str
    model: str
    tokens: Count
    """The most that were read and written."""
    dollars: float | None = Field(default=None, ge=0)
    """The most that it cost; None where the price is unknown."""


class SpecAgreed(BaseEvent):
    """What the code must look like and which tests the user's own words give."""

    kind: Literal["spec_agreed"] = "spec_agreed"
    entry_point: str
    signature: str
    given_tests: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    """What was taken for granted where the words leave it open."""


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
    seconds: float = 0.0


class UserAnswered(BaseEvent):
    """The user was asked about something that the model would take for granted."""

    kind: Literal["user_answered"] = "user_answered"
    assumption: str
    words: str = ""
    """What holds instead; empty: the user agreed."""


class TestsProposed(BaseEvent):
    """Tests the model wrote, one assertion each; what could not be used is counted."""

    __test__: ClassVar[bool] = False
    kind: Literal["tests_proposed"] = "tests_proposed"
    tests: tuple[str, ...]
    dropped: int = 0


class TestsFrozen(BaseEvent):
    """From here on the tests stand as they are: the judge runs these, and refuses to judge by others."""

    __test__: ClassVar[bool] = False
    kind: Literal["tests_frozen"] = "tests_frozen"
    sha256: str
    """Over the tests as they are run; of a project's own, their ids and the content of their files."""
    given: int
    model: int = 0
    more: int = 0
    """Made since for changes that went unnoticed, pinned ones too."""


class Refused(BaseEvent):
    """Something was not accepted: tests that are not the accepted ones any more, a file that changed meanwhile."""

    kind: Literal["refused"] = "refused"
    what: str
    why: str


class CodeProposed(BaseEvent):
    """A new version of the code, a whole module; `problem` says why it cannot even be run."""

    kind: Literal["code_proposed"] = "code_proposed"
    version: int
    code: str
    by: str
    ask_id: str = ""
    problem: str = ""
    no_answer: bool = False
    """True when the model's server failed, so that the empty code says nothing about the model."""
    round: int = 0
    """0 for the first drafts; each time the agent went back to the code adds one."""
    base: int | None = None
    """The version that it was made from; 0 is the code that was there before; None: written afresh."""
    mended: str = ""
    """What had to be done to the answer before it was code: "taken out of a JSON wrapper". Empty: nothing."""

    @model_validator(mode="before")
    @classmethod
    def _find_no_answer(cls, data: Any) -> Any:
        """Earlier records say it in the problem alone."""
        if isinstance(data, dict) and "no_answer" not in data:
            return {**data, "no_answer": str(data.get("problem", "")).startswith("the model did not answer: ")}
        return data


class TestsRan(BaseEvent):
    """One version met the tests."""

    __test__: ClassVar[bool] = False
    kind: Literal["tests_ran"] = "tests_ran"
    version: int
    graded: Graded
    basis: str = ""
    """Hash of the code and the tests that met; empty in older records."""


class CommandRan(BaseEvent):
    """One command finished in the sandbox, whatever its exit code."""

    kind: Literal["command_ran"] = "command_ran"
    command: str
    exit_code: int
    output: str
    timed_out: bool = False
    broke_cell: bool = False
    """True when the cell ended while it ran: mostly by taking all memory."""
    seconds: float = 0.0


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


class Survivor(Frozen):
    """One small change of the code that no test noticed."""

    key: str
    """mutmut's name for it."""
    line: int
    said: str
    """The change in a few words."""


class Mutated(BaseEvent):
    """A version that passes was broken in small ways, to see what its tests notice; pinned tests are left out."""

    kind: Literal["mutated"] = "mutated"
    version: int
    mutants: int
    """How many were tried."""
    noticed: int
    survivors: tuple[Survivor, ...] = ()
    why: str = ""
    """Where nothing could be tried: why."""
    seconds: float = 0.0


class NewTest(Frozen):
    """A test that notices a change which went unnoticed."""

    test: str
    origin: Literal["spec", "agreed", "pinned"]
    """Who says what is right: the task's own words, versions written independently, or nobody but the code."""
    notices: tuple[str, ...]
    """The changes, by mutmut's names."""
    why: str = ""
    """In a few words: "3 of 4 versions say so"."""


class Strengthened(BaseEvent):
    """Tests were added for what went unnoticed in one version."""

    kind: Literal["strengthened"] = "strengthened"
    version: int
    tests: tuple[NewTest, ...] = ()
    exposing: tuple[str, ...] = ()
    """Those of them that the version fails: it is wrong there, or they are."""
    noticed: int = 0
    """Mutants that are noticed now, without pinned tests."""
    pinned: int = 0
    """Mutants that only pinned tests notice."""
    alike: tuple[str, ...] = ()
    """Mutants that no input told apart from the code: probably they are no mistakes at all."""
    aside: bool = False
    """Whether exposing tests were set aside at once: no version passes them with all others, and none could be had."""
    why: str = ""
    """Where nothing was looked for: why."""
    seconds: float = 0.0


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


class Measured(BaseEvent):
    """Where the run stands: one row of the table that shows whether iterating paid."""

    kind: Literal["measured"] = "measured"
    after: str
    """What was done last: "first version", "new tests", "security"."""
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


class CheckFinished(BaseEvent):
    """A check gave its answer on the final files."""

    kind: Literal["check_finished"] = "check_finished"
    evidence: Evidence


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


class Answered(BaseEvent):
    """What a strategy would hand over if it had to stop here. Comes after each call, so that calls can be compared."""

    kind: Literal["answered"] = "answered"
    call: int
    """Calls made so far; 0 for what was found without asking."""
    round: int
    """Rounds so far; the first draft has 0."""
    version: int | None
    """None when there is nothing yet that could be run."""


class Scored(BaseEvent):
    """The scoring tests met one version. Nothing that asks the model ever reads this."""

    kind: Literal["scored"] = "scored"
    version: int
    passed: bool
    timed_out: bool = False
    why: str = ""
    """For a failure: the first failing test, or what went wrong. Short."""
    seconds: float = 0.0


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


class Resumed(BaseEvent):
    """The run was taken up again where it had been left."""

    kind: Literal["resumed"] = "resumed"
    answers: int
    """Answers of the model that were on record and are not asked for again."""
    burnish: str = ""
    settings: dict[str, object] = Field(default_factory=dict)
    """What differs from the run's beginning, such as limits that were raised."""


class Rated(BaseEvent):
    """Somebody said what they think of the run."""

    kind: Literal["rated"] = "rated"
    stars: int = Field(ge=1, le=5)
    comment: str = ""


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
    | TestsProposed
    | TestsFrozen
    | Refused
    | CodeProposed
    | Tweaked
    | Compared
    | TestsRan
    | CommandRan
    | Decided
    | Mutated
    | Strengthened
    | Refined
    | Measured
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
    | Rated,
    Field(discriminator="kind"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def write_event(event: BaseEvent) -> bytes:
    """The event as one line of a record. Words with a lone surrogate, which UTF-8 cannot hold, get a mark instead."""
    try:
        return event.model_dump_json().encode() + b"\n"
    except PydanticSerializationError:
        told = json.dumps(event.model_dump(), ensure_ascii=False, default=str)
        return replace_surrogates(told).encode() + b"\n"


def read_event(line: str | bytes) -> Event:
    """The event that one line of a record holds."""
    return _EVENT.validate_json(line)
