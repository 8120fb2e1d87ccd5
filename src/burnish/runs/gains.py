"""What iterating brought: a row for each step, and sentences that say whether it paid. Derived from events alone."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from burnish.events import Event, Measured, ModelReplied, Mutated, Refined, Resumed, Stopped, Strengthened, Survivor
from burnish.runs.run import Run
from burnish.runs.sentences import joined
from burnish.text import every, one_line

END = "the end"
ROUNDS = ("security", "performance", "quality")
"""The checks that have a round of their own where they find something."""

BY_PEOPLE = ("review", "user")
"""Versions that came after the rounds: a person wanted them or wrote them."""


class Left(NamedTuple):
    """The small changes that went unnoticed at first, by what became of them."""

    unnoticed: tuple[Survivor, ...] = ()
    alike: tuple[Survivor, ...] = ()
    """No input told them from the code; probably equivalent."""
    pinned: tuple[Survivor, ...] = ()
    """Noticed only by tests that say what the code does."""


def rows(run: Run) -> list[Measured]:
    """One row a step, as it was last seen; of several ends, as a run that was taken up again has, the last."""
    found = run.all(Measured)
    steps = [row for row, after in zip(found, [*found[1:], None], strict=False) if not _same_step(row, after)]
    ends = [row for row in steps if row.after == END]
    return [row for row in steps if row.after != END or row is ends[-1]]


def _same_step(row: Measured, after: Measured | None) -> bool:
    return after is not None and (row.after, row.version) == (after.after, after.version)


def left_of(run: Run) -> Left:
    """What is known of the changes that no test noticed when the last version with such changes was looked at."""
    looked = run.last(Mutated)
    if looked is None:
        return Left()
    done = [event for event in run.all(Strengthened) if event.version == looked.version]
    tests = [new for event in done for new in event.tests if new.test not in event.exposing]
    noticed = {key for new in tests if new.origin != "pinned" for key in new.notices}
    pinned = {key for new in tests if new.origin == "pinned" for key in new.notices} - noticed
    alike = {key for event in done for key in event.alike} - noticed - pinned
    missed = [one for one in looked.survivors if one.key not in noticed]
    return Left(
        tuple(one for one in missed if one.key not in pinned | alike),
        tuple(one for one in missed if one.key in alike),
        tuple(one for one in missed if one.key in pinned),
    )


def paid(run: Run) -> list[str]:
    """Whether each kind of step paid, in a sentence each; nothing where there was none."""
    return [*_versions(run), *_tests(run), *_rounds(run)]


def _versions(run: Run) -> Iterator[str]:
    """What going back to the code brought."""
    tried = [row for row in rows(run) if row.after == "first version" or row.after.startswith("round ")]
    if len(tried) < 2:
        return
    first, last = tried[0], tried[-1]
    between = run.events[run.events.index(first) : run.events.index(last)]
    other = sum(event.seconds for event in between if isinstance(event, Mutated | Strengthened))
    cost = _cost(last.tokens - first.tokens, max(0.0, last.seconds - first.seconds - other))
    missing, still = first.tests - first.passed, last.tests - last.passed
    if still < missing:
        yield f"Going back to the code brought the failing tests from {missing} to {still}, for {cost}."
    else:
        yield f"Going back to the code left {still or 'no'} test{'' if still == 1 else 's'} failing, for {cost}."


def _tests(run: Run) -> Iterator[str]:
    """What looking for changes that go unnoticed brought, each time."""
    for place, event in enumerate(run.events):
        if isinstance(event, Strengthened):
            before = _looked_at(run.events[:place], event.version)
            if before is not None and before.mutants > before.noticed:
                yield from _raised(run, before, event, place)
        elif isinstance(event, Mutated) and event.mutants == event.noticed and event.mutants:
            yield f"The tests noticed {every(event.mutants, 'small change')}, so no test had to be added."


def _raised(run: Run, before: Mutated, event: Strengthened, place: int) -> Iterator[str]:
    was, now = (100 * noticed // before.mutants for noticed in (before.noticed, event.noticed))
    start = run.events.index(before)
    between = run.events[start:place]
    paused = any(isinstance(one, Resumed) for one in between)
    waited = 0.0 if paused else event.at - before.at - event.seconds  # for further versions
    cost = _cost(_tokens(between), before.seconds + max(0.0, waited) + event.seconds)
    if event.exposing:
        yield f"{_exposed(run, event)}, for {cost}."
    elif event.noticed == before.noticed:
        why = f": {one_line(event.why, 160).rstrip('.')}" if event.why else ""
        yield f"Looking for new tests left the mutation score at {was} % ({_many(event)}), for {cost}{why}."
    if event.noticed > before.noticed:
        gain = f"{was} to {now} %" if now > was else f"{before.noticed} to {event.noticed} of {before.mutants} changes"
        yield f"New tests raised the mutation score from {gain}{'' if event.exposing else f', for {cost}'}."


def _many(event: Strengthened) -> str:
    """How many tests came of it, and how many of them only say what the code does."""
    count, pinned = len(event.tests), sum(new.origin == "pinned" for new in event.tests)
    if count == pinned:
        return f"{pinned} pinned added" if pinned else "none added"
    return f"{count} added, {pinned} of them pinned" if pinned else f"{count} added"


def _exposed(run: Run, event: Strengthened) -> str:
    """What became of a test that speaks against a version."""
    if not {*event.exposing} - {*run.disputed}:
        return (
            f"A new test spoke against version {event.version} and was set aside: no version passes it and all others"
        )
    final = run.final.number if run.final else event.version
    after = f"; the result is version {final}, which was made or chosen after it" if final != event.version else ""
    return f"A new test showed version {event.version} to be wrong{after}"


def _looked_at(events: Sequence[Event], version: int) -> Mutated | None:
    found = [event for event in events if isinstance(event, Mutated) and event.version == version]
    return found[-1] if found else None


def _rounds(run: Run) -> Iterator[str]:
    """What a round for a check bought, or why it was not kept; and which checks needed none."""
    since = 0
    for place, event in enumerate(run.events):
        if isinstance(event, Refined):
            yield _bought(event, _cost(_tokens(run.events[since:place]), event.seconds))
        since = place if isinstance(event, Refined | Strengthened | Measured) else since
    had = {event.check for event in run.all(Refined)}
    fine = {item.check for item in run.evidence if item.verdict == "passed"}
    spared = [check for check in ROUNDS if check in fine - had]
    if spared and _went_there(run):
        yield f"No round for {joined(spared, 'or')} was needed."


def _bought(event: Refined, cost: str) -> str:
    check, before, after, why = (
        one_line(text, 160).rstrip(".") for text in (event.check, event.before, event.after, event.why)
    )
    if event.kept:
        return f"The round for {check} was kept: {before} became {after}, for {cost}{f' ({why})' if why else ''}."
    found = f" ({before})" if before else ""
    return f"The round for {check}{found} was not kept, for {cost}: {why or 'nothing came of it'}."


def _went_there(run: Run) -> bool:
    """Whether the checks had their say on the very version that is the result, and nothing cut it short."""
    afterwards, stopped = run.started.settings.get("afterwards"), run.ending(Stopped)
    wanted = isinstance(afterwards, list) and "refine" in afterwards and run.verdict in ("proven", "plausible")
    untouched = run.final is not None and run.final.by not in BY_PEOPLE
    return wanted and untouched and stopped is not None and stopped.reason == "done"


def _tokens(events: Sequence[Event]) -> int:
    return sum(event.tokens_in + event.tokens_out for event in events if isinstance(event, ModelReplied))


def _cost(tokens: int, seconds: float) -> str:
    return f"{tokens} tokens and {seconds:.1f} s"
