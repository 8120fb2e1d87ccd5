"""Processes take turns at the cores; the threads of one process share them."""

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from burnish.events import Message
from burnish.models.local import CpuLock, LocalModel
from burnish.models.model import Ask, Waiting

QUESTION = Ask(purpose="draft", messages=(Message(role="user", content="Write."),), max_tokens=10)

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
    other = CpuLock(tmp_path / "cores.lock")
    assert not other.acquire()
    cores.release()
    assert other.acquire()
    other.release()


def test_who_waited_has_the_cores_before_who_has_just_had_them(tmp_path: Path) -> None:
    first, second = CpuLock(tmp_path / "cores.lock"), CpuLock(tmp_path / "cores.lock")
    assert first.acquire()
    assert not second.acquire()
    assert not first.acquire()  # nor does another thread join meanwhile
    first.release()
    assert not first.acquire()
    assert second.acquire()
    second.release()


def test_who_gives_up_waiting_keeps_nobody_from_the_cores(tmp_path: Path) -> None:
    first, second = CpuLock(tmp_path / "cores.lock"), CpuLock(tmp_path / "cores.lock")
    assert first.acquire()
    assert not second.acquire()
    second.give_up()
    first.release()
    assert first.acquire()
    first.release()


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


def test_a_model_that_waits_for_another_process_says_that_nothing_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready, cancel, given_up = threading.Event(), threading.Event(), threading.Event()
    ready.set()
    monkeypatch.setattr("burnish.models.local.server_for", lambda _: SimpleNamespace(ready=ready, problem=None))
    monkeypatch.setattr(
        CpuLock, "of_this_machine", lambda: SimpleNamespace(acquire=lambda: False, give_up=given_up.set)
    )
    answer = LocalModel("local:small", tmp_path / "small.gguf").stream(QUESTION, cancel)
    first, second = next(answer), next(answer)
    assert isinstance(first, Waiting)
    assert isinstance(second, Waiting)
    assert (first.is_idle, second.is_idle, bool(first.why), bool(second.why)) == (True, True, True, False)
    cancel.set()
    assert list(answer) == []
    assert given_up.is_set()
