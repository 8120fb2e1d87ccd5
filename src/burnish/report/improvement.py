"""What iterating brought: a row for each step, and sentences that say whether it paid. Derived from events alone."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from burnish.events import (
    Event,
    ModelReplied,
    Mutated,
    Refined,
    Resumed,
    RunSettings,
    StepKind,
    StepMeasured,
    Stopped,
    Strengthened,
    Survivor,
)
from burnish.events.history import Run
from burnish.text import every, join_words, one_line

ROUNDS = ("security", "performance", "quality")
"""The checks that have a round of their own where they find something."""
BY_PEOPLE = ("review", "user")
"""Versions that came after the rounds: a person wanted them or wrote them."""


class UnnoticedChanges(NamedTuple):
    """The small changes that went unnoticed at first, by what became of them."""

    unnoticed: tuple[Survivor, ...] = ()
    alike: tuple[Survivor, ...] = ()
    """No input told them from the code; probably equivalent."""
    pinned: tuple[Survivor, ...] = ()
    """Noticed only by tests that say what the code does."""


def list_steps(run: Run) -> list[StepMeasured]:
    """One row a step, as it was last seen; of several ends, as a run that was taken up again has, the last."""
    found = run.all(StepMeasured)
    later = [(row.after, row.version) for row in found[1:]]
    steps = [row for place, row in enumerate(found) if later[place : place + 1] != [(row.after, row.version)]]
    ends = [row for row in steps if row.step is StepKind.END]
    return [row for row in steps if row.step is not StepKind.END or row is ends[-1]]


def sort_unnoticed(run: Run) -> UnnoticedChanges:
    """What is known of the changes that no test noticed when the last version with such changes was looked at."""
    tried = run.last(Mutated)
    if tried is None:
        return UnnoticedChanges()
    done = [event for event in run.all(Strengthened) if event.version == tried.version]
    tests = [new for event in done for new in event.tests if new.test not in event.exposing]
    noticed = {key for new in tests if new.origin != "pinned" for key in new.notices}
    pinned = {key for new in tests if new.origin == "pinned" for key in new.notices} - noticed
    alike = {key for event in done for key in event.alike} - noticed - pinned
    missed = [one for one in tried.survivors if one.key not in noticed]
    return UnnoticedChanges(
        tuple(one for one in missed if one.key not in pinned | alike),
        tuple(one for one in missed if one.key in alike),
        tuple(one for one in missed if one.key in pinned),
    )


def explain_improvement(run: Run) -> list[str]:
    """Whether each kind of step paid, in a sentence each; nothing where there was none."""
    sentences = []
    tried = [row for row in list_steps(run) if row.step in (StepKind.FIRST, StepKind.ROUND)]
    if len(tried) > 1:  # what going back to the code brought
        first, last = tried[0], tried[-1]
        between = run.events[run.events.index(first) : run.events.index(last)]
        other = sum(event.seconds for event in between if isinstance(event, Mutated | Strengthened))
        cost = _price(last.tokens - first.tokens, max(0.0, last.seconds - first.seconds - other))
        missing, still = first.tests - first.passed, last.tests - last.passed
        brought = f"left {still or 'no'} test{'' if still == 1 else 's'} failing"
        if still < missing:
            brought = f"brought the failing tests from {missing} to {still}"
        sentences.append(f"Going back to the code {brought}, for {cost}.")
    return [*sentences, *_explain_tests(run), *_explain_rounds(run)]


def _explain_tests(run: Run) -> Iterator[str]:
    """What looking for changes that go unnoticed brought, each time: to the mutation score, or against the version."""
    for place, event in enumerate(run.events):
        if isinstance(event, Mutated) and event.mutants == event.noticed and event.mutants:
            yield f"The tests noticed {every(event.mutants, 'small change')}, so no test had to be added."
        if not isinstance(event, Strengthened):
            continue
        trials = [one for one in run.events[:place] if isinstance(one, Mutated) and one.version == event.version]
        if not trials or trials[-1].mutants <= trials[-1].noticed:
            continue
        before = trials[-1]
        was, now = (100 * noticed // before.mutants for noticed in (before.noticed, event.noticed))
        between = run.events[run.events.index(before) : place]
        paused = any(isinstance(one, Resumed) for one in between)
        waited = 0.0 if paused else event.at - before.at - event.seconds  # for further versions
        cost = _price(_count_tokens(between), before.seconds + max(0.0, waited) + event.seconds)
        if event.exposing:
            said = f"A new test spoke against version {event.version} and was set aside"
            said += ": no version passes it and all others"
            if {*event.exposing} - {*run.disputed}:
                final = run.final.number if run.final else event.version
                after = f"; the result is version {final}, which was made or chosen after it"
                said = f"A new test showed version {event.version} to be wrong{after if final != event.version else ''}"
            yield f"{said}, for {cost}."
        elif event.noticed == before.noticed:
            why = f": {one_line(event.why, 160).rstrip('.')}" if event.why else ""
            count, pinned = len(event.tests), sum(new.origin == "pinned" for new in event.tests)
            many = f"{count} added, {pinned} of them pinned" if pinned else f"{count or 'none'} added"
            many = f"{pinned} pinned added" if pinned and pinned == count else many
            yield f"Looking for new tests left the mutation score at {was} % ({many}), for {cost}{why}."
        if event.noticed > before.noticed:
            counts = f"{before.noticed} to {event.noticed} of {before.mutants} changes"
            gain = f"{was} to {now} %" if now > was else counts
            yield f"New tests raised the mutation score from {gain}{'' if event.exposing else f', for {cost}'}."


def _explain_rounds(run: Run) -> Iterator[str]:
    """What a round for a check bought, or why it was not kept; and which checks needed none."""
    since = 0
    for place, event in enumerate(run.events):
        if isinstance(event, Refined):
            cost = _price(_count_tokens(run.events[since:place]), event.seconds)
            texts = (event.check, event.before, event.after, event.why)
            check, before, after, why = (one_line(text, 160).rstrip(".") for text in texts)
            found, how = f" ({before})" if before else "", f" ({why})" if why else ""
            if event.kept:
                yield f"The round for {check} was kept: {before} became {after}, for {cost}{how}."
            else:
                yield f"The round for {check}{found} was not kept, for {cost}: {why or 'nothing came of it'}."
        since = place if isinstance(event, Refined | Strengthened | StepMeasured) else since
    had = {event.check for event in run.all(Refined)}
    fine = {item.check for item in run.evidence if item.verdict == "passed"}
    spared = [check for check in ROUNDS if check in fine - had]
    # Only if the checks had their say on the very version that is the result, and nothing cut it short.
    stopped = run.ending(Stopped)
    wanted = "refine" in RunSettings.merge(run.started.settings).afterwards and run.verdict in ("proven", "plausible")
    untouched = run.final is not None and run.final.by not in BY_PEOPLE
    if spared and wanted and untouched and stopped is not None and stopped.reason == "done":
        yield f"No round for {join_words(spared, 'or')} was needed."


def _count_tokens(events: Sequence[Event]) -> int:
    return sum(event.tokens_in + event.tokens_out for event in events if isinstance(event, ModelReplied))


def _price(tokens: int, seconds: float) -> str:
    return f"{tokens} tokens and {seconds:.1f} s"
