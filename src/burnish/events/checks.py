"""What tests and checks say of the code, and what small changes of it they notice."""

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from burnish.events.base import BaseEvent, Frozen
from burnish.text import plural

Outcome = Literal["passed", "failed", "not_run"]
Source = Literal["given", "model"]
Failure = Literal["", "wrong_value", "raised", "timed_out", "ended"]


class Case(Frozen):
    """What one test said."""

    name: str
    outcome: Outcome
    message: str = ""
    """For a failure: the assertion as written, then what was got instead, or the exception. Short."""
    seconds: float = 0.0
    how: Failure = ""
    """How it failed: an assertion did not hold, something was raised, or no answer came because of the time limit or
    another end of the tests. Empty for all others, where nobody said, and in older records.
    """


class Graded(Frozen):
    """What a whole test suite said about one piece of code, decided outside the process that ran the code."""

    cases: tuple[Case, ...] = ()
    problem: str = ""
    """Why there are no (or not all) cases: code that does not parse, a crash, a timeout. Empty when all is well."""
    timed_out: bool = False
    broke_cell: bool = False
    """True when the cell ended while it ran: mostly by taking all memory. What is missing then counts as failed."""
    separated: bool = True
    """False when expected values had to share a process with the code; reports label such a verdict."""
    shared: int = 0
    """How many of the tests that was so for; the others were judged apart."""
    not_run: bool = False
    """True when the job broke in the sandbox, so that nothing is known about the code."""
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
    figure: str = ""
    """The share that is noticed, as the mutation check shows it; empty where only the counts are known."""
    equivalent: int = 0
    """Further ones that no test notices and no input tells from the code: they do not count."""
    inputs: int = 0
    """On so many inputs."""
    survivors: tuple[Survivor, ...] = ()
    why: str = ""
    """Where nothing could be tried: why."""
    seconds: float = 0.0


def describe_equivalent(mutants: int, inputs: int) -> str:
    """Mutants that do not count: "3 more behave the same on 212 inputs and do not count"; empty where there is none."""
    behave, count = ("behaves", "does") if mutants == 1 else ("behave", "do")
    return f"{mutants} more {behave} the same on {plural(inputs, 'input')} and {count} not count" if mutants else ""


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


class CheckFinished(BaseEvent):
    """A check gave its answer on the final files."""

    kind: Literal["check_finished"] = "check_finished"
    evidence: Evidence


class Scored(BaseEvent):
    """The scoring tests met one version. Nothing that asks the model ever reads this."""

    kind: Literal["scored"] = "scored"
    version: int
    passed: bool
    timed_out: bool = False
    why: str = ""
    """For a failure: the first failing test, or what went wrong. Short."""
    seconds: float = 0.0
