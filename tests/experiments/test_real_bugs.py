"""The harness of historical bugs on a repository of two commits: mined, prepared, carried through, and judged."""

import importlib
import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from burnish import ScriptedModel
from tests.support import ROOT

BROKEN = 'def double(n):\n    """Twice n."""\n    return n + 2\n\n\ndef half(n):\n    return n / 2\n'
FIXED = BROKEN.replace("n + 2", "n * 2")
TESTS = "from pack.core import double, half\n\n\ndef test_half():\n    assert half(4) == 2\n"
MORE = TESTS + "\n\ndef test_double():\n    assert double(3) == 6\n    assert double(5) == 10\n"
LATER = MORE + "\n\ndef test_double_of_nothing():\n    assert double(0) == 0\n"
PACKAGES = 'needs = []\n[pack]\nrepository = "somebody/pack"\n'


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ModuleType]:
    """The harness and the miner, with the environment of these tests for every package."""
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    harness, miner = importlib.import_module("real_bugs"), importlib.import_module("mine_bugs")
    for module in (harness, miner):
        monkeypatch.setattr(module, "make_environment", lambda *words, **more: Path(sys.executable))
    return harness, miner


@pytest.fixture
def repos(tmp_path: Path, scripts: tuple[ModuleType, ModuleType], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose second commit repairs a function, and whose third has one more test of it."""
    work = tmp_path / "work"
    (work / "pack").mkdir(parents=True)
    (work / "tests").mkdir()
    commits = (
        {"pack/__init__.py": "", "setup.py": "", "pack/core.py": BROKEN, "tests/test_core.py": TESTS},
        {"pack/core.py": FIXED, "tests/test_core.py": MORE},
        {"tests/test_core.py": LATER},
    )
    git(work, "init", "-q", "-b", "main")
    for number, files in enumerate(commits):
        for name, text in files.items():
            (work / name).write_text(text, "utf-8")
        git(work, "add", ".")
        git(work, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", f"Fix number {number}")
    place = tmp_path / "repos" / "somebody+pack" / "repo"
    place.parent.mkdir(parents=True)
    git(tmp_path, "clone", "-q", "--bare", str(work), str(place))
    (tmp_path / "packages.toml").write_text(PACKAGES, "utf-8")
    monkeypatch.setattr(scripts[0], "FACTS", tmp_path)
    return tmp_path / "repos"


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def mined(scripts: tuple[ModuleType, ModuleType], repos: Path) -> Any:
    """The bugs that the miner finds there."""
    package = scripts[0].read_packages()["pack"]
    return scripts[1].find_bugs(package, repos / "somebody+pack" / "repo", Path(sys.executable))


@pytest.mark.slow
def test_a_commit_that_repairs_one_function_is_found_with_its_tests(
    scripts: tuple[ModuleType, ModuleType], repos: Path
) -> None:
    [bug] = mined(scripts, repos)
    assert (bug.id, bug.file, bug.function) == ("pack-1", "pack/core.py", "double")
    assert bug.tests == ("tests/test_core.py::test_double",)
    assert bug.hidden == 1


def test_a_commit_that_changes_more_than_one_body_is_none(scripts: tuple[ModuleType, ModuleType]) -> None:
    find = scripts[1].find_changed_function
    assert find(BROKEN, FIXED) == "double"
    assert find(BROKEN, FIXED.replace("n / 2", "n // 2")) == ""
    assert find(BROKEN, FIXED.replace("double(n)", "double(n=0)")) == ""
    assert find(BROKEN, BROKEN.replace("Twice n", "Two times n")) == ""
    assert find(BROKEN, "import math\n" + FIXED) == "double"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "repaired"), [("return n * 2", True), ("return n * 2 if n else 9", False)], ids=["right", "wrong"]
)
def test_the_later_tests_judge_what_the_tests_of_the_fix_let_pass(
    scripts: tuple[ModuleType, ModuleType], repos: Path, tmp_path: Path, answer: str, repaired: bool
) -> None:
    harness, prepared = scripts[0], tmp_path / "prepared"
    bugs = mined(scripts, repos)
    harness.prepare(bugs, repos, prepared)
    reply = f"```python\ndef double(n):\n    {answer}\n```"
    bench = harness.Bench(prepared, 60.0, ScriptedModel([reply], whole=True), False, {})
    code = BROKEN.replace("return n + 2", answer)
    [archive] = prepared.glob("*.tar.xz")
    place = tmp_path / "place"
    harness.unpack(archive, place)
    row = bench.judge(bugs[0], place, Path(sys.executable), code, harness.Row("pack-1", "double"))
    assert row.repaired is repaired
    assert row.failing == (() if repaired else ("tests/test_core.py::test_double_of_nothing",))


@pytest.mark.slow
@pytest.mark.timeout(400)  # a whole repair, its checks and two judgements, beside other work
def test_upstreams_own_function_is_carried_through_and_known_rows_are_not_made_again(
    scripts: tuple[ModuleType, ModuleType], repos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    harness, prepared, out = scripts[0], tmp_path / "prepared", tmp_path / "rows.jsonl"
    bugs = mined(scripts, repos)
    harness.prepare(bugs, repos, prepared)
    given = Namespace(
        prepared=prepared, scripted_upstream=True, locate=False, model="", seconds=60.0, at_once=1, out=out
    )
    given.begin_for = -1.0
    harness.run(bugs, given)
    assert not out.exists(), "it was too late to begin"
    given.begin_for = None
    harness.run(bugs, given)
    [row] = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert (row["place"], row["repaired"], row["regressions"]) == (1, True, [])
    assert row["about"].keys() >= {"commit", "date", "machine", "seed", "model"}
    harness.run(bugs, given)
    assert len(out.read_text("utf-8").splitlines()) == 1
    assert "1 of them known" in capsys.readouterr().out
