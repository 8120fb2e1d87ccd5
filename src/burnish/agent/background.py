"""The agent at work in a thread of its own, so that Ctrl-C is heard at once, whatever the work waits for."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait

from burnish.agent.ask import Tools
from burnish.events import BaseEvent, Event, Stopped
from burnish.runs.voice import Voice
from burnish.silence import silence
from burnish.tasks import Task

LAST_WORDS_SECONDS = 0.5
"""For what is under way when Ctrl-C comes, so that nothing is said after the end."""


def work(task: Task, tools: Tools, voice: Voice, append: Callable[[BaseEvent], None]) -> None:
    """Go through the graph to its end; `append` puts its events on record. A KeyboardInterrupt is on record, and raised
    again.
    """
    done: Future[None] = Future()
    interrupted: list[BaseEvent] = []

    def keep(event: BaseEvent) -> None:
        """What is said after the end that the user made is kept no more."""
        if not interrupted:
            append(event)
        if isinstance(event, Stopped) and event.reason == "interrupted":
            interrupted.append(event)

    def go() -> None:
        try:
            for event in _events(task, tools, keep):
                if voice.watch and (not interrupted or event == interrupted[0]):
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
        if not interrupted:
            voice.tell(Stopped(reason="interrupted", why="stopped by the user"))
        raise


def _break_off(tools: Tools) -> None:
    tools.cancel.set()
    tools.sandbox.close()
    for working in (tools.checks, tools.mutations):
        if working:
            working.close()


def _events(task: Task, tools: Tools, append: Callable[[BaseEvent], None]) -> Iterator[Event]:
    from burnish.agent.graph import build, steps

    with silence():
        most = {"recursion_limit": steps(tools.meter.limits.rounds)}
        yield from build(task, tools, append).stream({"events": []}, most, stream_mode="custom")
