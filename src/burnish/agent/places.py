"""Where to repair next: the place that was suspected first is often wrong, so the next ones get their share.

Small edits are tried at all of them before anybody is asked. Then a model answers for one place at a time; one whose
first answers bring no failing test to pass is left for the next, and after the last the first has the rest. Where only
versions pass that repair another function, the work goes on there.
"""

import time

from burnish.agent.ask import Tools
from burnish.agent.state import TWEAK, AgentState
from burnish.events import Decided, PlaceChosen
from burnish.tasks.repair import find_changed

MOST_PLACES = 3
FIRST_ROUNDS = 2
"""Rounds for the likeliest place before it is left: one answer, then two. The others have one, of three answers."""


def choose_place(state: AgentState, tools: Tools) -> PlaceChosen | None:
    """The place to go on at, where it is another one; None to stay. What the record says is done again."""
    places = (state.given_task.entry_point, *state.given_task.suspects)[:MOST_PLACES]
    if not state.broken or len(places) < 2:
        return None
    if recorded := tools.replay.take(PlaceChosen, version=state.next_version):
        return recorded.model_copy(update={"at": time.time()})
    went_on = tools.replay.take(Decided, lambda one: any(move.version == state.next_version for move in one.moves))
    if went_on:
        return None
    if state.rivals or not state.answers_here:
        return _follow_rivals(state)
    before = state.passed_tests(state.version(0))
    if any(state.passed_tests(version) - before for version in state.answers_here):  # one brings a failing test to pass
        return None
    visited = (places[0], *(event.function for event in state.run.all(PlaceChosen) if event.why == "nothing"))
    rounds = len({version.round for version in state.answers_here})
    share = tools.meter.limits.seconds * len(visited) / (len(places) + 1)
    if rounds < (FIRST_ROUNDS if len(visited) == 1 else 1) and tools.meter.seconds_spent < share:
        return None
    if left := [place for place in places if place not in visited]:
        return PlaceChosen(function=left[0], version=state.next_version, why="nothing")
    if state.spec.entry_point == places[0]:
        return None
    return PlaceChosen(function=places[0], version=state.next_version, why="again")


def _follow_rivals(state: AgentState) -> PlaceChosen | None:
    """The function that the first version to pass is in, where none that passes is in the one that was asked for."""
    changed = [(find_changed(state.task.base_code, one.code)[:1], one.by) for one in state.rivals]
    passing = [(names[0], by) for names, by in changed if names]
    if not passing or state.spec.entry_point in {name for name, _ in passing}:
        return None
    name, by = min(passing, key=lambda one: one[1] == TWEAK)
    return PlaceChosen(function=name, version=state.next_version, why="edits" if by == TWEAK else "answer")
