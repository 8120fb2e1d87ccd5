"""Parts of the tests that run side by side leave nothing out and run nothing twice."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts import read, split
from tests.support import ROOT

WEIGHTS = {"a.py": 40, "b.py": 3, "c.py": 20, "d.py": 21, "e.py": 1, "f.py": 1}


@pytest.mark.parametrize("parts", [1, 2, 3, 9])
def test_every_file_is_in_exactly_one_part(parts: int) -> None:
    found = split(WEIGHTS, parts)
    assert sorted(name for part in found for name in part) == sorted(WEIGHTS)
    assert len(found) == parts


def test_parts_weigh_about_the_same_and_do_not_depend_on_the_order() -> None:
    found = split(WEIGHTS, 2)
    assert [sum(WEIGHTS[name] for name in part) for part in found] == [43, 43]
    assert found == split(dict(reversed(WEIGHTS.items())), 2)


@pytest.mark.parametrize("part", ["0/2", "3/2", "half", "1/0", "1/2/3", "-1/2"])
def test_what_is_no_part_is_refused(part: str) -> None:
    with pytest.raises(pytest.UsageError, match="--part 1/2"):
        read(part)


def test_two_parts_together_collect_what_one_alone_does(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / f"test_{name}.py").write_text("def test_a(): pass\ndef test_b(): pass\n")
    whole, first, second = (collected(tmp_path, part) for part in ("1/1", "1/2", "2/2"))
    assert first
    assert second
    assert sorted(first + second) == whole
    assert len(whole) == 6


def collected(folder: Path, part: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-p", "tests.parts", "-p", "no:cacheprovider", "--collect-only", "-q"]
    done = subprocess.run(
        [*command, "--rootdir", str(folder), "--part", part, str(folder)], cwd=ROOT, capture_output=True, text=True
    )
    return sorted(line for line in done.stdout.splitlines() if "::" in line)
