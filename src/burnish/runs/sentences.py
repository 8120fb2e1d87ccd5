"""What happened, each event that people want to hear of in one sentence. Text of models in it is one plain line."""

from collections.abc import Sequence

from burnish.events import Applied, BaseEvent, Compared, Decided, Refused, Resumed, TestsFrozen, Tweaked
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
        case Applied():
            return f"{one_line(event.file, 300)} was replaced; the old one is kept as {one_line(event.backup, 300)}."
    return ""


def sentence(text: str) -> str:
    """One line that begins and ends as a sentence does."""
    flat = one_line(text, 600).rstrip(".")
    return f"{flat[:1].upper()}{flat[1:]}."


def base(number: int) -> str:
    """What a version was made from."""
    return f"version {number}" if number else "the code that was there"


def joined(items: Sequence[str]) -> str:
    """As people list things: "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


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
