"""What a layer for a project needs, from the project's own files."""

import re
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.packages import read_project_needs, split_auto
from burnish.packages.requirements import ProjectNeeds, StatedRequirement, read_stated

PYPROJECT = """
[project]
name = "shop"
dependencies = ["numpy>=2", "colorama; sys_platform == 'win32'", "shop[x]", "odd @ https://192.0.2.1/odd.whl"]

[project.optional-dependencies]
test = ["hypothesis"]
docs = ["sphinx"]
"""


def test_dependencies_and_what_the_tests_need_are_wanted_and_nothing_of_other_machines(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    needed = read_project_needs(tmp_path)
    assert needed.packages == ("hypothesis", "numpy>=2")
    assert [words.startswith("odd (pyproject.toml, line 4) ") for words in needed.left_out] == [True]
    assert needed.instead.endswith(".venv/bin/pip install .")


WORK = """
[project]
name = "shop"

[project.optional-dependencies]
dev = ["tomli-w"]
docs = ["sphinx"]

[dependency-groups]
tests = ["pretend", {include-group = "fuzz"}]
fuzz = ["hypothesis"]
lint = ["ruff"]

[tool.hatch.envs.hatch-test]
extra-dependencies = ["freezegun"]

[tool.poetry.group.test.dependencies]
attrs = "^24"
"""


def test_what_is_stated_for_work_is_read_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(WORK)
    (tmp_path / "tox.ini").write_text("[testenv]\ndeps =\n    babel\n    py39: old\n    -r {toxinidir}/more.txt\n")
    (tmp_path / "more.txt").write_text("click\n")
    (tmp_path / "requirements-test.txt").write_text("sh\n")
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "tests.txt").write_text("pytest-mock\n")
    assert read_project_needs(tmp_path).packages == ()
    wanted = read_project_needs(tmp_path, for_work=True)
    named = "attrs babel click freezegun hypothesis pretend pytest-mock sh tomli-w"
    assert wanted.packages == tuple(named.split())
    (tmp_path / "requirements-test.txt").write_text("--index-url https://192.0.2.1/simple\nsh\n")
    with pytest.raises(SetupProblem, match="--index-url"):
        read_project_needs(tmp_path, for_work=True)


def test_auto_stands_for_what_the_project_states() -> None:
    assert split_auto(["numpy,auto", "attrs>=2,<3"]) == (["numpy", "attrs>=2,<3"], True)
    assert split_auto(["automat"]) == (["automat"], False)


def test_requirements_are_read_with_what_they_include(tmp_path: Path) -> None:
    (tmp_path / "base.txt").write_text("attrs==24.1\n")
    (tmp_path / "requirements.txt").write_text("-r base.txt\n--pre\n-e .\n./x.whl\nnumpy<3 # why\nnumpy>=2\n")
    (tmp_path / "requirements-dev.txt").write_text("ruff\n")
    assert read_project_needs(tmp_path).packages == ("attrs==24.1", "numpy<3,>=2")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("mylib @ git+https://me:secret@192.0.2.1/mylib.git", "mylib (requirements.txt, line 2)"),
        ("https://192.0.2.1/x.whl?token=secret", "requirements.txt, line 2"),
        ("-e git+ssh://me:secret@192.0.2.1/x#egg=mine", "mine (requirements.txt, line 2)"),
        ("./vendored", "./vendored (requirements.txt, line 2)"),
        ("-e ../other", "../other (requirements.txt, line 2)"),
        ("x y z secret", "requirements.txt, line 2"),
    ],
)
def test_what_no_layer_can_have_is_named_without_its_address(line: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "vendored").mkdir()
    (tmp_path / "requirements.txt").write_text(f"numpy\n{line}\n")
    needed = read_project_needs(tmp_path)
    assert needed.packages == ("numpy",)
    [left_out] = needed.left_out
    assert told in left_out
    assert not re.search(r"secret|192\.0\.2\.1", left_out)
    assert needed.instead.endswith(".venv/bin/pip install -r requirements.txt")


@pytest.mark.parametrize(
    "line", ["-e .", ".[dev]", "mylib @ https://192.0.2.1/x.whl ; sys_platform == 'win32'", "shop"]
)
def test_the_project_itself_and_what_other_machines_need_is_not_missed(line: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'Shop'\n")
    (tmp_path / "requirements.txt").write_text(f"{line}\n")
    assert read_project_needs(tmp_path).left_out == ()
    assert read_project_needs(tmp_path).packages == ()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--index-url https://me:secret@192.0.2.1/simple", "--index-url"),
        ("--extra-index-url=https://192.0.2.1/simple", "--extra-index-url"),
        ("--extra-index https://192.0.2.1/simple", "--extra-index"),
        ("-i https://192.0.2.1/simple", "-i"),
        ("-ihttps://192.0.2.1/simple", "-i"),
        ("--find-links wheels", "--find-links"),
        ("--require-hashes", "--require-hashes"),
        ("-c pins.txt", "-c"),
        ("attrs==24.1 \\\n  --hash=sha256:00", "--hash"),
        ("-r ../outside.txt", "-r with a file that was not read"),
        ("-r https://192.0.2.1/base.txt", "-r with a file that was not read"),
    ],
)
def test_a_private_name_is_not_asked_of_another_index(line: str, said: str, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.txt").write_text("evil\n")
    (root / "base.txt").write_text(f"attrs\n{line}\n")
    (root / "requirements.txt").write_text("-r base.txt\nour-private-thing\n")
    with pytest.raises(SetupProblem) as problem:
        read_project_needs(root)
    assert re.search(rf"^base\.txt, line 2\b.* {said}\b", str(problem.value))
    assert str(problem.value).endswith(".venv/bin/pip install -r requirements.txt")
    assert "secret" not in str(problem.value)
    names = [one.text for one in read_stated(root)[1] if isinstance(one, StatedRequirement)]
    assert names[0] == "attrs"
    assert names[-1] == "our-private-thing"


@pytest.mark.parametrize("table", ["[[tool.uv.index]]\nname = 'ours'", "[tool.uv.sources]\nx = {path = 'x'}"])
def test_an_index_in_pyproject_counts_too(table: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"{PYPROJECT}\n{table}\n")
    with pytest.raises(SetupProblem, match=r"^pyproject\.toml .*tool\.uv\."):
        read_project_needs(tmp_path)


def test_a_project_that_says_nothing_needs_nothing_and_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    assert read_project_needs(tmp_path) == ProjectNeeds(packages=())
    (tmp_path / "pyproject.toml").write_text("[project\n")
    (tmp_path / "requirements.txt").write_bytes(b"\xff\xfe\x00")
    needed = read_project_needs(tmp_path)
    assert needed.packages == ()
    assert [re.findall(r"pyproject\.toml|requirements\.txt", words) for words in needed.left_out] == [
        ["pyproject.toml"],
        ["requirements.txt"],
    ]
