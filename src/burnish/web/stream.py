"""What happens in a run, as server-sent events: new lines of the timeline, parts of the page that changed, and the
words of an answer while they come.

The id of a message is how many events on record it has told, so a page that lost its connection, or was loaded in
mid-answer, goes on exactly where it was. A reader holds nothing but its place: one that stalls slows nobody.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Protocol

from starlette.concurrency import run_in_threadpool

from burnish.errors import SetupProblem
from burnish.events import BaseEvent, ModelChunk, ModelThought, Notice
from burnish.events.history import Run
from burnish.runs.record import is_running, read_record
from burnish.text import strip_controls
from burnish.web.page import translator
from burnish.web.run_view import RunView, render_parts, render_steps, view_events
from burnish.web.steps import describe_notice
from burnish.web.work.active_runs import ActiveRun

LOOK_SECONDS = 0.05
"""Between two looks at the log; what came meanwhile is one message."""
QUIET_SECONDS = 10.0
"""After so long without a word a comment is sent, so that whoever is in between keeps the connection."""


class Log(Protocol):
    """Where events are read from, without waiting."""

    def take(self, place: int) -> tuple[list[BaseEvent], int, bool]:
        """What there is from this place on; the next place; whether nothing more will come."""

    def place_after(self, count: int) -> tuple[int, list[BaseEvent]]:
        """Where somebody goes on who has the first `count` lasting events."""

    @property
    def lasting(self) -> list[BaseEvent]:
        """All that is on record so far."""


class RecordLog:
    """The record of a run on which another process works."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._size, self._events = -1, list[BaseEvent]()
        self._next_look = 0.0
        self._is_over = False

    def take(self, place: int) -> tuple[list[BaseEvent], int, bool]:
        """What the record has grown by; it is read again only when its size has changed."""
        began = time.monotonic()
        if began >= self._next_look:
            try:
                running = is_running(self._folder)  # in this order: what was written before the lock was freed is read
                size = (self._folder / "events.jsonl").stat().st_size
                if size != self._size:
                    self._events, self._size = list(read_record(self._folder)), size
                else:
                    self._is_over = not running
            except (OSError, SetupProblem):  # somebody has removed it, or wrote something else into it
                self._is_over = True
            took = time.monotonic() - began
            self._next_look = began + took + max(0.2, 5 * took)
        return self._events[place:], len(self._events), self._is_over

    def place_after(self, count: int) -> tuple[int, list[BaseEvent]]:
        """On disk every event lasts."""
        return count, []

    @property
    def lasting(self) -> list[BaseEvent]:
        """All there was at the last look."""
        return self._events


async def stream_run(active: ActiveRun, after: int, language: str, shown: dict[str, str]) -> AsyncIterator[str]:
    """The messages for one page that shows the first `after` events of a run that works here.

    `shown` says which parts were sent already.
    """
    while active.handle is None and not active.is_over:  # it waits for its turn to be taken up again
        for message in _changed_parts(RunView(active.id, active.prompt, None, active), language, shown, after):
            yield message
        await asyncio.sleep(LOOK_SECONDS)
    if active.handle:
        log: Log = active.handle.live

        def view() -> RunView:
            return view_events(active, log.lasting)

        async for message in _stream_log(log, view, lambda: _moment(active), after, language, shown):
            yield message
    while not active.is_over:  # what follows the last event: files are delivered
        await asyncio.sleep(LOOK_SECONDS)
    yield _write_message("over", "{}")


async def stream_record(folder: Path, after: int, language: str, shown: dict[str, str]) -> AsyncIterator[str]:
    """The messages for a run that another process works on."""
    log = RecordLog(folder)

    def view() -> RunView:
        run = Run(log.lasting)  # type: ignore[arg-type]
        return RunView(folder.name, run.started.prompt, run, None, is_elsewhere=True)

    await run_in_threadpool(log.take, 0)
    async for message in _stream_log(log, view, tuple, after, language, shown):
        yield message
    yield _write_message("over", "{}")


def _moment(active: ActiveRun) -> tuple[object, ...]:
    """What a page shows of a run beside its events; cheap to look at."""
    return active.person.wishes, active.person.wish is None, active.ticket.ahead, active.frame


async def _stream_log(
    log: Log,
    view: Callable[[], RunView],
    moment: Callable[[], tuple[object, ...]],
    after: int,
    language: str,
    shown: dict[str, str],
) -> AsyncIterator[str]:
    count, before, begun = after, None, set[tuple[str, bool]]()
    place, pieces = log.place_after(after)
    if pieces:
        yield _write_pieces(pieces, begun)
    quiet_since = time.monotonic()
    while True:
        events, place, is_over = log.take(place)
        lasting = [event for event in events if event.lasting]
        count += len(lasting)
        if lasting:
            steps = render_steps(lasting, language, translator(language))
            yield _write_message("steps", json.dumps({"html": steps}), count)
        if lasting or before != (before := moment()):
            for message in _changed_parts(view(), language, shown, count):
                yield message
        if said := [event for event in events if isinstance(event, ModelChunk | ModelThought)]:
            yield _write_pieces(said, begun)
        if notices := [event for event in events if isinstance(event, Notice)]:
            said_last = describe_notice(notices[-1].text, translator(language))
            yield _write_message("notice", json.dumps({"text": strip_controls(said_last)}))
        if is_over and not events:
            return
        if events:
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > QUIET_SECONDS:
            quiet_since = time.monotonic()
            yield ": still here\n\n"
        if not events:
            await asyncio.sleep(LOOK_SECONDS)


def _changed_parts(view: RunView, language: str, shown: dict[str, str], count: int) -> list[str]:
    """Messages for the parts that are not as the page has them."""
    changed = {name: part for name, part in render_parts(view, language).items() if shown.get(name) != part["key"]}
    shown.update({name: part["key"] for name, part in changed.items()})
    return [_write_message("parts", json.dumps({"state": view.state, "parts": changed}), count)] if changed else []


def _write_pieces(events: Sequence[BaseEvent], begun: set[tuple[str, bool]]) -> str:
    """Words of answers, those of one answer together. `begun` are the answers that this connection has told of: the
    first words of any other are all that there is of it, whatever the page has.
    """
    joined: list[dict[str, object]] = []
    for event in events:
        if not isinstance(event, ModelChunk | ModelThought):
            continue
        answer, text = (event.ask_id, isinstance(event, ModelThought)), strip_controls(event.text)
        last = joined[-1] if joined else {}
        if (last.get("ask"), last.get("thought")) == answer and not event.instead:
            last["text"] = f"{last['text']}{text}"
        else:
            first = answer not in begun
            joined.append(dict(ask=answer[0], thought=answer[1], text=text, begins=first, instead=event.instead))
        begun.add(answer)
    return _write_message("pieces", json.dumps(joined))


def _write_message(kind: str, data: str, count: int | None = None) -> str:
    """One message. JSON has no line ends, so the data is one line."""
    number = "" if count is None else f"id: {count}\n"
    return f"event: {kind}\n{number}data: {data}\n\n"
