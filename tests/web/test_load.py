"""What `benchmarks/web.py` measures, for seconds in place of minutes: machines that test are busy."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_hundred_page_loads_at_once_and_twenty_watchers_are_served_without_an_error() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "web.py"), "load", "3"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "no error" in done.stdout, done.stderr[-2000:]
    assert "20 watchers" in done.stdout
    assert done.returncode == 0, done.stdout


@pytest.mark.browser
@pytest.mark.timeout(120)
def test_a_run_of_five_thousand_events_opens_and_grows_without_a_wait() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "web.py"), "long"]
    done = subprocess.run(command, capture_output=True, text=True)
    figures = {
        float(limit): float(figure) for figure, limit in re.findall(r"([\d.]+) s \(limit ([\d.]+) s\)", done.stdout)
    }
    assert figures.keys() == {1.0, 0.1}, done.stderr[-2000:]
    assert all(figure < 10 * limit for limit, figure in figures.items()), done.stdout
