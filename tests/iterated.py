"""A run that went on once its tests passed: tests for what went unnoticed, two rounds for checks, a person's word."""

from burnish.events import (
    Asked,
    Case,
    CheckFinished,
    CodeProposed,
    Decided,
    Event,
    Evidence,
    Graded,
    Message,
    ModelReplied,
    Move,
    Mutated,
    NewTest,
    Refined,
    Reviewed,
    RunFinished,
    RunStarted,
    SpecAgreed,
    StepMeasured,
    Stopped,
    Strengthened,
    Survivor,
    TestsFrozen,
    TestsProposed,
    TestsRan,
)
from burnish.runs import Run

CODE = "def f(n):\n    return n if n > 0 else eval('0')\n"
SAFE = "def f(n):\n    return n if n > 0 else 0\n"
AGREED, SPEC, PINNED = "assert f(1) == 1", "assert f(0) == 0", "assert f(-9) == 0"
SURVIVORS = tuple(
    Survivor(key=f"solution.x_f__mutmut_{number}", line=2, said=said)
    for number, said in enumerate(
        ("`n > 0` becomes `n >= 0`", "`0` becomes `1`", "`'0'` becomes `''`", "`else` is removed", "`n` is removed"), 1
    )
)
KEYS = [one.key for one in SURVIVORS]
NEW = (
    NewTest(test=AGREED, origin="agreed", notices=(KEYS[0],), why="3 of 4 versions say so"),
    NewTest(test=SPEC, origin="spec", notices=(KEYS[1],)),
    NewTest(test=PINNED, origin="pinned", notices=(KEYS[2],)),
)


def asked(ask_id: str, purpose: str, tokens: int) -> tuple[Event, Event]:
    question = Asked(
        ask_id=ask_id,
        purpose=purpose,
        messages=(Message(role="user", content="?"),),
        temperature=0.0,
        top_p=1.0,
        max_tokens=100,
        seed=0,
    )
    answer = ModelReplied(ask_id=ask_id, purpose=purpose, text="!", tokens_in=tokens, tokens_out=2, seconds=1.0)
    return question, answer


def ran(version: int, *names: str) -> TestsRan:
    cases = tuple(Case(name=name, outcome="passed") for name in names)
    return TestsRan(version=version, graded=Graded(cases=cases))


def row(after: str, version: int, tests: int, mutation: float | None, seconds: float, tokens: int) -> StepMeasured:
    return StepMeasured(
        after=after,
        version=version,
        passed=tests,
        tests=tests,
        lines=2,
        mutation=mutation,
        quality=81.4,
        seconds=seconds,
        tokens=tokens,
    )


NAMES = ("test_given_1", "test_model_1")
MORE = (*NAMES, "test_added_1", "test_added_2", "test_pinned_1")
EVENTS: tuple[Event, ...] = (
    RunStarted(
        run_id="f-1a2b",
        verb="write",
        prompt="a function f(n), e.g. f(3) == 3",
        model="local:small",
        burnish="0",
        settings={"afterwards": ["refine", "strengthen"]},
    ),
    SpecAgreed(entry_point="f", signature="f(n)", given_tests=("assert f(3) == 3",)),
    Decided(choice="begin", reason="Nothing is written yet.", moves=(Move(kind="draft", version=1, round=0),)),
    *asked("draft-1", "draft", 40),
    TestsProposed(tests=("assert f(-1) == 0",)),
    TestsFrozen(sha256="a" * 64, given=1, model=1),
    CodeProposed(version=1, code=CODE, by="draft", ask_id="draft-1"),
    ran(1, *NAMES),
    Decided(choice="judge", reason="Version 1 passes all tests that count."),
    Mutated(version=1, mutants=8, noticed=3, survivors=SURVIVORS, seconds=2.0),
    row("first version", 1, 2, 37.5, 5.0, 42),
    *asked("expect-1", "expect", 60),
    Strengthened(version=1, tests=NEW, noticed=5, pinned=1, alike=(KEYS[3],), seconds=4.0),
    TestsFrozen(sha256="b" * 64, given=1, model=1),
    ran(1, *MORE),
    row("new tests", 1, 4, 62.5, 9.0, 104),
    *asked("security-2", "security", 30),
    CodeProposed(version=2, code=SAFE, by="security", base=1),
    ran(2, *MORE),
    Refined(check="security", base=1, version=2, kept=True, before="1 finding", after="no finding", seconds=3.0),
    row("security", 2, 4, None, 12.0, 136),
    *asked("quality-3", "quality", 30),
    Refined(check="quality", base=2, version=3, kept=False, before="60 of 100", why="a test was lost", seconds=2.5),
    Reviewed(where="checks", said="comment", words="why not max(n, 0)?", line=2),
    Reviewed(where="checks", said="go_on"),
    Stopped(reason="done"),
    CheckFinished(evidence=Evidence(check="tests", verdict="passed", why="all 4 tests passed")),
    CheckFinished(evidence=Evidence(check="performance", verdict="passed", why="it grows as n does")),
    row("the end", 2, 4, 75.0, 15.0, 168),
    RunFinished(verdict="proven", why="your example passes", version=2),
)


def iterated() -> Run:
    return Run(EVENTS)
