"""Code in a cell wants to outlive its job, to reach the server, or to prepare something for the next job."""

import os
import signal
import time

import pytest

from burnish.errors import SandboxError
from burnish.sandbox import open_sandbox
from tests.sandbox.attack import is_healthy, run_bare

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="outside a cell only root can do this")
DETACH = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3): os.close(fd)
        time.sleep(0.3)
        open({marker!r}, "w").close()
        time.sleep({seconds})
    os._exit(0)
time.sleep(0.1)
"""


@pytest.mark.slow
def test_a_detached_process_does_not_outlive_its_job(cell, tmp_path):
    marker = tmp_path / "alive"
    run_bare(DETACH.format(marker=str(marker), seconds=0), tmp_path)
    time.sleep(0.8)
    assert marker.exists()
    cell.run(["python", "-c", DETACH.format(marker="/tmp/alive", seconds=60)])
    shown = cell.run(["python", "-c", "import os; print([n for n in os.listdir('/proc') if n.isdigit()])"]).output
    assert shown.count(",") <= 3
    time.sleep(0.5)
    assert cell.run(["ls", "/tmp"]).output == ""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGSEGV])
def test_the_server_cannot_be_signalled(cell, number):
    attack = f"import os; os.kill(1, {int(number)})"
    cell.run(["python", "-c", attack])
    assert is_healthy(cell)


def test_the_server_can_be_killed_where_there_is_no_cell():
    with open_sandbox("process") as box, pytest.raises(SandboxError):
        box.run(["python", "-c", "import os, time; os.kill(os.getppid(), 9); time.sleep(2)"], timeout_seconds=1)


def test_killing_everybody_kills_only_the_job(cell):
    cell.run(["python", "-c", "import os; os.kill(-1, 9)"])
    assert is_healthy(cell)


@needs_root
def test_the_descriptors_of_the_server_cannot_be_opened(fails_inside):
    fails_inside("import os; assert os.listdir(f'/proc/{os.getppid()}/fd')")


@needs_root
def test_the_memory_of_the_server_cannot_be_read(fails_inside):
    fails_inside("import os; open(f'/proc/{os.getppid()}/mem', 'rb').close()")


@needs_root
def test_the_environment_of_the_server_cannot_be_read(fails_inside):
    fails_inside("import os; open(f'/proc/{os.getppid()}/environ', 'rb').read()")


def test_a_command_gets_no_descriptor_but_the_standard_three(cell):
    shown = cell.run(["python", "-c", "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])"]).output
    assert shown == "[0, 1, 2]\n"


def test_graded_code_has_only_its_own_channel(cell):
    code = """
import os
def kinds():
    found = []
    for name in os.listdir("/proc/self/fd"):
        try: found.append(os.readlink("/proc/self/fd/" + name).split(":")[0])
        except OSError: pass
    return sorted(found)
"""
    assert cell.grade(code, "assert [k for k in kinds() if k != '/dev/null'] == ['socket']").all_passed


def test_scribbling_on_every_descriptor_is_a_failure(cell):
    code = """
import os
def f(x):
    for fd in range(3, 64):
        try: os.write(fd, b"\\x00\\x00\\x00\\x05hello" * 10)
        except OSError: pass
    return x
"""
    assert not cell.grade(code, "assert f(1) == 1", timeout_seconds=2).all_passed
    assert is_healthy(cell)


def test_closing_every_descriptor_is_a_failure(cell):
    code = "import os\ndef f(x):\n    os.closerange(0, 256)\n    return x"
    assert not cell.grade(code, "assert f(1) == 1", timeout_seconds=2).all_passed
    assert is_healthy(cell)


def test_killing_the_judge_is_a_failure(cell):
    code = "import os\ndef f(x):\n    os.kill(-1, 9)\n    return x"
    assert not cell.grade(code, "assert f(1) == 1", timeout_seconds=2).all_passed
    assert is_healthy(cell)


@pytest.mark.slow
def test_stopping_the_judge_is_a_failure(cell):
    code = "import os\ndef f(x):\n    os.kill(-1, 19)\n    return x"
    assert not cell.grade(code, "assert f(1) == 1", timeout_seconds=0.5).all_passed
    assert is_healthy(cell)


def test_files_do_not_reach_the_next_job(cell, tmp_path):
    leave = "import os\nfor d in ('.', '/tmp', '/dev/shm'): os.makedirs(d + '/left/deep', exist_ok=True)"
    run_bare("open('left', 'w').close()", tmp_path)
    assert (tmp_path / "left").exists()
    cell.run(["python", "-c", leave])
    assert cell.run(["sh", "-c", "ls -A . /tmp /dev/shm | grep left"]).output == ""


def test_files_without_permissions_are_removed_too(cell):
    cell.run(["sh", "-c", "mkdir -p a/b && touch a/b/c && chmod 000 a/b a"])
    assert cell.run(["ls", "-A", "/work"]).output.count("\n") == 1
    assert is_healthy(cell)


def test_the_next_job_s_folder_cannot_be_prepared(cell):
    make = "os.makedirs(f'/work/{n}', exist_ok=True); open(f'/work/{n}/json.py', 'w')"
    code = f"import os\nfor n in range(3000): {make}"
    cell.run(["python", "-c", code])
    assert cell.run(["python", "-c", "import json; print(json.dumps(1))"]).output == "1\n"


def test_the_packages_cannot_be_changed(fails_inside):
    code = "import pytest, os; path = pytest.__file__ + '.attack'; open(path, 'w').close(); os.unlink(path)"
    fails_inside(code)


def test_patched_builtins_do_not_reach_the_next_job(cell):
    patch = "import builtins, json\nbuiltins.sum = lambda x: 42\njson.dumps = None\ndef f(): return sum([])"
    assert cell.grade(patch, "assert f() == 42").all_passed
    assert cell.grade("def f(): return sum([])", "assert f() == 0").all_passed


def test_tests_that_patch_do_not_reach_the_next_suite(cell):
    patch = "import math\nmath.sqrt = lambda x: 42\nassert f(4) == 42\nimport builtins\nbuiltins.abs = None"
    cell.grade("def f(x): return 42", patch)
    assert cell.grade("def f(x): return x", "import math\nassert math.sqrt(4) == 2\nassert abs(f(-1)) == 1").all_passed


def test_random_numbers_differ_from_job_to_job(cell):
    said = {cell.run(["python", "-c", "import random; print(random.random())"]).output for _ in range(2)}
    code = "import random\ndef f(): raise ValueError(random.random())"
    said |= {cell.grade(code, "assert f() == 1").cases[0].message for _ in range(2)}
    assert len(said) == 4


def test_a_job_cannot_slow_the_judge_of_the_next_one(cell):
    code = """
import os, resource
for pid in [int(n) for n in os.listdir("/proc") if n.isdigit() and int(n) != os.getpid()]:
    for harm in (
        lambda: os.kill(pid, 19),
        lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
        lambda: resource.prlimit(pid, resource.RLIMIT_AS, (1, 1)),
    ):
        try: harm()
        except OSError: pass
"""
    is_healthy(cell)
    cell.run(["python", "-c", code])
    assert is_healthy(cell)
