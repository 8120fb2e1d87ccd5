"""The agent at work in a thread of its own, so that Ctrl-C is heard at once, whatever the work waits for."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait

from burnish.agent.ask import Tools
from burnish.events import BaseEvent, Event, Stopped
from burnish.no_telemetry import disable_tracing
from burnish.runs.voice import Voice
from burnish.tasks import Task

LAST_WORDS_SECONDS = 0.5
"""For what is under way when Ctrl-C comes, so that nothing is said after the end."""


def work(task: Task, tools: Tools, voice: Voice, append: Callable[[BaseEvent], None]) -> None:
    """Go through the graph to its end; `append` puts its events on record. A KeyboardInterrupt is on record, and raised
    again.
    """
    done: Future[None] = Future()
    ending = Ending()

    def go() -> None:
        try:
            for event in _events(task, tools, lambda event: ending.unless_over(event, append)):
                if voice.watch and ending.allows(event):
                    voice.watch(event)
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(None)

    threading.Thread(target=go, name="burnish-agent", daemon=True).start()
    try:
        done.result()
    except KeyboardInterrupt:
        _break_off(tools)
        wait([done], LAST_WORDS_SECONDS)
        ending.unless_over(Stopped(reason="interrupted", why="stopped by the user"), voice.tell)
        raise


class Ending:
    """The end that the user made: the first of those who say it has the last word, whoever still talks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said: BaseEvent | None = None

    def unless_over(self, event: BaseEvent, tell: Callable[[BaseEvent], None]) -> None:
        """Tell it, unless the end was told already."""
        with self._lock:
            if self._said is None:
                if isinstance(event, Stopped) and event.reason == "interrupted":
                    self._said = event
                tell(event)

    def allows(self, event: BaseEvent) -> bool:
        """Whether whoever watches should still see it."""
        return self._said is None or event == self._said


def _break_off(tools: Tools) -> None:
    tools.cancel.set()
    tools.sandbox.close()
    for working in (tools.checks, tools.mutations):
        if working:
            working.close()


def _events(task: Task, tools: Tools, append: Callable[[BaseEvent], None]) -> Iterator[Event]:
    from burnish.agent.graph import build, most_steps

    with disable_tracing():
        most = {"recursion_limit": most_steps(tools.meter.limits.rounds)}
        yield from build(task, tools, append).stream({"events": []}, most, stream_mode="custom")
