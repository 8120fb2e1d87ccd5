"""Who answered in a run, in sentences: why it was that model, and when and why a larger one was asked."""

from burnish.events import Decided, RunStarted
from burnish.models.names import split_names
from burnish.runs import Run
from burnish.text import one_line

KEY = "chosen"
"""In the settings of a run: why its models were chosen, where that was left to us."""


def why_chosen(started: RunStarted) -> str:
    """The reason that is on record; empty where the user had named a model."""
    found = started.settings.get(KEY)
    return one_line(found, 600).rstrip(".") if isinstance(found, str) else ""


def who_answered(run: Run) -> list[str]:
    """What there is to say beyond one name: nothing where the user named a single model."""
    why, names = why_chosen(run.started), split_names(run.started.model)
    told = [f"The choice was left to Burnish: {why}."] if why else []
    return [*told, *(_went_up(run, level, names) for level in range(1, len(names)))]


def _went_up(run: Run, level: int, names: list[str]) -> str:
    """When one of the larger models was first asked, in the agent's own words."""
    for event in run.all(Decided):
        rounds = [move.round for move in event.moves if move.model >= level]
        if rounds:
            return f"{names[level]} was asked from round {min(rounds)} on. {one_line(event.reason, 300)}"
    ended = "not needed" if run.verdict == "proven" else "not reached"
    return f"{names[level]} was to help where {names[level - 1]} was stuck, and was {ended}."
