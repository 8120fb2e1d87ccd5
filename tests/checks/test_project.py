"""Settings come from pyproject.toml, and a wrong one is refused by name."""

from pathlib import Path

import pytest

from burnish.checks.project import Settings, read_settings
from burnish.errors import SetupProblem
from tests.snapshots import assert_snapshot


def settings(folder: Path, text: str) -> Settings:
    (folder / "pyproject.toml").write_text(text)
    return read_settings(folder)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings()


def test_what_is_written_holds(tmp_path: Path) -> None:
    read = settings(tmp_path, '[tool.burnish]\ncoverage = 90\nrequired = ["tests"]\nseverity = "high"\n')
    assert (read.coverage, read.required, read.severity) == (90.0, ("tests",), "high")


@pytest.mark.parametrize(
    "line",
    [
        "covrage = 90",
        "coverage = 120",
        "coverage = '90'",
        "coverage = nan",
        "network = 1",
        "required = ['test']",
        "required = 'tests'",
        "severity = 'worst'",
        "growth = 'cubic'",
        "test_seconds = 0",
    ],
)
def test_a_wrong_setting_is_refused_with_what_is_allowed(tmp_path: Path, line: str) -> None:
    with pytest.raises(SetupProblem) as caught:
        settings(tmp_path, f"[tool.burnish]\n{line}\n")
    assert line.split()[0] in str(caught.value)
    assert_snapshot(str(caught.value), f"bench/setting {line}")


LONG, DEEP = "1" * 5000, "[" * 5000
UNREADABLE = ["tool.burnish = 3\n", "[tool.burnish\n", "\xff\xfe", f"a = {LONG}\n", f"a = {DEEP}\n"]


@pytest.mark.parametrize("text", [*UNREADABLE, f"[tool.burnish]\nquality = 0x{LONG}\n"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(SetupProblem):
        read_settings(tmp_path)
