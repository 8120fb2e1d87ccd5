"""The tool itself: two quick cases are recorded, found again, and a planted difference is reported unless accepted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.observe import Eye, flat

ROOT = Path(__file__).resolve().parents[2]


def golden(*words: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "tests.golden",
        *words,
        "--checkout",
        str(ROOT),
        "--only",
        "input/apply",
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
def test_what_was_recorded_is_found_again_and_a_planted_difference_is_reported_unless_accepted(tmp_path: Path) -> None:
    file, accepted = tmp_path / "golden.json", tmp_path / "accepted.json"
    recorded = golden("record", "--out", str(file))
    assert recorded.returncode == 0, recorded.stderr
    compare = ("compare", "--golden", str(file), "--accepted", str(accepted))
    held = json.loads(file.read_text())
    assert [step["exit"] for step in held["input/apply"]] == [2, 2]
    held["input/apply"][0]["exit"] = 0
    file.write_text(json.dumps(held))
    told = golden(*compare)
    assert (told.returncode, told.stdout.splitlines()[0]) == (1, "input/apply/0/exit: 0 -> 2")
    accepted.write_text(json.dumps([{"where": "input/apply/*", "reason": "too wide for an exit code"}]))
    assert golden(*compare).returncode == 1
    accepted.write_text(json.dumps([{"where": "input/apply/*/exit", "reason": "a run is needed"}]))
    assert golden(*compare).returncode == 0


def test_times_ids_paths_and_sentences_are_not_kept_and_figures_are(tmp_path: Path) -> None:
    (tmp_path / "home/runs/double-1a2b").mkdir(parents=True)
    told = {
        "run": "double-1a2b",
        "seconds": 1.5,
        "why": "It is so.",
        "figure": "75 of 100",
        "folder": f"{tmp_path}/out",
    }
    kept = Eye(tmp_path, {str(tmp_path): "FOLDER"}).facts(told)
    assert kept == {"run": "RUN", "seconds": "float", "why": "text", "figure": ["75", "100"], "folder": "FOLDER/out"}


def test_a_difference_names_its_place() -> None:
    assert flat({"a": [{"b": 1}, 2], "c": {}}) == {"/a/0/b": 1, "/a/1": 2, "/c": {}}
