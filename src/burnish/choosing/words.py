"""A choice in plain words: what speaks for a model, and who else is there."""

from collections.abc import Iterator, Mapping, Sequence

from burnish.choosing.candidate import Candidate, Record
from burnish.intervals import wilson
from burnish.text import counted

MOST_NAMED = 2
"""Models that were not chosen and are named; the rest is counted."""
WHERE = {"disk": "on this disk", "server": "with a server that answers"}


def about(candidate: Candidate, record: Record | None) -> str:
    """What it costs, where it is, and how it did: "free, on this disk, 14 of 18 of your runs proven (55 to 91 %)"."""
    return f"{_price(candidate)}, {WHERE[candidate.where]}, {', '.join(_did(record or Record()))}"


def told_of_others(others: Sequence[Candidate], history: Mapping[str, Record], dear: int = 0) -> Iterator[str]:
    """Who is there too, the best of them by name; `dear` are those that cost money, where none may be spent."""
    for one in others[:MOST_NAMED]:
        yield f"{one.name} is there too, {', '.join(_did(history.get(one.name, Record())))}"
    if more := len(others) - MOST_NAMED:
        yield from [f"{more} more {'is' if more == 1 else 'are'} there"] if more > 0 else []
    if dear:
        yield f"{counted(dear, 'model')} that would cost money {'was' if dear == 1 else 'were'} passed over"


def _price(candidate: Candidate) -> str:
    if candidate.dollars is None:
        return "price unknown"
    return f"{candidate.dollars:g} dollars a million tokens written" if candidate.dollars else "free"


def _did(record: Record) -> Iterator[str]:
    """Each share with its interval; runs and evaluations apart, as they are not the same thing."""
    if record.runs:
        yield f"{record.proven} of {record.runs} of your runs proven ({_interval(record.proven, record.runs)})"
    if record.tasks:
        tasks = f"{record.solved:.0f} of {record.tasks} tasks of your evaluations solved"
        yield f"{tasks} ({_interval(record.solved, record.tasks)})"
    if not record.runs and not record.tasks:
        yield "never tried"


def _interval(successes: float, tries: int) -> str:
    low, high = wilson(successes, tries)
    return f"{100 * low:.0f} to {100 * high:.0f} %"
