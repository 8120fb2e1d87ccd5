"""kill -9 at any moment of a page's run: `burnish resume` asks nothing twice, and ends it."""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from burnish.events import Asked, ModelReplied, PageObserved, PageTold
from burnish.events.replay import Replay
from burnish.runs import Store
from tests.pages.made import js
from tests.support import burnish

DEADLY = """
import os, signal, sys
from burnish.cli.main import main
from burnish.models.scripted import ScriptedModel
from burnish.runs import Record
moment = sys.argv.pop(1)
stream, append = ScriptedModel.stream, Record.append
def die():
    os.kill(os.getpid(), signal.SIGKILL)
def deadly_stream(self, ask, cancel):
    for piece in stream(self, ask, cancel):
        yield piece
        if moment == "in the middle of an answer" and len(self.asked) == 3:
            die()
def deadly_append(self, event):
    append(self, event)
    if moment == event.kind and getattr(event, "cycle", 2) == 2:
        die()
ScriptedModel.stream, Record.append = deadly_stream, deadly_append
main()
"""
ANSWERS = {
    "page": [
        js("const colour = await burnish.ask('Which colour?');", "nothing();"),
        js(
            "const context = document.getElementById('canvas').getContext('2d');",
            "context.fillStyle = await burnish.ask('Which colour now?');",
            "context.fillRect(0, 0, 99, 99);",
            "burnish.done('drawn');",
        ),
    ],
    "page-question": ["blue"],
}


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("moment", ["in the middle of an answer", "page_told", "run_finished"])
def test_kill_9_then_resume(moment: str, work_folder: Path, store: Store) -> None:
    work_folder.joinpath("answers.json").write_text(json.dumps(ANSWERS))
    command = ["page", "a blue bar on a canvas", "--headless", "--model", "scripted:answers.json", "--out", "result"]
    killed = subprocess.run([sys.executable, "-c", DEADLY, moment, *command], cwd=work_folder, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = store.open("last")

    told = burnish("resume", cwd=work_folder)
    assert told.returncode == 0, told.stdout + told.stderr
    run = store.open("last")
    answers = Counter(reply.ask_id for reply in run.all(ModelReplied) if reply.ended != "cut")
    assert [ask_id for ask_id, count in answers.items() if count > 1] == []
    lost = Counter(asked.ask_id for asked, _ in Replay(before.events).lost)
    asked = Counter(event.ask_id for event in run.all(Asked))
    assert asked == Counter(dict.fromkeys(asked, 1)) + lost, "again only what the crash left without an answer"
    assert run.events[: len(before.events)] == before.events
    assert len({one.cycle for one in run.all(PageObserved)}) > 1
    assert [one.text for one in run.all(PageTold) if one.tool == "answer"][-1] == "blue"
    assert work_folder.joinpath("result", "page.js").read_text().strip() == run.code.strip()
    again = burnish("resume", run.id, cwd=work_folder)
    assert (again.returncode, store.open("last").events) == (0, run.events)
