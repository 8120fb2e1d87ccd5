"""kill -9 at any moment of a page's run: `burnish resume` asks nothing twice, and ends it."""

import json
import signal
from pathlib import Path

import pytest

from burnish.events import PageObserved, PageTold
from burnish.runs import Store
from tests.killed import assert_goes_on, run_until
from tests.pages.made import js
from tests.support import burnish

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
@pytest.mark.parametrize("moment", ["answer 3", "page_told", "run_finished"])
def test_kill_9_then_resume(moment: str, work_folder: Path, store: Store) -> None:
    work_folder.joinpath("answers.json").write_text(json.dumps(ANSWERS))
    command = ["page", "a blue bar on a canvas", "--headless", "--model", "scripted:answers.json", "--out", "result"]
    killed = run_until(moment, *command, cwd=work_folder)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = store.open("last")

    told = burnish("resume", cwd=work_folder)
    assert told.returncode == 0, told.stdout + told.stderr
    run = store.open("last")
    assert_goes_on(run, before)
    assert len({one.cycle for one in run.all(PageObserved)}) > 1
    assert [one.text for one in run.all(PageTold) if one.tool == "answer"][-1] == "blue"
    assert work_folder.joinpath("result", "page.js").read_text().strip() == run.code.strip()
    again = burnish("resume", run.id, cwd=work_folder)
    assert (again.returncode, store.open("last").events) == (0, run.events)
