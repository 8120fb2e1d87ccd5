"""A cell belongs to the process that opened it, and goes when that goes."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from burnish.errors import SandboxError
from burnish.sandbox import cgroups, open_sandbox, owner
from tests.sandbox.kinds import EVERY, ISOLATED, must_be_there

OWNER = """
import sys, threading, time
from burnish.sandbox import open_sandbox
box = open_sandbox(sys.argv[1], cells=1)
box.grade("def f(): return 1", "assert f() == 1")
threading.Thread(target=box.run, args=(["sleep", "100"],), kwargs={"timeout_seconds": 100}, daemon=True).start()
time.sleep(0.5)
print("ready", *(cell.process.pid for cell in box._all), flush=True)
time.sleep(100)
"""


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += family(int(child))
    return found


def remaining(pids: list[int], seconds: float = 5.0) -> list[int]:
    """Who of them is still there after so long."""
    deadline = time.monotonic() + seconds
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.mark.parametrize("kind", [*ISOLATED, pytest.param("process", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_killing_burnish_leaves_no_process_and_no_folder(kind, tmp_path):
    command = [sys.executable, "-c", OWNER, must_be_there(kind)]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as process:
        assert process.stdout is not None
        said, *cells = process.stdout.readline().split()
        assert said == b"ready"
        members = [member for top in {process.pid, *map(int, cells)} for member in family(top)]
        assert len(members) >= 4
        os.kill(process.pid, signal.SIGKILL)
    assert not remaining(members)
    assert not list(tmp_path.glob("burnish-*"))


@pytest.mark.slow
def test_the_groups_of_a_killed_burnish_are_removed_at_the_next_start():
    where = cgroups.find_places()
    if not where:
        pytest.skip("no control group can be written here")
    left = [place.folder / f"{cgroups.OURS}999999999-0" for place in where]
    for folder in left:
        folder.mkdir()
    open_sandbox("bubblewrap").close()
    assert not any(folder.exists() for folder in left)


@pytest.mark.slow
def test_closing_leaves_no_group():
    where = cgroups.find_places()
    open_sandbox("bubblewrap").close()
    assert not [
        path for place in where for path in place.folder.glob(f"{cgroups.OURS}{os.getpid()}-*") if not any_cell(path)
    ]


def any_cell(folder: Path) -> bool:
    """True when some other test's cell still lives in the group."""
    return bool((folder / "cgroup.procs").read_text().strip())


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
def test_closing_from_another_thread_ends_a_running_job_at_once(kind):
    box = open_sandbox(must_be_there(kind), cells=1)
    box.run(["true"])
    raised: list[BaseException] = []

    def job() -> None:
        try:
            box.run(["sleep", "60"], timeout_seconds=60)
        except SandboxError as error:
            raised.append(error)

    runner = threading.Thread(target=job)
    runner.start()
    time.sleep(0.3)
    started = time.monotonic()
    box.close()
    runner.join(5)
    assert time.monotonic() - started < 0.5
    assert [type(error) for error in raised] == [SandboxError], "not `CellGone`: nobody is to try it again"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ISOLATED)
def test_closing_leaves_not_even_a_zombie(kind):
    box = open_sandbox(must_be_there(kind), cells=1)
    box.grade("x = 1", "assert x == 1")
    (one,) = box._all
    members = family(one.process.pid)
    box.close()
    assert not remaining(members, seconds=0.0 if kind == "bubblewrap" else 1.0)  # an engine buries its own dead


@pytest.mark.slow
@pytest.mark.parametrize("kind", ISOLATED)
def test_a_cell_outlives_the_thread_that_asked_for_it(kind):
    with open_sandbox(must_be_there(kind), cells=1) as box:
        opener = threading.Thread(target=lambda: box.grade("x = 1", "assert x == 1"))
        opener.start()
        opener.join()
        time.sleep(0.1)
        assert box.grade("x = 1", "assert x == 1").all_passed


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
def test_a_cell_that_died_before_its_job_is_replaced(kind):
    with open_sandbox(must_be_there(kind), cells=1) as box:
        box.warm_up()
        for _ in range(2):
            (one,) = box._all
            one.process.kill()
            assert select.select([one.control], [], [], 10)[0], "its last process holds the other end"
            assert box.run(["true"]).exit_code == 0
            assert one not in box._all


def test_folders_that_look_left_are_removed_only_if_they_are_this_users_and_no_links(tmp_path, monkeypatch):
    names = [tmp_path / f"left-0-1-0-0-{number}" for number in range(2)]
    mine, kept = tmp_path / "mine", tmp_path / "mine" / "file"
    mine.mkdir()
    kept.touch()
    names[0].mkdir()
    names[1].symlink_to(mine)
    monkeypatch.setattr(owner.tempfile, "tempdir", str(tmp_path))
    with monkeypatch.context() as somebody:
        somebody.setattr(os, "getuid", lambda: os.geteuid() + 1)
        owner.remove_left_folders("left-")
        assert names[0].exists()
    owner.remove_left_folders("left-")
    assert not names[0].exists()
    assert kept.exists()
