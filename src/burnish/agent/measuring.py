"""Where a run stands after each step that counts: the rows that show whether iterating paid.

Rows are made from events alone, never by running anything, so a run that is taken up again makes the same ones.
"""

from collections.abc import Callable, Iterator, Sequence

from burnish.agent.ask import Tools
from burnish.agent.work import Work
from burnish.checks.quality.complexity import index
from burnish.checks.quality.module import Module
from burnish.errors import CheckError
from burnish.events import (
    CheckFinished,
    Decided,
    Event,
    Measured,
    ModelReplied,
    Mutated,
    Refined,
    RunFinished,
    Strengthened,
)
from burnish.runs.run import Run, Version
from burnish.tasks.task import Task

FIRST, NEW_TESTS, END = "first version", "new tests", "the end"
"""What a row may stand after, beside "round 2" and the name of the check that a round was for."""


def measuring(
    node: Callable[[Work, Tools], Iterator[Event]], task: Task, events: Sequence[Event], tools: Tools
) -> Iterator[Event]:
    """All that a node does, and a row wherever the run has come a step further.

    Not in evaluations, where nothing follows the tests.
    """
    wanted = bool(tools.afterwards or tools.checks)
    so_far, met_anew = list(events), False
    for event in node(Work(task, events), tools):
        if wanted and isinstance(event, RunFinished):
            yield from _row(task, so_far, END, tools, event.version)
        yield event
        so_far += [event] if event.lasting else []
        met_anew = met_anew or (isinstance(event, Strengthened) and bool(event.tests))
        if wanted and isinstance(event, Decided | Mutated):
            yield from _round_over(task, so_far, tools)
        if wanted and isinstance(event, Refined) and event.kept:
            yield from _row(task, so_far, event.check, tools, event.version)
    if wanted and met_anew:  # once the versions have met the new tests
        yield from _row(task, so_far, NEW_TESTS, tools)


def measured(
    task: Task, events: Sequence[Event], after: str, version: int | None = None, seconds: float = 0.0
) -> Measured | None:
    """The row for a version, else for the best one; None where no version has met the tests."""
    work = Work(task, events)
    found = work.best if version is None else next((one for one in work.versions if one.number == version), None)
    if found is None or found.graded is None:
        return None
    given, undisputed, _ = work.score(found)
    counting = {*work.deciding, *work.suite.model, *work.suite.added} - {*work.disputed}
    return Measured(
        after=after,
        version=found.number,
        passed=given + undisputed,
        tests=len(counting),
        lines=sum(bool(line.strip()) for line in found.code.splitlines()),
        mutation=mutation_of(events, found.number),
        quality=quality_of(found),
        seconds=round(seconds, 3),
        tokens=sum(event.tokens_in + event.tokens_out for event in events if isinstance(event, ModelReplied)),
    )


def mutation_of(events: Sequence[Event], version: int) -> float | None:
    """Percent of a version's mutants that are noticed, as it was last seen; pinned tests have no part in it."""
    percent: float | None = None
    mutants = 0
    for event in events:
        if isinstance(event, Mutated) and event.version == version and event.mutants:
            mutants, percent = event.mutants, _percent(event.noticed, event.mutants)
        elif isinstance(event, Strengthened) and event.version == version and mutants:
            percent = _percent(event.noticed, mutants)
    return percent if percent is not None else _at_the_end(events)


def quality_of(version: Version) -> float | None:
    """Radon's maintainability index, read from the text; None where it cannot be read."""
    try:
        return round(index(Module("solution.py", version.code)), 1)
    except (CheckError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _row(task: Task, events: list[Event], after: str, tools: Tools, version: int | None = None) -> Iterator[Measured]:
    """The row, put among the events; none once the user has had enough."""
    row = measured(task, events, after, version, tools.meter.seconds_spent)
    if row and not tools.cancel.is_set():
        events.append(row)
        yield row


def _round_over(task: Task, events: list[Event], tools: Tools) -> Iterator[Measured]:
    """A row for the round; once more when mutants of its best version were tried only now.

    Where that comes next, the first row waits for it.
    """
    work, run = Work(task, events), Run(events)
    after = f"round {work.round}" if work.round else FIRST
    row = next((row for row in reversed(run.all(Measured)) if row.after == after), None)
    looked = work.mutated is not None and work.mutated.mutants > 0
    waits = "strengthen" in tools.afterwards and work.holds and not (work.stopped or work.mutated or work.strengthened)
    if not waits and (row is None or (row.mutation is None and looked)):
        yield from _row(task, events, after, tools)


def _at_the_end(events: Sequence[Event]) -> float | None:
    """What the check of the final files said; before the end there is no such word."""
    found = [event.evidence for event in events if isinstance(event, CheckFinished)]
    score = next((item.details.get("score") for item in reversed(found) if item.check == "mutation"), None)
    return round(score, 1) if isinstance(score, int | float) else None


def _percent(noticed: int, mutants: int) -> float:
    return round(100 * noticed / mutants, 1)
