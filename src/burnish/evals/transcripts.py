"""Attempts as a page shows them: short lists instead of events, and every text once, so that a page stays small.

A step is a list whose first item says what it is; the page's script knows the rest. Texts are numbers: places in one
list of texts. They lose escape codes, and what is longer than the page can bear is cut and says so.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from burnish.evals.results import Evaluated
from burnish.events import (
    Answered,
    Asked,
    Broke,
    CodeProposed,
    Decided,
    Event,
    ModelReplied,
    RunSettings,
    RunStarted,
    Scored,
    Stopped,
    TestsRan,
)
from burnish.text import strip_controls

MOST_BYTES = 12_000_000
LONGEST = (20_000, 6_000, 2_000, 800, 300)
"""Characters a text may have; the next smaller one is taken while the page is too big."""
FAILURES_SHOWN = 3

Step = list[Any]


class Texts:
    """Every text once, each under a number."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.known: dict[str, int] = {}
        self._raw: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The number of this text."""
        if text not in self._raw:
            self._raw[text] = self.known.setdefault(self._short(text), len(self.known))
        return self._raw[text]

    def _short(self, text: str) -> str:
        """Cut before it is cleaned: cleaning looks at every character."""
        rest = len(text) - self.longest
        said = f"\n… {rest} more characters are in the attempt's file" if rest > 0 else ""
        return strip_controls(text[: self.longest]) + said


def transcripts(folder: Evaluated, most_bytes: int = MOST_BYTES) -> str:
    """JSON with all texts and a list of steps for each finished attempt, as long as the page can bear."""
    text = ""
    for longest in LONGEST:
        texts = Texts(longest)
        attempts = [list(steps(events, texts)) for _, _, events in folder.attempts()]
        text = json.dumps({"texts": list(texts.known), "attempts": attempts}, ensure_ascii=False, separators=(",", ":"))
        if len(text.encode("utf-8", "replace")) <= most_bytes:
            break
    return text


def steps(events: Iterable[Event], texts: Texts) -> Iterator[Step]:
    """What happened in one attempt, in order; events that tell a reader nothing are passed over."""
    for event in events:
        step = _step(event, texts)
        if step:
            yield step


def _step(event: Event, texts: Texts) -> Step | None:
    match event:
        case RunStarted():
            return ["task", texts.add(event.prompt), texts.add(_base_code(event))]
        case Asked():
            messages = [[message.role, texts.add(message.content)] for message in event.messages]
            return ["ask", strip_controls(event.purpose), messages, event.temperature]
        case ModelReplied():
            return ["reply", texts.add(event.text), event.tokens_out, round(event.seconds, 1), event.ended]
        case CodeProposed():
            return ["code", event.version, strip_controls(event.by), texts.add(event.code), texts.add(event.problem)]
        case TestsRan():
            return _tests(event, texts)
        case Answered():
            return ["answer", event.call, event.round, event.version]
        case Scored():
            return ["score", event.version, event.passed, event.timed_out, texts.add(event.why)]
        case Decided():
            return ["note", texts.add(event.reason)]
        case Stopped() if event.why:
            return ["note", texts.add(f"Stopped: {event.why}")]
        case Broke():
            return ["broke", texts.add(f"{event.error}: {event.message}")]
    return None


def _tests(event: TestsRan, texts: Texts) -> Step:
    graded = event.graded
    failed = [texts.add(case.message or case.name) for case in graded.cases if case.outcome != "passed"]
    return [
        "tests",
        event.version,
        graded.passed,
        len(graded.cases),
        texts.add(graded.problem),
        failed[:FAILURES_SHOWN],
    ]


def _base_code(event: RunStarted) -> str:
    return str(RunSettings.merge(event.settings).task.get("base_code", ""))
