"""A whole project is judged as its own command judges it: the same tests, and the same lines."""

from pathlib import Path

import pytest

from burnish.checks.bench.missing_packages import explain_missing, find_missing_packages
from burnish.checks.bench.own_command import follow_own_command
from burnish.checks.project import Project
from tests.checks.project_support import CODE, TEST, covered, judged, made

SHOWN = CODE.replace("return", '"""Twice.\n\n    >>> double(2)\n    5\n    """\n    return')
"""With an example that is wrong, which nobody runs unless the project says so."""
SETTINGS = "[pytest]\npython_files = check_*.py\ntestpaths = spec\nnorecursedirs = old\naddopts = --ff -n4\n"
MANY = """\
import pytest
from code_ import double


@pytest.mark.parametrize("n", range({}))
def test_double(n):
    assert double(n) == 2 * n
"""


def whole(folder: Path, files: dict[str, str]) -> Project:
    """All of a small project, as `burnish check .` sees it."""
    return follow_own_command(made(folder, files), [folder], named_tests=False)


@pytest.mark.slow
def test_examples_count_only_where_the_project_runs_them(tmp_path: Path) -> None:
    project = whole(tmp_path, {"code_.py": SHOWN, "tests/test_it.py": TEST})
    assert (judged(project).verdict, judged(project).figure) == ("passed", "1 passed")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --doctest-modules\n")
    assert (judged(project).verdict, judged(project).figure) == ("failed", "1 passed, 1 failed")


@pytest.mark.slow
def test_examples_are_all_there_is_where_there_is_no_test(tmp_path: Path) -> None:
    assert judged(whole(tmp_path, {"code_.py": SHOWN})).figure == "1 failed"
    assert judged(whole(tmp_path, {"code_.py": SHOWN.replace("5", "4")})).figure == "1 passed"


@pytest.mark.slow
def test_settings_of_pytest_say_which_tests_there_are(tmp_path: Path) -> None:
    files = {
        "pytest.ini": SETTINGS,
        "spec/check_it.py": TEST,
        "spec/old/check_old.py": "def test_old(): assert False\n",
        "tests/test_other.py": "def test_other(): assert False\n",
    }
    evidence = judged(whole(tmp_path, files))
    assert (evidence.verdict, evidence.figure) == ("passed", "1 passed"), evidence.why


@pytest.mark.slow
def test_code_that_asks_who_its_user_is_is_told(tmp_path: Path) -> None:
    asks = "import getpass\n\n\ndef test_it():\n    assert getpass.getuser()\n"
    assert judged(whole(tmp_path, {"tests/test_it.py": asks})).verdict == "passed"


@pytest.mark.slow
def test_words_of_the_project_s_command_are_followed_and_told(tmp_path: Path) -> None:
    files = {"tests/test_it.py": TEST, "tests/test_bad.py": "def test_bad(): assert False\n"}
    files["tox.ini"] = "[testenv]\ncommands = pytest tests/test_it.py\n"
    evidence = judged(whole(tmp_path, files))
    assert evidence.figure == "1 passed"
    assert "tox.ini [testenv]" in evidence.why


@pytest.mark.slow
def test_coverage_keeps_to_the_project_s_settings_and_names_what_they_leave_out(tmp_path: Path) -> None:
    more = "\n\ndef unused():\n    raise NotImplementedError\n"
    files = {"code_.py": CODE + more, "legacy.py": CODE, "tests/test_it.py": TEST}
    assert "3 lines" in covered(whole(tmp_path, files)).why
    (tmp_path / ".coveragerc").write_text("[run]\nomit = leg*\n[report]\nexclude_also =\n    def unused\n")
    evidence = covered(whole(tmp_path, files))
    assert evidence.figure == "100 % of lines and branches"
    assert evidence.details["left_out"] == [{"file": "legacy.py", "by": "omit"}]


@pytest.mark.slow
def test_settings_of_coverage_that_cannot_be_followed_are_told(tmp_path: Path) -> None:
    files = {"tests/test_it.py": TEST, ".coveragerc": "[run]\nsource = nowhere\n"}
    evidence = covered(whole(tmp_path, files))
    assert (evidence.verdict, evidence.details["percent"]) == ("passed", 100.0)
    assert "nowhere" in evidence.why
    files[".coveragerc"] = "[run]\nplugins = no_such_plugin\n"
    assert "no_such_plugin" in covered(whole(tmp_path, files)).why


@pytest.mark.slow
def test_an_option_of_a_plugin_that_is_missing_is_said_with_the_line_that_mends_it(tmp_path: Path) -> None:
    files = {"tests/test_it.py": TEST, "pytest.ini": "[pytest]\naddopts = --isort\n"}
    why = judged_why(whole(tmp_path, files).model_copy(update={"has_environment": False}))
    assert why.endswith("add --with pytest-isort --allow-package pytest-isort")


def judged_why(project: Project) -> str:
    """Why the tests could not be judged."""
    from burnish.checks.bench.check_context import CheckContext
    from burnish.checks.verdict import judge_all

    with CheckContext(project) as context:
        return judge_all(project, context, ["tests"])["tests"].why


@pytest.mark.parametrize(
    ("said", "packages"),
    [
        ("error: unrecognized arguments: --isort --mypy-ini=x --ours", ("pytest-isort", "pytest-mypy")),
        ("fixture 'mocker' not found", ("pytest-mock",)),
        ("fixture 'shop' not found", ()),
        ("Missing required plugins: pytest-xdist>=3, never-heard-of-it", ("pytest-xdist",)),
        ("'asyncio' not found in `markers` configuration option", ("pytest-asyncio",)),
        ("async def functions are not natively supported.", ("pytest-asyncio",)),
        (
            "ModuleNotFoundError: No module named 'numpy'\nModuleNotFoundError: No module named 'attr'",
            ("numpy", "attrs"),
        ),
    ],
)
def test_what_is_missing_is_read_from_what_was_said(tmp_path: Path, said: str, packages: tuple[str, ...]) -> None:
    project = made(tmp_path, {})
    assert find_missing_packages([said], project) == packages
    alone = project.model_copy(update={"has_environment": False})
    assert (",".join(packages) in explain_missing(packages, alone)) is bool(packages) or not packages


@pytest.mark.slow
def test_a_suite_with_more_tests_than_are_told_apart_finishes_and_says_what_is_lost(tmp_path: Path) -> None:
    evidence = covered(whole(tmp_path, {"tests/test_it.py": MANY.format(5001)}))
    assert (evidence.verdict, evidence.details["tests_apart"]) == ("passed", False)
    assert "5,001 tests" in evidence.why
