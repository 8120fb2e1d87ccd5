"""Files are read once, never through a link, and nothing that lies beside them is passed over in silence."""

import hashlib
import os
import stat
import subprocess
from functools import partial
from pathlib import Path

import pytest

from burnish import SetupProblem
from burnish.evidence import build_dossier
from burnish.evidence.folder import read_folder
from burnish.evidence.schema import Dossier
from burnish.parsing import explain_refusal
from tests.evidence.test_build import FILES, RUN
from tests.snapshots import assert_snapshot

DOSSIER = build_dossier(RUN, FILES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "double"
    place.mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text)
    (place / "evidence.json").touch()
    return place


def in_a_package() -> Dossier:
    return DOSSIER.model_copy(update={"files": {"shop/double.py": DOSSIER.files["solution.py"]}})


def assert_refused(dossier: Dossier, folder: Path, name: str, snapshot: str) -> None:
    """One thing is wrong with the folder, and what is said of it begins with its name."""
    [said] = read_folder(dossier, folder).changed
    assert said.startswith(f"{name} ")
    assert_snapshot(said.removeprefix(name).strip(), f"evidence/{snapshot}")


def test_what_was_read_is_what_is_kept(folder: Path) -> None:
    held = read_folder(DOSSIER, folder)
    (folder / "solution.py").write_text("something else")
    assert held.changed == ()
    assert held.text("solution.py") == FILES["solution.py"]


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    (folder / "solution.py").unlink()
    os.mkfifo(folder / "solution.py")
    assert_refused(DOSSIER, folder, "solution.py", "a pipe")


def test_a_file_behind_a_linked_folder_is_not_read(folder: Path) -> None:
    (folder / "solution.py").rename(folder.parent / "double.py")
    (folder / "shop").symlink_to(folder.parent)
    said = next(line for line in read_folder(in_a_package(), folder).changed if line.startswith("shop/double.py "))
    assert_snapshot(said, "evidence/a file behind a link")


def test_a_huge_file_is_not_read_to_its_end(folder: Path) -> None:
    with (folder / "solution.py").open("wb") as file:
        file.truncate(10**12)
    assert_refused(DOSSIER, folder, "solution.py", "a huge file")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "conftest.py",
            "a/b/conftest.py",
            "sitecustomize.py",
            "usercustomize.py",
            "solution.so",
            "x.pth",
            "random.py",
        ),
        *(
            "json/__init__.py",
            "x.egg-link",
            "evil-1.dist-info/entry_points.txt",
            "evil.egg-info/top_level.txt",
            "x.zip",
        ),
        *("pytest.ini", "tox.ini", "setup.cfg", "setup.py", "pyproject.toml", "mypy.ini", ".mypy.ini", ".pylintrc"),
        *("ruff.toml", ".flake8", ".coveragerc", "requirements.txt", "requirements-dev.txt", "test_notes.txt"),
        *(".envrc", ".env", "Makefile", "GNUmakefile", "CMakeLists.txt", "justfile", "package.json", "Dockerfile"),
        *(".vscode/settings.json", ".vscode/tasks.json", ".idea/workspace.xml", ".devcontainer/devcontainer.json"),
        *(".pre-commit-config.yaml", "x.code-workspace", ".vimrc", ".exrc", ".gdbinit", ".tool-versions", ".mise.toml"),
        *(".git", "a/.git/config", "a/.git/x.py", ".GIT/config", "HEAD", "config", "objects/pack/x.pack"),
        *(
            ".pytest_cache/config",
            ".gitattributes",
            ".gitmodules",
            "AGENTS.md",
            "a/CLAUDE.md",
            "Solution.py",
            "REPORT.md",
        ),
        *("run", "run.sh", "x.desktop", "x.ipynb", "x.html", "__pycache__/x", ".bashrc", "sitecustomize.PY"),
    ],
)
def test_what_would_have_a_say_is_named(name: str, folder: Path) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).touch()
    assert_refused(DOSSIER, folder, name, "an unknown file")


@pytest.mark.parametrize("name", ["__pycache__/solution.cpython-311.pyc", ".pytest_cache/x.PYC", "double.pyo"])
def test_compiled_code_is_refused_wherever_it_lies(name: str, folder: Path) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).touch()
    assert_refused(DOSSIER, folder, name, "compiled code")


def test_a_link_in_the_place_of_what_is_passed_over_is_named(folder: Path) -> None:
    (folder / ".git").symlink_to(folder.parent)
    assert_refused(DOSSIER, folder, ".git", "a link")
    assert read_folder(DOSSIER, folder).unseen == ()


