"""One attempt: the strategy first, then the scoring tests, and every failure has its owner on record."""

import threading
from collections.abc import Iterator

import pytest

from burnish.agent.ask import Tools, ask
from burnish.errors import ModelError
from burnish.evals.metrics import count_attempt
from burnish.evals.runner import model_for_task, open_task_model, stream_attempt
from burnish.evals.schema import Plan
from burnish.evals.strategies.strategy import Puzzle
from burnish.evals.verdicts import measure_verdicts
from burnish.events import Answered, Broke, CodeProposed, Event, Message, RunStarted, Scored
from burnish.models.model import Ask
from burnish.models.scripted import ScriptedModel
from burnish.runs.attempt import Resources
from burnish.sandbox import Sandbox
from burnish.sandbox.sandbox import NO_KINDS, Kinds
from burnish.search.edits import EditCache
from tests.evals.toys import BUGGY, GOLD, toy
from tests.support import block

PLAN = Plan(suite="toys", model="scripted:inline", strategy="single")
HELLO = Ask(purpose="draft", messages=(Message(role="user", content="hello"),))


class Says:
    """A strategy that makes one call for each of its versions and answers with each in turn."""

    name = "says"
    timeout_seconds = 5.0

    def __init__(self, *codes: str, problem: str = "", fails: Exception | None = None) -> None:
        self.codes, self.problem, self.fails = codes, problem, fails
        self.seen: list[Puzzle] = []
        self.tools: list[Tools] = []

    def calls(self, plan: Plan) -> int:
        return len(self.codes)

    def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
        self.seen.append(puzzle)
        self.tools.append(tools)
        for number, code in enumerate(self.codes, 1):
            yield from ask(tools, f"ask-{number}", HELLO)
            yield CodeProposed(version=number, code=code, by="draft", problem=self.problem)
            yield Answered(call=number, round=number - 1, version=number)
        if self.fails:
            raise self.fails


class Counting:
    """A sandbox that counts what it grades."""

    kind = level = "counting"

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.timeouts: list[float] = []

    def grade(self, code: str, tests: str, timeout_seconds: float = 10.0, kinds: Kinds = NO_KINDS) -> object:
        self.timeouts.append(timeout_seconds)
        return self.box.grade(code, tests, timeout_seconds, kinds)


def tried(box: object, strategy: Says, plan: Plan = PLAN) -> list[Event]:
    model = ScriptedModel(["hello"])
    return [
        event
        for event in stream_attempt(toy(3), plan, 0, Resources([model], sandbox=box), strategy)  # type: ignore[arg-type]
        if event.lasting
    ]


def scores(events: list[Event]) -> list[tuple[int, bool]]:
    return [(event.version, event.passed) for event in events if isinstance(event, Scored)]


def test_every_answer_is_scored_after_the_last_call_and_the_same_code_runs_once(box: Sandbox) -> None:
    counting = Counting(box)
    good, bad = GOLD.format(n=3), BUGGY.format(n=3)
    events = tried(counting, Says(bad, good, bad))
    assert scores(events) == [(1, False), (2, True), (3, False)]
    assert counting.timeouts == [5.0, 5.0]
    assert [event.kind for event in events[-3:]] == ["scored"] * 3
    assert "add_3(2) == 5" in [event.why for event in events if isinstance(event, Scored)][0]


def test_a_version_that_was_never_the_answer_is_not_scored(box: Sandbox) -> None:
    class Unsure(Says):
        def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
            for event in super().solve(puzzle, plan, seed, tools):
                yield event.model_copy(update={"version": 1}) if isinstance(event, Answered) else event

    assert scores(tried(box, Unsure(GOLD.format(n=3), BUGGY.format(n=3)))) == [(1, True)]


def test_a_boast_of_a_strategy_is_kept_and_held_against_it(box: Sandbox) -> None:
    class Boasting(Says):
        def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
            said = {"confidence": 0.99, "verdict": "proven"}
            for event in super().solve(puzzle, plan, seed, tools):
                yield event.model_copy(update=said) if isinstance(event, Answered) else event

    events = [tried(box, Boasting(code.format(n=3))) for code in (GOLD, BUGGY)]
    found = measure_verdicts([count_attempt(f"t{place}", 0, one)] for place, one in enumerate(events))
    assert found
    assert (found.proven, found.right, round(found.ece.value, 2)) == (2, 1, 0.49)


