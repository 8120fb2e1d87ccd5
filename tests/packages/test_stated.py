"""What a layer for a project needs, from the project's own files."""

from pathlib import Path

from burnish.packages import requirements_of

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
    assert requirements_of(tmp_path) == ("hypothesis", "numpy>=2")


def test_requirements_are_read_with_what_they_include_but_nothing_from_outside(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.txt").write_text("evil\n")
    (root / "base.txt").write_text("attrs==24.1 \\\n  --hash=sha256:00\n")
    (root / "requirements.txt").write_text(
        "-r base.txt\n-r ../outside.txt\n--pre\n-e .\n./x.whl\nnumpy<3 # why\nnumpy>=2\n"
    )
    (root / "requirements-dev.txt").write_text("ruff\n")
    assert requirements_of(root) == ("attrs==24.1", "numpy<3,>=2")


def test_a_project_that_says_nothing_needs_nothing(tmp_path: Path) -> None:
    assert requirements_of(tmp_path) == ()
    (tmp_path / "pyproject.toml").write_text("[project\n")
    (tmp_path / "requirements.txt").write_bytes(b"\xff\xfe\x00")
    assert requirements_of(tmp_path) == ()
