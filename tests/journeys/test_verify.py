"""Somebody has code written and hands the folder on; somebody else finds out what its evidence is worth."""

import json
import shutil
from pathlib import Path

import pytest

from burnish.checks.project import CHECKS
from tests.evidence.delivered import edit
from tests.support import burnish

DEMO = ("write", "a function double(n), e.g. double(3) == 6", "--model", "scripted:demo", "--quiet")


def handed_on(tmp_path: Path, *options: str) -> tuple[Path, dict[str, str]]:
    """A delivered folder on another machine: one with a home of its own."""
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    mine.mkdir()
    done = burnish(*DEMO, *options, "--out", "double", cwd=mine, env={"BURNISH_HOME": str(mine / "home")})
    assert done.returncode == 0, done.stderr
    shutil.copytree(mine / "double", theirs / "double")
    shutil.rmtree(mine)
    return theirs, {"BURNISH_HOME": str(theirs / "home")}


@pytest.mark.slow
def test_a_folder_is_handed_on_and_holds_until_somebody_helps_it_along(tmp_path: Path) -> None:
    theirs, env = handed_on(tmp_path, "--fast")
    first = burnish("verify", "double", "--fast", cwd=theirs, env=env)
    assert first.returncode == 0, first.stdout + first.stderr
    assert first.stdout.splitlines()[-1].startswith("It holds: plausible, ")
    text = (theirs / "double" / "evidence.json").read_text()
    assert str(tmp_path) not in text
    (theirs / "double" / "conftest.py").write_text("")
    second = burnish("verify", "double", cwd=theirs, env=env)
    assert second.returncode == 1
    assert "conftest.py is a file that the evidence does not know" in second.stdout


@pytest.mark.slow
def test_all_checks_hold_again_and_a_better_mutation_score_does_not(tmp_path: Path) -> None:
    theirs, env = handed_on(tmp_path)
    whole = burnish("verify", "double", "--json", cwd=theirs, env=env, seconds=120)
    answers = {claim["what"]: claim["answer"] for claim in json.loads(whole.stdout)["claims"]}
    assert whole.returncode == 0
    assert answers == dict.fromkeys(("verdict", *CHECKS), "holds") | {"record": "not_tried"}
    edit(theirs / "double", lambda data: data["checks"][2].update(figure="12 %", verdict="failed"))
    edited = burnish("verify", "double", "--json", cwd=theirs, env=env, seconds=120)
    answers = {claim["what"]: claim["answer"] for claim in json.loads(edited.stdout)["claims"]}
    assert edited.returncode == 1
    assert [what for what, answer in answers.items() if answer == "does_not_hold"] == ["mutation"]
