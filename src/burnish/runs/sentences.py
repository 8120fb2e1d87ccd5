"""What happened, each event that people want to hear of in one sentence. Text of models in it is one plain line."""

import math
import re
from collections.abc import Sequence

from burnish.events import (
    Applied,
    BaseEvent,
    Compared,
    Decided,
    Measured,
    Mutated,
    NewTest,
    PackagesAdded,
    Refined,
    Refused,
    Resumed,
    Reviewed,
    Strengthened,
    TestsFrozen,
    Tweaked,
)
from burnish.text import counted, one_line


def sentence_of(event: BaseEvent) -> str:
    """The event in words; empty for those that are told in other ways."""
    match event:
        case Decided():
            return sentence(event.reason)
        case Tweaked():
            return _edits(event)
        case Compared():
            return _alike(event)
        case Refused():
            return f"Refused: {one_line(event.what, 160).rstrip('.')}, because {one_line(event.why, 200).rstrip('.')}."
        case Resumed():
            return f"Taken up again, with {counted(event.answers, 'answer')} on record that need no asking."
        case TestsFrozen():
            return f"From here on the tests stand as they are (hash {event.sha256[:12]})."
        case PackagesAdded():
            return _packages(event)
        case Applied():
            return f"{one_line(event.file, 300)} was replaced; the old one is kept as {one_line(event.backup, 300)}."
    return _of_what_followed(event)


def in_short(event: PackagesAdded) -> list[str]:
    """What came, as people say it: "pandas 2.3.1". What it needs, and what was there before, is in the report."""
    asked = {event.new} if event.new else names_of(event)
    return [one_line(f"{name} {version}", 80) for name, version in event.packages if name in asked]


def names_of(event: PackagesAdded) -> set[str]:
    """The names among what was asked for."""
    return {re.split(r"[^\w.-]", asked)[0] for asked in event.asked}


def _packages(event: PackagesAdded) -> str:
    names = [one_line(f"{name} {version}", 80) for name, version in event.packages] or ["nothing"]
    because = f"because {one_line(event.why, 100)}" if event.why else ""
    if event.new and len(names) > 1:
        return f"Code may import {joined(names)} ({one_line(event.new, 80)} {because})."
    return f"Code may import {joined(names)}{because and f', {because}'}."


def _of_what_followed(event: BaseEvent) -> str:
    """What is done once the tests pass: tests for what goes unnoticed, rounds for findings, a person's word."""
    match event:
        case Mutated():
            return _noticed(event)
        case Strengthened():
            return _stronger(event)
        case Refined():
            return _round(event)
        case Measured():
            return _standing(event)
        case Reviewed():
            return _said(event)
    return ""


def sentence(text: str) -> str:
    """One line that begins and ends as a sentence does."""
    flat = one_line(text, 600).rstrip(".")
    return f"{flat[:1].upper()}{flat[1:]}."


def base(number: int) -> str:
    """What a version was made from."""
    return f"version {number}" if number else "the code that was there"


def joined(items: Sequence[str], last: str = "and") -> str:
    """As people list things: "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


def _edits(event: Tweaked) -> str:
    tried = f"{counted(event.tried, 'small edit')} of {base(event.base)} {'was' if event.tried == 1 else 'were'} tried"
    passed = event.passed or "none"
    return f"{tried} without asking the model: {passed} of them passed every given test."


def _alike(event: Compared) -> str:
    groups = [joined([str(number) for number in group]) for group in event.groups]
    on = counted(len(event.inputs), "input")
    if len(groups) == 1:
        alone = len(event.groups[0]) == 1
        return f"Version{'' if alone else 's'} {groups[0]} gave the same answers on {on}."
    apart = f"; they differ at {one_line(event.apart, 200).rstrip('.')}" if event.apart else ""
    return f"Run on {on}, the versions fall into {len(groups)} groups that behave alike: {'; '.join(groups)}{apart}."


ORIGINS = {
    "spec": "from the words of the task",
    "agreed": "on which versions written independently agree",
    "pinned": "pinned to what the code does",
}
"""Who says what is right in a new test."""
SHOWN = {"tests": "the tests", "checks": "the code and its checks"}


def origins(tests: Sequence[NewTest]) -> str:
    """How many new tests there are of each kind: "2 on which versions written independently agree and 1 pinned …"."""
    counts = [(sum(new.origin == origin for new in tests), words) for origin, words in ORIGINS.items()]
    return joined([f"{count} {words}" for count, words in counts if count])


def _noticed(event: Mutated) -> str:
    if not event.mutants:
        why = one_line(event.why, 200).rstrip(".") or "there was nothing to change"
        return f"What the tests would notice was not tried: {why}."
    changes = counted(event.mutants, "small change")
    missed = event.mutants - event.noticed
    if not missed:
        were, each = ("was", "it") if event.mutants == 1 else ("were", "every one")
        return f"{changes} of version {event.version} {were} tried, and its tests notice {each}."
    goes = "goes" if missed == 1 else "go"
    return f"{missed} of {changes} of version {event.version} {goes} unnoticed by its tests."


def _stronger(event: Strengthened) -> str:
    many = len(event.tests)
    parts = [f"{counted(many, 'test')} {'was' if many == 1 else 'were'} added: {origins(event.tests)}" if many else ""]
    parts += [_exposing(event)]
    parts += [f"{counted(event.pinned, 'change')} only pinned tests notice" if event.pinned else ""]
    parts += [_alike_changes(len(event.alike)) if event.alike else ""]
    return sentence("; ".join(filter(None, parts)) or f"No test was added{_because(event.why)}")


def _exposing(event: Strengthened) -> str:
    if not event.exposing:
        return ""
    aside = ", and as none passes them and all others they were set aside" if event.aside else ""
    return f"{len(event.exposing)} of them version {event.version} fails{aside}"


def _because(why: str) -> str:
    return f": {one_line(why, 200)}" if why else ""


def _alike_changes(many: int) -> str:
    return f"{counted(many, 'change')} no input told from the code (probably equivalent)"


def _round(event: Refined) -> str:
    before, after, why = (one_line(text, 160).rstrip(".") for text in (event.before, event.after, event.why))
    check = one_line(event.check, 40)
    if event.kept:
        how = f" ({why})" if why else ""
        return f"A round for {check}: {before} before, {after} after; version {event.version} is kept{how}."
    found = f" ({before})" if before else ""
    return f"A round for {check}{found} was not kept: {why or 'nothing came of it'}."


def _standing(event: Measured) -> str:
    figures = [f"{event.passed} of {counted(event.tests, 'test')} passed"]
    figures += [f"{math.floor(event.mutation)} % of small changes noticed"] if event.mutation is not None else []
    figures += [f"maintainability {event.quality:.0f} of 100"] if event.quality is not None else []
    figures += [counted(event.lines, "line"), f"{event.seconds:.1f} s", f"{event.tokens} tokens so far"]
    return f"After {one_line(event.after, 40)}, version {event.version}: {', '.join(figures)}."


def _said(event: Reviewed) -> str:
    place = f" about line {event.line}" if event.line is not None else ""
    words = one_line(event.words, 400).rstrip(".")
    said = {
        "go_on": "said: go on",
        "change": "wanted something changed",
        "comment": f"made a comment{place}",
        "edited": "edited the file",
        "stop": "stopped the work",
    }[event.said]
    told = f"A person looked at {SHOWN[event.where]} and {said}{f': {words}' if words else ''}"
    return told if told.endswith(("?", "!")) else f"{told}."
