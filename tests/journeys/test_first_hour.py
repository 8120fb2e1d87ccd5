"""A stranger's first hour at the command line, with the scripted model and the real sandbox."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import DOUBLE, burnish

DEMO = ("--model", "scripted:demo")


@pytest.mark.slow
def test_a_stranger_writes_looks_rates_goes_on_and_tidies_up(work_folder: Path) -> None:
    wrote = burnish("write", DOUBLE, *DEMO, cwd=work_folder)
    assert wrote.returncode == 0, wrote.stderr
    assert "PLAUSIBLE (" in wrote.stdout
    folder = work_folder / "double"
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=folder, capture_output=True, text=True
    )
    assert "5 passed" in tested.stdout
    assert "**Plausible (" in (folder / "report.md").read_text()

    [row] = json.loads(burnish("runs", "--json", cwd=work_folder).stdout)
    assert (row["state"], row["folder"]) == ("plausible", str(folder))

    shown = burnish("show", row["id"][:6], "--all", cwd=work_folder)
    assert shown.returncode == 0
    assert "asked draft-1" in shown.stdout

    assert burnish("rate", "last", "4", "fails on 0", cwd=work_folder).returncode == 0

    more = burnish("write", "--from", "last", "also zero: double(0) == 0", *DEMO, "--fast", "--quiet", cwd=work_folder)
    assert (more.returncode, more.stdout.strip()) == (0, str(work_folder / "double-2"))
    tests = (work_folder / "double-2" / "test_solution.py").read_text()
    assert "assert double(5) == 10" in tests
    assert "assert double(0) == 0" in tests

    assert burnish("rm", row["id"], "--yes", cwd=work_folder).returncode == 0
    [left] = json.loads(burnish("runs", "--json", cwd=work_folder).stdout)
    assert left["id"] != row["id"]
    assert (folder / "solution.py").exists()