def test_what_cannot_be_run_is_failed_without_a_run(box: Sandbox) -> None:
    counting = Counting(box)
    events = tried(counting, Says("def", problem="it does not parse"))
    assert [(event.passed, event.why) for event in events if isinstance(event, Scored)] == [
        (False, "it does not parse")
    ]
    assert counting.timeouts == []


def test_a_strategy_s_own_time_limit_is_used_for_scoring_too(box: Sandbox) -> None:
    counting, strategy = Counting(box), Says(GOLD.format(n=3))
    strategy.timeout_seconds = 6.0
    tried(counting, strategy)
    assert (counting.timeouts, strategy.seen[0].timeout_seconds) == ([6.0], 6.0)


@pytest.mark.parametrize(("protocol", "shown"), [("visible", False), ("oracle", True)])
def test_the_strategy_never_gets_gold_and_scoring_tests_only_by_protocol(
    box: Sandbox, protocol: str, shown: bool
) -> None:
    strategy = Says(GOLD.format(n=3))
    started = tried(box, strategy, PLAN.model_copy(update={"protocol": protocol}))[0]
    assert ("add_3(-5)" in strategy.seen[0].model_dump_json()) == shown
    assert strategy.seen[0].task.gold == ""
    assert isinstance(started, RunStarted)
    assert (started.run_id, started.verb) == ("toy-3.0", "eval")
    assert "add_3(-5)" not in started.model_dump_json()


def test_an_attempt_that_breaks_keeps_what_it_said_and_is_not_scored(box: Sandbox) -> None:
    events = tried(box, Says(GOLD.format(n=3), fails=ModelError("the server hung up")))
    assert isinstance(events[-1], Broke)
    assert (events[-1].error, events[-1].message) == ("ModelError", "the server hung up")
    assert "code_proposed" in [event.kind for event in events]
    assert scores(events) == []


def test_our_own_bug_is_said_and_then_raised(box: Sandbox) -> None:
    said: list[Event] = []
    strategy = Says(GOLD.format(n=3), fails=KeyError("ours"))
    with pytest.raises(KeyError, match="ours"):
        said.extend(
            _each(stream_attempt(toy(3), PLAN, 0, Resources([ScriptedModel(["x"])], sandbox=box), strategy), said)
        )
    assert isinstance(said[-1], Broke)


def _each(events: Iterator[Event], said: list[Event]) -> Iterator[Event]:
    for event in events:
        said.append(event)
    yield from ()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "passed"), [("scripted:gold", True), ("scripted:buggy", False)])
@pytest.mark.parametrize("strategy", ["single", "retry", "reflect", "burnish"])
@pytest.mark.parametrize("protocol", ["visible", "oracle"])
def test_gold_solves_and_buggy_fails_under_every_strategy_and_protocol(
    box: Sandbox, name: str, passed: bool, strategy: str, protocol: str
) -> None:
    plan = Plan(suite="toys", model=name, strategy=strategy, protocol=protocol, rounds=1)  # type: ignore[arg-type]
    task = toy(3).model_copy(update={"base_code": "def add_3(x):\n    return str(x)\n"})  # no small edit mends it
    events = list(stream_attempt(task, plan, 0, Resources([model_for_task(task, open_task_model(name))], sandbox=box)))
    assert not [event for event in events if isinstance(event, Broke)]
    final = [event for event in events if isinstance(event, Answered)][-1]
    assert dict(scores(events))[final.version or 0] == passed


def test_without_buggy_code_the_buggy_model_answers_with_a_stub(box: Sandbox) -> None:
    task = toy(3).model_copy(update={"base_code": ""})
    events = list(
        stream_attempt(task, PLAN, 0, Resources([model_for_task(task, open_task_model("scripted:buggy"))], sandbox=box))
    )
    assert scores(events) == [(1, False)]


def test_a_script_starts_afresh_in_every_attempt() -> None:
    model = ScriptedModel([block("one"), block("two")])
    first, second = model_for_task(toy(1), model), model_for_task(toy(1), model)
    heard = [next(iter(one.stream(HELLO, threading.Event()))) for one in (first, second)]
    assert heard[0] == heard[1]


def test_attempts_of_one_evaluation_share_what_was_found_and_an_error_of_the_model_ends_them(box: Sandbox) -> None:
    edits, strategy = EditCache(), Says(GOLD)
    for seed in (0, 1):
        model = ScriptedModel(["hello"])
        list(stream_attempt(toy(3), PLAN, seed, Resources([model], sandbox=box, edits=edits), strategy))
    assert [tools.edits is edits for tools in strategy.tools] == [True, True]
    assert all(tools.errors_end for tools in strategy.tools)
