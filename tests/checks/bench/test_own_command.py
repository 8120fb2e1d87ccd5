"""The project's own test command: read where it is plainly pytest, and named where it is not."""

from pathlib import Path

import pytest

from burnish.checks.bench.own_command import find_own_command, follow_own_command, parse_command
from tests.checks.project_support import made

NOX = """
import nox

@nox.session
def tests(session):
    session.install("pytest")
    session.run("coverage", "run", "-m", "pytest", "--doctest-modules", *session.posargs)
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pytest", ()),
        ("coverage run -m pytest -q --cov=shop --doctest-modules {posargs:tests}", ("--doctest-modules", "tests")),
        ("{envpython} -m pytest --cov shop --cov-report html -n auto {posargs}", ()),
        ("pytest -v --basetemp={envtmpdir} -m 'not slow' {toxinidir}/tests", ("-m", "not slow", "tests")),
        ("\t@$(PYTHON) -m pytest --runslow tests/unit", ("--runslow", "tests/unit")),
        ("pytest tests | tee log", None),
        ("pytest {[base]tests}", None),
    ],
)
def test_words_that_choose_tests_are_kept_and_those_about_output_are_not(
    line: str, words: tuple[str, ...] | None
) -> None:
    found = parse_command(line, "tox.ini")
    assert found is not None
    assert found.words == words


@pytest.mark.parametrize("line", ["python -m unittest", "pip install pytest", "mypy src"])
def test_other_commands_are_none(line: str) -> None:
    assert parse_command(line, "tox.ini") is None


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        ("tox.ini", "[testenv]\ncommands =\n    pytest \\\n      --doctest-modules {posargs}\n", "tox.ini [testenv]"),
        ("noxfile.py", NOX, "noxfile.py tests"),
        (
            "pyproject.toml",
            '[tool.hatch.envs.default.scripts]\ntest = "pytest --doctest-modules {args}"\n',
            "pyproject.toml tool.hatch.envs.default",
        ),
        ("Makefile", "all:\n\techo\ntest: all\n\tpytest --doctest-modules\n", "Makefile test"),
    ],
)
def test_the_command_is_found_where_projects_keep_it(tmp_path: Path, file: str, text: str, place: str) -> None:
    (tmp_path / file).write_text(text)
    own = find_own_command(tmp_path)
    assert (own.source, own.words, own.unread) == (place, ("--doctest-modules",), "")


def test_a_command_that_cannot_be_followed_is_told_and_pytest_collects_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "tox.ini").write_text("[testenv]\ncommands =\n    pytest tests/unit\n    pytest tests/slow\n")
    own = find_own_command(tmp_path)
    assert (own.collects, own.words, own.unread) == (True, (), "pytest tests/unit")
    (tmp_path / "tox.ini").write_text("[testenv]\ncommands = pytest nowhere\n")
    assert find_own_command(tmp_path).unread == "pytest nowhere"
    (tmp_path / "tox.ini").write_text("[testenv\n")
    assert find_own_command(tmp_path).source == ""


def test_only_a_whole_project_is_left_to_its_own_command(tmp_path: Path) -> None:
    project = made(tmp_path, {"src/shop.py": "", "tests/test_it.py": "def test_it(): pass\n"})
    for named, collects in ((tmp_path, True), (tmp_path / "src", True), (tmp_path / "code_.py", False)):
        own = follow_own_command(project, [named], named_tests=False).own
        assert own is not None
        assert own.collects is collects
    assert not follow_own_command(project, [tmp_path], named_tests=True).own.collects  # type: ignore[union-attr]
