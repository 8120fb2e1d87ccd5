"""Processes take turns at the cores; the threads of one process share them."""

import subprocess
import sys
import time
from pathlib import Path

from burnish.models.local import CpuLock

HOLDER = """
import sys, time
from pathlib import Path
from burnish.models.local import CpuLock
cores = CpuLock(Path(sys.argv[1]))
assert cores.acquire(0)
print("mine", flush=True)
time.sleep(60)
"""


def test_within_a_process_all_may_generate(tmp_path: Path) -> None:
    cores = CpuLock(tmp_path / "cores.lock")
    assert cores.acquire(0)
    assert cores.acquire(0)
    cores.release()
    assert not CpuLock(tmp_path / "cores.lock").acquire(0)
    cores.release()
    after = CpuLock(tmp_path / "cores.lock")
    assert after.acquire(0)
    after.release()


def test_another_process_waits_and_a_killed_one_frees_the_cores(tmp_path: Path) -> None:
    path = tmp_path / "cores.lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "mine\n"
        cores, started = CpuLock(path), time.monotonic()
        assert not cores.acquire(0.1)
        assert 0.1 <= time.monotonic() - started < 2
        holder.kill()
    assert cores.acquire(5)
    cores.release()


def test_where_no_lock_can_be_kept_work_goes_on_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cores = CpuLock(tmp_path / "file" / "cores.lock")
    assert cores.acquire(0)
    cores.release()
