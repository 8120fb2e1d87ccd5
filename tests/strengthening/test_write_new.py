"""New files of tests are put in place whole or not at all, and never over another."""

import os
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.strengthening.new_file import write_new


def test_files_are_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    done = write_new(tmp_path, {Path("test_a.py"): "a = 'ü'\n", Path("test_b.py"): "b = 1\n"}, [Path()])
    assert done == [tmp_path / "test_a.py", tmp_path / "test_b.py"]
    assert {file.name: file.read_text("utf-8") for file in tmp_path.iterdir()} == {
        "test_a.py": "a = 'ü'\n",
        "test_b.py": "b = 1\n",
    }


def test_a_file_that_has_come_meanwhile_stays_and_then_none_is_written(tmp_path: Path) -> None:
    (tmp_path / "test_b.py").write_text("mine = 1\n")
    with pytest.raises(SetupProblem, match="test_b.py"):
        write_new(tmp_path, {Path("test_a.py"): "a = 1\n", Path("test_b.py"): "b = 1\n"}, [Path()])
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"test_b.py": "mine = 1\n"}


def test_ctrl_c_leaves_no_half_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_new(tmp_path, {Path("test_a.py"): "a = 1\n"}, [Path()])
    assert list(tmp_path.iterdir()) == []