def test_a_folder_with_all_the_world_in_it_was_not_delivered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.evidence.folder.MOST_ENTRIES", 5)
    for number in range(6):
        (folder / f"{number}.txt").touch()
    with pytest.raises(SetupProblem) as problem:
        read_folder(DOSSIER, folder)
    assert_snapshot(str(problem.value), "evidence/too many files", folder=folder)


@pytest.mark.parametrize(
    "name",
    [
        *("notes.txt", "docs/more.md", "LICENSE", ".gitignore", ".editorconfig", "plot.png", "data.csv", "a/b/README"),
        *(".pytest_cache/README.md", ".pytest_cache/CACHEDIR.TAG", ".pytest_cache/v/cache/nodeids"),
        *(".ruff_cache/0.4.4/12", ".mypy_cache/3.11/solution.data.json"),
    ],
)
def test_what_nothing_runs_is_named_and_let_be(name: str, folder: Path) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).touch()
    held = read_folder(DOSSIER, folder)
    assert (held.changed, held.unseen) == ((), (name,))


@pytest.mark.parametrize("name", ["notes\u202e.txt", "notes.txt\u200b", "no\nte.txt", os.fsdecode(b"no\xfftes.txt")])
def test_a_name_that_is_not_what_it_looks_like_is_refused(name: str, folder: Path) -> None:
    (folder / name).touch()
    held = read_folder(DOSSIER, folder)
    assert (len(held.changed), held.unseen) == (1, ())


def test_a_pipe_and_a_socket_beside_the_files_are_refused_and_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "notes.txt")
    os.mknod(folder / "log.md", stat.S_IFSOCK)
    held = read_folder(DOSSIER, folder)
    assert ([line.split()[0] for line in held.changed], held.unseen) == (["log.md", "notes.txt"], ())


def test_a_fresh_repository_is_named(folder: Path) -> None:
    git = partial(subprocess.run, cwd=folder, check=True)
    git(["git", "init", "-q"])
    git(["git", "config", "user.name", "Ann Öz"])
    git(["git", "remote", "add", "origin", "https://example.org/double.git"])
    held = read_folder(DOSSIER, folder)
    assert (held.changed, held.unseen) == ((), (".git",))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("core.fsmonitor", "./run"),
        ("core.hooksPath", ".."),
        ("core.worktree", "/"),
        ("core.sshCommand", "./run"),
        ("core.pager", "./run"),
        ("alias.st", "!./run"),
        ("filter.x.clean", "./run"),
        ("diff.x.textconv", "./run"),
        ("include.path", "../notes.txt"),
        ("remote.origin.url", "ext::./run"),
        ("branch.main.remote", "ext::./run"),
        ("remote.origin.uploadpack", "./run"),
        ("credential.helper", "!./run"),
    ],
)
def test_a_repository_whose_settings_may_run_something_is_refused(setting: str, value: str, folder: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "config", setting, value], cwd=folder, check=True)
    held = read_folder(DOSSIER, folder)
    assert (len(held.changed), held.unseen) == (1, ())


@pytest.mark.parametrize("name", ["hooks/pre-commit", "commondir", "config.worktree"])
def test_a_repository_with_hooks_or_settings_elsewhere_is_refused(name: str, folder: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / ".git" / name).write_text("")
    assert len(read_folder(DOSSIER, folder).changed) == 1


def test_a_bare_repository_is_refused(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", "."], cwd=folder, check=True)
    assert "config" in [line.split()[0] for line in read_folder(DOSSIER, folder).changed]


def test_the_repository_of_a_folder_above_does_not_matter(folder: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder.parent, check=True)
    held = read_folder(DOSSIER, folder)
    assert (held.changed, held.unseen) == ((), ())


@pytest.mark.parametrize("line", [b"# coding: utf-7\n", b"#\rimport os\n", b"#\0\n", b"# \xe9\n"])
def test_a_listed_file_that_python_would_import_as_another_text_is_refused(line: bytes, folder: Path) -> None:
    data = line + (folder / "solution.py").read_bytes()
    (folder / "solution.py").write_bytes(data)
    files = DOSSIER.files | {"solution.py": hashlib.sha256(data).hexdigest()}
    [said] = read_folder(DOSSIER.model_copy(update={"files": files}), folder).changed
    assert said.split()[0] == "solution.py"
    assert said.endswith(explain_refusal(data)), "it says what Python would make of it"
