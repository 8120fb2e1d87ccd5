"""`burnish`: our own agent, whatever it becomes, on the same puzzles as the others."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from burnish.agent.ask import Tools
from burnish.agent.confidence import weigh
from burnish.agent.limits import Limits, Meter
from burnish.agent.policy import passes
from burnish.agent.state import AgentState
from burnish.evals.schema import Asking, Plan
from burnish.evals.strategies.baselines import seed_for_call
from burnish.evals.strategies.prompts import find_asserts, resolve_asking
from burnish.evals.strategies.strategy import Puzzle
from burnish.events import Answered, Compared, Event, ModelReplied, QuestionAnswered, TestsFrozen, TestsProbed, TestsRan
from burnish.runs.attempt import solve
from burnish.tasks.task import NO_WORDS, Task

MOST_TOKENS, MOST_SECONDS = 1_000_000, 3600.0
"""Far more than an attempt needs: under an evaluation only rounds and calls end the work, on every machine alike."""


class Burnish:
    """The agent's graph, told as a strategy: what it holds to be its best version is its answer."""

    name = "burnish"
    timeout_seconds = 5.0
    left_out: tuple[str, ...] = ("own_tests", "packages", "strengthen", "refine", "checks")
    """What a run of `write` does besides. Only tests count here, and what follows them costs time."""
    own_tests = False
    """Whether the model writes tests too, where code is to be written."""

    def calls(self, plan: Plan) -> int:
        """As many as `retry` and `reflect` may make, so that they can be compared."""
        return plan.rounds + 1

    def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
        """Everything the graph says, and after each run of the tests the best version so far."""
        task = task_for(puzzle, plan.ask, self.own_tests)
        limits = Limits(
            rounds=plan.rounds,
            calls=self.calls(plan),
            tokens=MOST_TOKENS,
            seconds=MOST_SECONDS,
            max_tokens=plan.max_tokens,
            thinking=plan.thinking,
        )
        own = replace(
            tools,
            meter=Meter(limits),
            seed=tools.seed + seed_for_call(seed, 0),
            without=frozenset(plan.without),
            confidence=plan.confidence,
        )
        yield from add_answers(task, solve(task, own))


class BurnishWithTests(Burnish):
    """The same, with tests that the model writes, as in `write`: one call more."""

    name = "burnish-tests"
    left_out = ("packages", "strengthen", "refine", "checks")
    own_tests = True

    def calls(self, plan: Plan) -> int:
        """One more, for the tests."""
        return plan.rounds + 2


def task_for(puzzle: Puzzle, ask: Asking, own_tests: bool = False) -> Task:
    """The puzzle as a task of the agent's: the tests it may see decide, and the buggy code is there if it is to fix."""
    task = puzzle.task
    broken = resolve_asking(task, ask) == "fix"
    prompt = task.prompt if task.prompt.strip() else NO_WORDS.format(name=task.entry_point)
    changes = {"prompt": prompt, "visible_tests": split_tests(puzzle), "broken": broken}
    changes |= {"own_tests": own_tests and not broken}
    return task.model_copy(update=changes if broken else {**changes, "base_code": ""})


def split_tests(puzzle: Puzzle) -> tuple[str, ...]:
    """Test bodies: the examples as they are; a script of asserts one by one, any other script as one."""
    shown = puzzle.task.visible_tests
    if puzzle.tests == "\n".join(shown):
        return shown
    return find_asserts(puzzle.tests, puzzle.task.entry_point) or (puzzle.tests.strip(),)


def add_answers(task: Task, stream: Iterator[Event]) -> Iterator[Event]:
    """The agent's events, and its answer whenever that can have changed."""
    so_far: list[Event] = []
    latest: Answered | None = None
    regrading = False
    for event in stream:
        so_far += [event] if event.lasting else []
        yield event
        # After an answered question all versions meet the tests again: only then is it clear which is the best.
        was_regrading = regrading
        regrading = isinstance(event, QuestionAnswered) or (regrading and isinstance(event, TestsFrozen | TestsRan))
        if not regrading and (was_regrading or isinstance(event, TestsRan | Compared | TestsProbed)):
            latest = current_answer(task, so_far)
            yield latest
    last = current_answer(task, so_far)
    if last.call and last != (latest and latest.model_copy(update={"at": last.at})):
        yield last


def current_answer(task: Task, events: Sequence[Event]) -> Answered:
    """What the agent would hand over now, how sure it is of that, and what it would call it."""
    work = AgentState(task, events)
    calls = sum(isinstance(event, ModelReplied) for event in events)
    answers, best = len(work.run.all(QuestionAnswered)), work.best
    if best is None:
        return Answered(call=calls, round=work.round, version=None, answers=answers)
    found, good = weigh(work, best), passes(work)
    return Answered(
        call=calls,
        round=work.round,
        version=best.number,
        answers=answers,
        confidence=found.share if good else 0.0,  # code that fails what was given is known to be wrong
        verdict="failed" if not good else "proven" if found.proves else "plausible",
    )
