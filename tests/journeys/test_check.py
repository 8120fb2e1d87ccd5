"""Somebody checks a project, reads what is wrong, puts it right; and somebody has code written that is then checked."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import burnish as door
from burnish.checks.project import CHECKS
from tests.support import burnish

WEAK = '''"""Money."""

import subprocess


def tax(amount: float, rate: float) -> float:
    """What is owed."""
    if rate > 1:
        rate = rate / 100
    return round(amount * rate, 2)


def pay(who: str) -> int:
    """Call the bank."""
    return subprocess.call("pay " + who, shell=True)
'''
SOUND = WEAK.split("\n\n\ndef pay")[0].replace("\nimport subprocess\n\n", "") + "\n"
FEW = "from money import tax\n\n\ndef test_tax():\n    assert tax(0, 0.5) == 0\n"
MORE = """import pytest

from money import tax


@pytest.mark.parametrize(
    ("amount", "rate", "owed"),
    [(0, 0.5, 0), (10, 0.5, 5), (10, 1, 10), (10, 2, 0.2), (10, 50, 5), (1, 0.333, 0.33), (10, 1.5, 0.15)],
)
def test_tax(amount, rate, owed):
    assert tax(amount, rate) == owed
"""


@pytest.mark.slow
def test_from_a_bad_verdict_to_a_good_one(tmp_path: Path) -> None:
    (tmp_path / "money.py").write_text(WEAK)
    (tmp_path / "test_money.py").write_text(FEW)
    first = burnish("check", "money.py", "--out", "report", cwd=tmp_path)
    assert first.returncode == 1, first.stderr
    assert "Not good enough yet: coverage, mutation and security failed." in first.stdout
    assert "money.py:15" in first.stdout
    page = (tmp_path / "report" / "report.html").read_text()
    assert "<em>failed</em>" in page
    assert 'class="in">+' in page, "a mutant that survived is a diff"

    (tmp_path / "money.py").write_text(SOUND)
    (tmp_path / "test_money.py").write_text(MORE)
    again = burnish("check", "money.py", "--only", "tests,coverage,mutation,security", "--json", cwd=tmp_path)
    told = json.loads(again.stdout)
    assert (again.returncode, told["passed"]) == (0, True), [(e["check"], e["why"]) for e in told["evidence"]]


@pytest.mark.slow
def test_ctrl_c_ends_it_at_once_and_leaves_no_cell(tmp_path: Path) -> None:
    (tmp_path / "money.py").write_text(SOUND)
    (tmp_path / "test_money.py").write_text("import time\n\n\ndef test_x():\n    time.sleep(600)\n")
    command = [sys.executable, "-m", "burnish", "check", "money.py", "--only", "tests,security"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert "security" in process.stdout.readline()
        time.sleep(1)
        started = below(process.pid)
        os.kill(process.pid, signal.SIGINT)
        asked = time.monotonic()
        _, errors = process.communicate(timeout=30)
    assert time.monotonic() - asked < 5
    assert (process.returncode, "Traceback" in errors) == (130, False), errors
    assert started, "the tests were under way"
    assert alive(started) == set()


def below(process: int) -> set[int]:
    """All processes that this one started, and those that they started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found, more = {process}, {process}
    while more:
        more = {child for child, parent in parents.items() if parent in more} - found
        found |= more
    return found - {process}


def alive(processes: set[int]) -> set[int]:
    """Those that are still there."""
    return {process for process in processes if Path(f"/proc/{process}").exists()}


@pytest.mark.slow
def test_what_was_written_is_checked_and_reported(tmp_path: Path) -> None:
    run = door.write("a function double(n), e.g. double(3) == 6", model="scripted:demo", out=tmp_path / "double")
    assert run.verdict == "plausible"
    assert [evidence.check for evidence in run.evidence] == list(CHECKS)
    report = (tmp_path / "double" / "report.md").read_text()
    assert all(f"| {name} |" in report for name in CHECKS)


@pytest.mark.slow
def test_fast_leaves_out_the_two_slow_checks_and_the_report_says_so(tmp_path: Path) -> None:
    run = door.write("a function double(n), e.g. double(3) == 6", "scripted:demo", out=tmp_path / "double", fast=True)
    assert [evidence.check for evidence in run.evidence] == [
        name for name in CHECKS if name not in ("mutation", "performance")
    ]
    assert "Not checked: mutation, performance." in (tmp_path / "double" / "report.md").read_text()


@pytest.mark.slow
def test_code_that_fails_its_tests_is_read_but_not_run_again(tmp_path: Path) -> None:
    model = door.ScriptedModel(["```python\ndef run(text):\n    return None\n```"] * 2)
    limits = door.Limits(rounds=0)
    run = door.write("a function run(text), e.g. run('1') == 1 and run('7') == 7", model, limits=limits)
    verdicts = {item.check: item.verdict for item in run.evidence}
    assert run.verdict == "failed"
    assert [verdicts[name] for name in ("coverage", "mutation", "performance")] == ["not_run"] * 3
    assert verdicts["quality"] != "not_run"


@pytest.mark.slow
def test_a_tests_only_verdict_is_not_bent_by_the_checks(tmp_path: Path) -> None:
    """Code may be proven by its tests and still be told off by a check; both are reported."""
    answer = "```python\ndef run(text):\n    return eval(text)\n```"
    run = door.write("a function run(text), e.g. run('1') == 1", door.ScriptedModel([answer]), fast=True)
    assert run.verdict == "plausible"
    assert {item.check: item.verdict for item in run.evidence}["security"] == "failed"
