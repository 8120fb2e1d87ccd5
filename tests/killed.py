"""Commands that are ended at a chosen moment, and what must hold of a run that is taken up after that."""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from burnish.events import Asked, ModelReplied
from burnish.events.replay import Replay
from burnish.runs import Run

_DEADLY = """
import os, sys
from burnish.cli.main import main
from burnish.models.scripted import ScriptedModel
from burnish.runs import Record
moment, number = sys.argv.pop(1), int(sys.argv.pop(1))
stream, append = ScriptedModel.stream, Record.append
def deadly_stream(self, ask, cancel):
    for piece in stream(self, ask, cancel):
        yield piece
        if moment == f"answer {len(self.asked)}":
            os.kill(os.getpid(), number)
def deadly_append(self, event):
    append(self, event)
    if moment == event.kind and getattr(event, "cycle", 2) == 2:
        os.kill(os.getpid(), number)
ScriptedModel.stream, Record.append = deadly_stream, deadly_append
main()
"""


def run_until(
    moment: str, *command: str, cwd: Path, by: signal.Signals = signal.SIGKILL
) -> subprocess.CompletedProcess[str]:
    """A command that gets a signal in its `answer N`, or once an event of this kind is kept; of a page, in cycle 2."""
    deadly = [sys.executable, "-c", _DEADLY, moment, str(int(by)), *command]
    return subprocess.run(deadly, cwd=cwd, capture_output=True, text=True, timeout=60)


def answered_twice(run: Run) -> list[str]:
    """Questions with more than one whole answer."""
    answers = Counter(reply.ask_id for reply in run.all(ModelReplied) if reply.ended != "cut")
    return [ask_id for ask_id, count in answers.items() if count > 1]


def assert_goes_on(run: Run, before: Run) -> None:
    """What was kept before the end still stands, and again was asked only what had been left without an answer."""
    assert answered_twice(run) == []
    lost = Counter(asked.ask_id for asked, _ in Replay(before.events).lost)
    asked = Counter(event.ask_id for event in run.all(Asked))
    assert asked == Counter(dict.fromkeys(asked, 1)) + lost
    assert run.events[: len(before.events)] == before.events
