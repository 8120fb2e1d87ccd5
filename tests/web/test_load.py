"""Two hundred people load pages at once while twenty watch: for seconds what `benchmarks/web.py` does for a minute."""

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
