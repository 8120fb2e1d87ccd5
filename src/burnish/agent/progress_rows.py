"""Where a run stands after each step that counts: the rows that show whether iterating paid.

Rows are made from events alone, never by running anything, so a run that is taken up again makes the same ones.
"""

from collections.abc import Callable, Iterator, Sequence

from burnish.agent.ask import Tools
from burnish.agent.state import AgentState
from burnish.checks.mutation.check import MutationDetails
from burnish.checks.quality.metrics import Module, measure_maintainability
from burnish.errors import CheckError
from burnish.events import (
    CheckFinished,
    Decided,
    Event,
    Mutated,
    Refined,
    RunFinished,
    StepKind,
    StepMeasured,
    Strengthened,
)
from burnish.tasks.task import Task


def add_rows(
    node: Callable[[AgentState, Tools], Iterator[Event]], task: Task, events: Sequence[Event], tools: Tools
) -> Iterator[Event]:
    """All that a node does, and a row wherever the run has come a step further.

    Not in evaluations, where nothing follows the tests.
    """
    state, has_new_tests = AgentState(task, events), False
    if not (tools.afterwards or tools.checks):
        yield from node(state, tools)
        return

    def row(after: str, version: int | None = None) -> Iterator[StepMeasured]:
        """The row, put among the events; none once the user has stopped the run."""
        nonlocal state
        found = measure_version(state, after, version, tools.meter.seconds_spent)
        if found and not tools.cancel.is_set():
            state = state.after([found])
            yield found

    for event in node(state, tools):
        if isinstance(event, RunFinished):
            yield from row(StepKind.END.value, event.version)
        yield event
        # Only what lasts is on record, and rows must be the same when a run is taken up again.
        state = state.after([event]) if event.lasting else state
        has_new_tests = has_new_tests or (isinstance(event, Strengthened) and bool(event.tests))
        if isinstance(event, Decided | Mutated) and _is_round_over(state, tools):
            yield from row(_name_round(state))
        if isinstance(event, Refined) and event.kept:
            yield from row(event.check, event.version)
    if has_new_tests:  # once the versions have met the new tests
        yield from row(StepKind.NEW_TESTS.value)


def _name_round(state: AgentState) -> str:
    return f"{StepKind.ROUND.value} {state.round}" if state.round else StepKind.FIRST.value


def _is_round_over(state: AgentState, tools: Tools) -> bool:
    """Whether a row for the round is missing, or had no mutants, and those of its best version were tried only now.

    Where that comes next, the first row waits for it.
    """
    rows = [row for row in state.run.all(StepMeasured) if row.after == _name_round(state)]
    mutated = state.mutated
    strengthened = state.run.last(Strengthened)
    if "strengthen" in tools.afterwards and state.best_passes and not (state.stopped or mutated or strengthened):
        return False
    return not rows or (rows[-1].mutation is None and mutated is not None and mutated.mutants > 0)


def measure_version(
    state: AgentState, after: str, version: int | None = None, seconds: float = 0.0
) -> StepMeasured | None:
    """The row for a version, else for the best one; None where no version has met the tests."""
    found = state.best if version is None else next((one for one in state.versions if one.number == version), None)
    if found is None or found.graded is None:
        return None
    given, undisputed, _ = state.score(found)
    counting = {*state.deciding_tests, *state.ranking_tests} - {*state.disputed}
    try:
        quality = round(measure_maintainability(Module("solution.py", found.code)), 1)  # radon's maintainability index
    except (CheckError, SyntaxError, ValueError, RecursionError, MemoryError):
        quality = None
    return StepMeasured(
        after=after,
        version=found.number,
        passed=given + undisputed,
        tests=len(counting),
        lines=sum(bool(line.strip()) for line in found.code.splitlines()),
        mutation=_mutation_percent(state.run.events, found.number),
        quality=quality,
        seconds=round(seconds, 3),
        tokens=state.run.tokens_in + state.run.tokens_out,
    )


def _mutation_percent(events: Sequence[Event], version: int) -> float | None:
    """Percent of a version's mutants that are noticed, as it was last seen; pinned tests have no part in it.

    Where its mutants were never tried: what the check of the final files said, once there is one.
    """
    noticed = mutants = 0
    checked: float | None = None
    for event in events:
        if isinstance(event, Mutated) and event.version == version and event.mutants:
            mutants, noticed = event.mutants, event.noticed
        elif isinstance(event, Strengthened) and event.version == version:
            noticed = event.noticed
        elif isinstance(event, CheckFinished) and event.evidence.check == "mutation":
            checked = MutationDetails.read(event.evidence).score
    if mutants:
        return round(100 * noticed / mutants, 1)
    return round(checked, 1) if checked is not None else None
