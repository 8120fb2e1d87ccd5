"""`burnish.check`: real checks on small projects; whatever is wrong with one, the others give their answers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import burnish
from burnish.checks.project import CHECKS
from burnish.checks.verdict import CheckResults, Watcher
from burnish.events import Evidence
from tests.support import assert_words

CODE = '''"""Leap years."""


def is_leap(year: int) -> bool:
    """Whether the year has a 29th of February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
'''
TESTS = """from leap import is_leap


def test_leap_years():
    assert [is_leap(year) for year in (1896, 1900, 1999, 2000, 2024)] == [True, False, False, True, True]


def test_centuries():
    assert [year for year in range(1600, 2400, 100) if is_leap(year)] == [1600, 2000]
"""
STATIC = ("security", "quality")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with code and tests that pass."""
    folder = tmp_path / "leap"
    (folder / "tests").mkdir(parents=True)
    (folder / "leap.py").write_text(CODE)
    (folder / "tests" / "test_leap.py").write_text(TESTS)
    return folder


def verdicts(checked: CheckResults) -> dict[str, str]:
    return {item.check: item.verdict for item in checked.evidence}


class Heard(Watcher):
    """What a looker-on hears."""

    def __init__(self) -> None:
        self.begins: list[str] = []
        self.ends: list[str] = []

    def begin(self, check: str) -> None:
        self.begins.append(check)

    def finish(self, evidence: Evidence, seconds: float) -> None:
        self.ends.append(evidence.check)


@pytest.mark.slow
def test_good_code_passes_every_required_check(project: Path, tmp_path: Path) -> None:
    heard = Heard()
    checked = burnish.check(project, out=tmp_path / "out", watch=heard)
    assert checked.passed, [(item.check, item.verdict, item.why) for item in checked.evidence]
    assert sorted(heard.begins) == sorted(heard.ends) == sorted(CHECKS)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.html", "report.json", "report.md"]
    assert sorted(path.name for path in project.iterdir()) == ["leap.py", "tests"], "the project is not touched"


@pytest.mark.slow
def test_a_wrong_result_fails_the_tests_and_the_whole(project: Path) -> None:
    (project / "leap.py").write_text(CODE.replace("% 400 == 0", "% 500 == 0"))
    checked = burnish.check(project, only=["tests", *STATIC])
    assert verdicts(checked) == {"tests": "failed", "security": "passed", "quality": "passed"}
    assert not checked.passed


@pytest.mark.slow
def test_no_tests_at_all_leaves_the_reading_checks(project: Path) -> None:
    (project / "tests" / "test_leap.py").unlink()
    checked = burnish.check(project / "leap.py", only=["tests", "coverage", "mutation", *STATIC])
    assert verdicts(checked) == dict.fromkeys(("tests", "coverage", "mutation"), "not_run") | dict.fromkeys(
        STATIC, "passed"
    )
    assert_words(checked["tests"].why)


@pytest.mark.slow
def test_tests_that_do_not_import_fail_and_the_others_answer(project: Path) -> None:
    (project / "tests" / "test_leap.py").write_text("import not_there_at_all\n\n\ndef test_x():\n    assert True\n")
    checked = burnish.check(project, only=["tests", "mutation", *STATIC])
    assert verdicts(checked)["tests"] == "failed"
    assert "not_there_at_all" in checked["tests"].why
    assert [verdicts(checked)[name] for name in STATIC] == ["passed", "passed"]
    assert checked["mutation"].verdict != "passed"


@pytest.mark.slow
def test_code_that_does_not_parse_is_never_a_pass(project: Path) -> None:
    (project / "leap.py").write_text("def is_leap(year:\n")
    checked = burnish.check(project)
    assert len(checked.evidence) == len(CHECKS)
    assert not {name for name, verdict in verdicts(checked).items() if verdict == "passed"} & {*CHECKS[:4], "quality"}
    assert not checked.passed


@pytest.mark.slow
def test_a_suite_that_hangs_ends_at_its_limit(project: Path) -> None:
    (project / "tests" / "test_leap.py").write_text("def test_x():\n    while True:\n        pass\n")
    (project / "pyproject.toml").write_text("[tool.burnish]\ntest_seconds = 2\n")
    checked = burnish.check(project, only=["tests", "security"])
    assert verdicts(checked) == {"tests": "failed", "security": "passed"}


def test_a_name_that_is_no_check_is_refused_before_any_work(project: Path) -> None:
    with pytest.raises(burnish.SetupProblem, match="Try: --only security$"):
        burnish.check(project, only=["securty"])


@pytest.mark.slow
def test_source_full_of_markup_stays_text(project: Path, tmp_path: Path) -> None:
    wild = "</code></div><script>alert(1)</script><img src=x onerror=alert(2)> [red]x[/red] \\x1b[31m"
    (project / "leap.py").write_text(f'{CODE}\n\ndef never(x):\n    return eval(x), "{wild}\x1b]0;t\x07"\n')
    burnish.check(project, only=["coverage", *STATIC], out=tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "&lt;script&gt;alert(1)" in page
    assert not [tag for tag in ("<script", "<img", "\x1b", "\x07") if tag in page]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [str, Path, lambda file: [file]], ids=["text", "path", "several"])
def test_one_file_of_tests_may_be_named_as_it_is(kind: Callable[[Path], Any], project: Path) -> None:
    checked = burnish.check(project / "leap.py", kind(project / "tests" / "test_leap.py"), only=["tests"])
    assert verdicts(checked) == {"tests": "passed"}
