"""`burnish build` as it ships: a whole app without key or weights, used in a browser and attacked."""

import json
from pathlib import Path

import pytest

from burnish.runs import Store
from tests.support import burnish

SECONDS = 300.0
"""On a machine that does other things as well; alone, two cores need about a minute."""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(420)
@pytest.mark.parametrize(
    "sentence", ["a list of books to lend", "a book list with price and amount that computes the total"]
)
def test_the_demo_builds_a_whole_app(sentence: str, work_folder: Path, store: Store) -> None:
    done = burnish(
        "build", sentence, "--model", "scripted:demo", "--out", "app", "--json", cwd=work_folder, seconds=400
    )
    assert done.returncode == 0, done.stdout + done.stderr
    run = store.open("last")
    said = {one.check: one.verdict for one in run.evidence}
    assert (said["functional"], said["integration"]) == ("passed", "passed")
    assert run.seconds < SECONDS
    assert json.loads(done.stdout)["folder"] == str(work_folder / "app")
    verified = burnish("verify", "app", cwd=work_folder, seconds=300)
    assert verified.returncode == 0, verified.stdout + verified.stderr
