"""The coverage check: which lines and branches the tests run, and which test runs which line."""

from pathlib import Path
from typing import Any

import pytest

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.inside import cover
from burnish.checks.bench.project_finder import find_project
from burnish.checks.coverage import CoverageCheck, measure, read_touched, runs_of
from burnish.errors import CheckError
from tests.checks.project_support import CODE, GOOD, TEST, covered, made
from tests.snapshots import assert_snapshot

LONG = "def double(n):\n" + "    n = n + 0\n" * 300 + "    return 2 * n\n"
UNTESTED = CODE + "\n\ndef half(n):\n    if n % 2:\n        raise ValueError(n)\n    return n // 2\n"


@pytest.mark.slow
def test_a_good_project_is_covered_and_each_line_knows_its_tests() -> None:
    project = find_project([GOOD / "src"])
    with CheckContext(project) as context:
        evidence = CoverageCheck().judge(project, context)
        assert (evidence.verdict, evidence.figure) == ("passed", "80 % of lines and branches"), evidence
        assert evidence.threshold == "at least 75 %"
        touched = read_touched(measure(project, context), "src/shop/prices.py")
    assert touched[22] == ("tests/test_prices.py::TestDiscount::test_member",)
    assert touched[23] == ("tests/test_prices.py::TestDiscount::test_stranger",)
    assert len(touched[7]) == 12, "what runs at import runs for every test"
    assert 28 not in touched


@pytest.mark.slow
def test_what_a_shared_fixture_runs_belongs_to_every_test() -> None:
    project = find_project([GOOD / "src"])
    with CheckContext(project) as context:
        assert len(read_touched(measure(project, context), "src/shop/stock.py")[9]) == 12


def test_beyond_a_bound_all_tests_run_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    report: dict[str, Any] = {"executed_lines": [1, 2], "missing_lines": [], "excluded_lines": []}
    contexts, numbers = {1: ["a"], 2: ["a", "b", ""]}, {"a": 0, "b": 1}
    assert cover.summarise_report(report, contexts, numbers)["sets"] == [(0,), (-1, 0, 1)]
    monkeypatch.setattr(cover, "MOST_NUMBERS", 2)
    assert cover.summarise_report(report, contexts, numbers)["sets"] == [(0,), (-1,)]


@pytest.mark.slow
def test_many_tests_with_long_names_are_no_limit(tmp_path: Path) -> None:
    many = "import pytest\nfrom code_ import double\n" + (
        f"@pytest.mark.parametrize('n', range(400), ids=lambda n: f'{{n}}-{'long' * 150}')\n"
        "def test_it(n):\n    assert double(n) == 2 * n\n"
    )
    evidence = covered(made(tmp_path, {"code_.py": LONG, "test_it.py": many}))
    assert evidence.verdict == "passed", evidence.why


@pytest.mark.slow
def test_options_of_a_coverage_plugin_that_is_not_there_are_left(tmp_path: Path) -> None:
    ini = "[pytest]\naddopts = --cov=code_ --cov-report=term-missing --cov-branch\n"
    evidence = covered(made(tmp_path, {"code_.py": CODE, "test_it.py": TEST, "pytest.ini": ini}))
    assert evidence.verdict == "passed", evidence.why


@pytest.mark.slow
def test_lines_that_no_test_runs_are_findings_and_fail(tmp_path: Path) -> None:
    evidence = covered(made(tmp_path, {"code_.py": UNTESTED, "test_it.py": TEST}))
    assert (evidence.verdict, evidence.figure) == ("failed", "38 % of lines and branches"), evidence
    [finding] = seen(evidence.details["findings"])
    assert (finding["file"], finding["line"], finding["rule"]) == ("code_.py", 6, "line")
    assert seen(evidence.details["files"])[0]["missing"] == [6, 7, 8]


@pytest.mark.slow
def test_a_branch_that_is_never_taken_is_a_finding(tmp_path: Path) -> None:
    tests = TEST.replace("import double", "import double, half") + "    assert half(2) == 1\n"
    evidence = covered(made(tmp_path, {"code_.py": UNTESTED, "test_it.py": tests}, "coverage = 90"))
    assert evidence.verdict == "failed"
    assert [(finding["line"], finding["rule"]) for finding in seen(evidence.details["findings"])] == [
        (7, "line"),
        (6, "branch"),
    ]
    assert seen(evidence.details["files"])[0]["missing_branches"] == [[6, 7]]
    assert_snapshot("\n".join(finding["what"] for finding in seen(evidence.details["findings"])), "bench/missed lines")


@pytest.mark.slow
def test_a_file_that_nobody_imports_counts(tmp_path: Path) -> None:
    evidence = covered(made(tmp_path, {"other.py": "def f():\n    return 1\n", "test_it.py": TEST}))
    assert (evidence.verdict, evidence.figure) == ("failed", "50 % of lines and branches")


@pytest.mark.slow
def test_failing_tests_do_not_stop_the_measuring(tmp_path: Path) -> None:
    evidence = covered(made(tmp_path, {"test_it.py": TEST.replace("== 4", "== 5")}))
    assert (evidence.verdict, evidence.figure) == ("passed", "100 % of lines and branches")


@pytest.mark.slow
def test_code_that_does_not_parse_fails_by_name(tmp_path: Path) -> None:
    evidence = covered(made(tmp_path, {"broken.py": "def f(:\n", "test_it.py": TEST}))
    assert evidence.verdict == "failed"
    assert [row["file"] for row in seen(evidence.details["unread"])] == ["broken.py"]
    assert "broken.py" in evidence.why


@pytest.mark.slow
def test_no_tests_is_not_run(tmp_path: Path) -> None:
    assert covered(made(tmp_path, {})).verdict == "not_run"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [("leaves", "import os\n\n\ndef test_x():\n    os._exit(0)\n"), ("empty", "X = 1\n")],
    ids=["leaves", "empty"],
)
def test_tests_that_end_early_or_are_none_are_not_run(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(CheckError) as caught:
        covered(made(tmp_path, {"test_x.py": text}))
    assert_snapshot(str(caught.value), f"bench/coverage of a suite that {name}")


@pytest.mark.slow
def test_a_coverage_package_that_cannot_be_imported_is_not_run(tmp_path: Path) -> None:
    broken = {"coverage/__init__.py": "raise ImportError('broken tool')\n", "test_it.py": TEST}
    with pytest.raises(CheckError, match="broken tool"):
        covered(made(tmp_path, broken))


@pytest.mark.slow
def test_a_pragma_does_not_hide_generated_code(tmp_path: Path) -> None:
    hidden = UNTESTED.replace("def half(n):", "def half(n):  # pragma: no cover")
    files = {"code_.py": hidden, "test_it.py": TEST}
    assert covered(made(tmp_path, files)).figure.startswith("100 %")
    assert covered(made(tmp_path, files, generated=True)).figure.startswith("38 %")


def test_stretches_end_where_a_line_ran() -> None:
    assert runs_of((2, 3, 5, 9), (1, 4, 7)) == [[2, 3], [5], [9]]
    assert runs_of((2, 3, 9), (1,)) == [[2, 3, 9]]


def seen(value: object) -> Any:
    """Details are plain data; tests look into them."""
    return value
