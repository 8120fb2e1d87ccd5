"""What every test may ask for. A test never sees the runs of the person who starts it."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from burnish.models.catalog import CATALOG
from burnish.models.weights import is_checked, weights_path
from burnish.runs import Store
from burnish.sandbox import Sandbox, open_sandbox
from tests.support import MINE

SMALL = "local:qwen2.5-coder-0.5b"


def pytest_configure() -> None:
    """Hear Ctrl-C, even where the tests were started in the background: a process that ignores it hands that on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Workers for the whole suite; none for what is named on the command line, where starting them costs more.

    One more than there are cores: a quarter of the time a test waits for a server or for a time limit.
    """
    return 0 if config.args_source is pytest.Config.ArgsSource.ARGS else len(os.sched_getaffinity(0)) + 1


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home for runs, and no settings; the cache of weights stays where it is."""
    folder = tmp_path / "home"
    monkeypatch.setenv("BURNISH_HOME", str(folder))
    monkeypatch.setenv("BURNISH_CONFIG", str(tmp_path / "config.toml"))
    return folder


@pytest.fixture
def store(home: Path) -> Store:
    """The store that commands use in this test."""
    return Store(home)


@pytest.fixture
def work_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    """A real sandbox, opened once for all tests that only need to use one."""
    with open_sandbox("auto") as opened:
        yield opened


@pytest.fixture
def open_box(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Attempts in this process use the session's sandbox, which saves each the second of opening its own."""
    opened: Callable[..., AbstractContextManager[Sandbox]] = lambda kind="auto", **more: nullcontext(box)  # noqa: E731
    monkeypatch.setattr("burnish.runs.attempt.open_sandbox", opened)
    return box


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file of the user's that nothing in the test is about."""
    file = tmp_path / "user" / ".bashrc"
    file.parent.mkdir()
    file.write_text(MINE)
    return file


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with room for almost nothing."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "none", str(folder)], capture_output=True).returncode:
        pytest.skip("mounting a tiny disk needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture(scope="session")
def model_weights() -> Path:
    """The 0.5B's file; a test that needs it is skipped where it is not on disk."""
    weights = CATALOG[SMALL]
    if not is_checked(weights):
        pytest.skip(f"the weights of {SMALL} are not on disk; type: ./burnish models pull {SMALL}")
    return weights_path(weights)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of benchmark files; a test that needs it is skipped where there is none."""
    folder = os.environ.get("BURNISH_DATA")
    if not folder:
        pytest.skip("BURNISH_DATA does not name the folder of benchmark files")
    return Path(folder)
