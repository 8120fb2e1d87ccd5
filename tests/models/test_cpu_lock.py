"""Processes take turns at the cores; the threads of one process share them."""

import subprocess
import sys
from pathlib import Path

import pytest

from burnish.models.local import CpuLock

HOLDER = """
import sys, time
from pathlib import Path
from burnish.models.local import CpuLock
cores = CpuLock(Path(sys.argv[1]))
assert cores.acquire()
print("mine", flush=True)
time.sleep(60)
"""


def test_within_a_process_all_may_generate(tmp_path: Path) -> None:
    cores = CpuLock(tmp_path / "cores.lock")
    assert cores.acquire()
    assert cores.acquire()
    cores.release()
    assert not CpuLock(tmp_path / "cores.lock").acquire()
    cores.release()
    after = CpuLock(tmp_path / "cores.lock")
    assert after.acquire()
    after.release()


@pytest.mark.slow
def test_another_process_waits_and_a_killed_one_frees_the_cores(tmp_path: Path) -> None:
    path = tmp_path / "cores.lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "mine\n"
        cores = CpuLock(path)
        assert not cores.acquire()
        holder.kill()
    assert cores.acquire()
    cores.release()


@pytest.mark.slow
def test_where_no_lock_can_be_kept_work_goes_on_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cores = CpuLock(tmp_path / "file" / "cores.lock")
    assert cores.acquire()
    cores.release()
