"""Burnish on systems without what only Linux has: simulated (`elsewhere.py`), not tried on a real one."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish import system
from tests.support import ROOT

SRC = ROOT / "src" / "burnish"
ELSEWHERE = ROOT / "tests" / "elsewhere.py"
SENTENCE = "a function double(n), e.g. double(2) == 4"
ONLY_LINUX = re.compile(
    r"sched_[gs]etaffinity|get(e?uid|e?gid|rlimit)|prlimit|memfd_create|pidfd_open|pipe2|waitid|fork|O_PATH|prctl"
    r"|AF_UNIX|SOCK_SEQPACKET|SO_PEERCRED|flock"
)
OF_THE_KERNEL = re.compile(r"/proc/(self|sys|net|$)")
"""The last is an f-string that goes on with the number of a process."""
LINUX_ALONE = {"system.py", "sandbox/launch.py"}
"""The one module, and a program of its own that only Linux starts, which imports nothing of ours."""


def find_linux(file: Path) -> Iterator[str]:
    """What a file uses that only Linux has, or has in its own way."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and ONLY_LINUX.fullmatch(node.attr):
            yield f"{file.name}:{node.lineno} {node.attr}"
        elif isinstance(node, ast.Import) and {one.name for one in node.names} & {"fcntl", "resource"}:
            yield f"{file.name}:{node.lineno} import"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and OF_THE_KERNEL.match(node.value):
            yield f"{file.name}:{node.lineno} {node.value}"


def start(kind: str, *words: str, home: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "BURNISH_HOME": str(home / "home"), "BURNISH_CACHE": str(home / "cache"), **variables}
    command = [sys.executable, "-P", str(ELSEWHERE), kind, *words]
    return subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_what_only_linux_has_is_asked_for_in_one_module() -> None:
    files = [
        file
        for file in SRC.rglob("*.py")
        if "inside" not in file.parts and str(file.relative_to(SRC)) not in LINUX_ALONE
    ]
    assert [found for file in files for found in find_linux(file)] == []


def test_a_module_that_asks_for_linux_would_be_seen(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("import fcntl\nimport os\nos.geteuid()\nopen(f'/proc/{os.getpid()}/stat')\nopen('/proc/self/io')\n")
    assert len(list(find_linux(bad))) == 4
    bad.write_text("import os\nNAME = 'os.fork'\nPLACE = '/proc'\nos.getpid()\n")
    assert list(find_linux(bad)) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["darwin", "bare"])
def test_every_module_can_be_imported_elsewhere(kind: str, tmp_path: Path) -> None:
    code = """
import importlib, pkgutil, burnish
for module in pkgutil.walk_packages(burnish.__path__, "burnish."):
    if ".inside" not in module.name and not module.name.endswith(("__main__", "sandbox.launch")):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:  # an extra that is not installed here
            assert not str(error.name).startswith("burnish"), error
print("all")
"""
    done = start(kind, "-c", code, home=tmp_path)
    assert (done.stdout, done.returncode) == ("all\n", 0), done.stderr


@pytest.mark.slow
def test_the_simulation_takes_away_what_it_says(tmp_path: Path) -> None:
    code = """
from burnish import system
print(system.is_root(), system.read_own_memory(), system.count_allowed_files(), system.has_cells())
print(system.identify_machine().endswith("-0"), system.count_cores() == __import__("os").cpu_count())
"""
    assert start("darwin", "-c", code, home=tmp_path).stdout == "False None None False\nTrue True\n"
    assert start("bare", "-c", code, home=tmp_path).stdout == "False None None True\nTrue True\n"


@pytest.mark.slow
def test_the_scripted_journey_goes_through_without_what_only_linux_has(tmp_path: Path) -> None:
    words = ["write", SENTENCE, "--model", "scripted:demo", "--sandbox", "process", "--out", "double"]
    wrote = start("bare", *words, home=tmp_path)
    assert wrote.returncode == 0, wrote.stdout + wrote.stderr
    assert "def double" in (tmp_path / "double" / "solution.py").read_text("utf-8")
    assert "def double" in start("bare", "show", "last", "--code", home=tmp_path).stdout
    assert "plausible" in start("bare", "runs", home=tmp_path).stdout
    assert "python" in start("bare", "doctor", home=tmp_path).stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["auto", "process", "bubblewrap"])
def test_without_cells_and_without_an_engine_it_says_what_to_install(kind: str, tmp_path: Path) -> None:
    words = ["write", SENTENCE, "--model", "scripted:demo", "--sandbox", kind]
    wrote = start("darwin", *words, home=tmp_path, PATH=str(tmp_path))
    assert wrote.returncode == 2
    assert wrote.stderr.strip().endswith("Type: brew install colima docker && colima start")
    assert "brew install" in start("darwin", "doctor", home=tmp_path, PATH=str(tmp_path)).stdout


@pytest.mark.slow
def test_a_browser_without_a_window_needs_cells_and_says_so(tmp_path: Path) -> None:
    code = """
from burnish.errors import SetupProblem
from burnish.sandbox.browser import open_cell
try:
    open_cell(1 << 28)
except SetupProblem as problem:
    print(problem)
"""
    assert start("darwin", "-c", code, home=tmp_path).stdout.endswith("Type: burnish ui\n")


def test_a_start_of_a_process_is_told_apart_and_memory_and_cores_are_counted() -> None:
    mine = system.read_start_time(os.getpid())
    assert mine
    assert mine == system.read_start_time(os.getpid())
    assert system.read_start_time(999_999_999) == ""
    assert 0 < system.read_free_memory() <= system.read_total_memory()
    assert 0 < (system.read_own_memory() or 0) < system.read_total_memory()
    assert 1 <= system.count_cores() <= (os.cpu_count() or 1)


def test_a_lock_is_held_by_one_until_its_file_is_closed(tmp_path: Path) -> None:
    place = tmp_path / "lock"
    with place.open("wb") as first, place.open("wb") as second:
        assert system.take_lock(first)
        assert not system.take_lock(second)
        first.close()
        assert system.take_lock(second)


WHEEL = """
import platform
platform.machine = lambda: "arm64"
from burnish.errors import SetupProblem
from burnish.packages.layer import prepare_layer
try:
    layer = prepare_layer(["markupsafe"])
    print(*(file.read_bytes()[18] for file in layer.folder.rglob("*.so")), layer.packages[0].wheel)
except SetupProblem as problem:
    print("none:", problem)
"""


@pytest.mark.slow
def test_packages_are_for_the_linux_of_the_containers_and_not_for_this_system(tmp_path: Path) -> None:
    said = start("darwin", "-c", WHEEL, home=tmp_path).stdout
    if said.startswith("none:"):
        pytest.skip(f"there is no package index here: {said}")
    machine, wheel = said.split()
    assert machine == "183", "ARM, as the file itself says"
    assert "manylinux" in wheel
    assert "aarch64" in wheel
