"""Code in a cell wants to outlive its job, to reach the server, or to prepare something for the next job."""

import ast
import os
import signal
import time

import pytest

from burnish.errors import SandboxError
from burnish.sandbox import open_sandbox
from tests.sandbox.attack import is_healthy, run_bare
from tests.sandbox.kinds import ISOLATED, must_be_there

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
    assert shown.count(",") <= 4, "process 1, three helpers and itself"
    time.sleep(0.5)
    assert cell.run(["ls", "/tmp"]).output == ""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGSEGV])
def test_the_server_cannot_be_signalled(cell, number):
    attack = f"import os; os.kill(1, {int(number)})"
    cell.run(["python", "-c", attack])
    assert is_healthy(cell)


KILL_SERVER = "import os, time; os.kill(os.getppid(), 9); time.sleep(2)"


@pytest.mark.slow
def test_a_job_that_ends_its_cell_fails_and_the_next_gets_a_new_one():
    """Where there is no isolation a job can kill the server; in a cell only the kernel can, for want of memory."""
    with open_sandbox("process", cells=1) as box:
        ran = box.run(["python", "-c", KILL_SERVER], timeout_seconds=1)
        assert (ran.exit_code, ran.broke_cell, ran.timed_out) == (-9, True, False)
        assert is_healthy(box)
        graded = box.grade(f"def f(): {KILL_SERVER}", "assert f() is None", timeout_seconds=1)
        assert (graded.all_passed, graded.broke_cell, graded.timed_out) == (False, True, False)
        assert graded.problem
        assert is_healthy(box)


@pytest.mark.slow
def test_a_closed_sandbox_still_raises():
    with open_sandbox("bubblewrap", cells=1) as box:
        assert is_healthy(box)
    with pytest.raises(SandboxError):
        box.run(["true"])


def test_killing_everybody_kills_only_the_job(cell):
    cell.run(["python", "-c", "import os; os.kill(-1, 9)"])
    assert is_healthy(cell)


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_next_job_s_folder_cannot_be_prepared(cell):
    make = "os.makedirs(f'/work/{n}', exist_ok=True); open(f'/work/{n}/json.py', 'w')"
    code = f"import os\nfor n in range(3000): {make}"
    cell.run(["python", "-c", code])
    assert cell.run(["python", "-c", "import json; print(json.dumps(1))"]).output == "1\n"


@pytest.mark.slow
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


def test_classes_that_tests_register_do_not_reach_the_next_suite(cell):
    register = "import collections\ncollections.UserDict.register(int)\nassert isinstance(f(1), collections.UserDict)"
    assert cell.grade("def f(x): return x", register).all_passed
    look = "import collections\nassert not isinstance(f(1), collections.UserDict)"
    assert cell.grade("def f(x): return x", look).all_passed


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


LOOK = """
import os, stat
def look():
    seen = {}
    for place in ("/work", "/tmp", "/dev/shm", "/dev/pts", "/dev/pts/ptmx"):
        found = os.stat(place)
        seen[place] = [stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, found.st_mtime == 78]
        if "pts" not in place: seen[place] += os.listxattr(place)
    for name in ("kernel/shmmax", "kernel/sem", "kernel/pid_max", "fs/mqueue/msg_max", "net/core/somaxconn"):
        path = "/proc/sys/" + name
        if os.path.exists(path): seen[name] = [open(path).read(), os.stat(path).st_mtime == 78]
    seen["autogroup"] = open("/proc/self/autogroup").read().split()[1:]
    seen["priority"] = os.getpriority(os.PRIO_PROCESS, 1)
    seen["cores"] = sorted(os.sched_getaffinity(1))
    return seen
"""


def look(box) -> dict:
    """What a job finds of everything that an earlier one could have written."""
    return ast.literal_eval(box.run(["python", "-c", f"{LOOK}\nprint(look())"]).output)


STORES = {
    "extended attributes": "for d in PLACES: os.setxattr(d, 'user.left', b'x' * 60_000)",
    "access lists": "os.setxattr('/tmp', 'system.posix_acl_access', bytes.fromhex("
    "'02000000 01000700ffffffff 020007004fee0000 04000700ffffffff 10000700ffffffff 20000000ffffffff'))",
    "mode bits": "for d in PLACES: os.chmod(d, 0o1757)",
    "times of the folders": "for d in PLACES: os.utime(d, (77, 78))",
    "times of the terminals": "for d in ('/dev/pts', '/dev/pts/ptmx'): os.utime(d, (77, 78))",
    "modes of the terminals": "for d in ('/dev/pts', '/dev/pts/ptmx'): os.chmod(d, 0o751)",
    "settings of the kernel": "open('/proc/sys/kernel/shmmax', 'w').write('123456')",
    "settings of message queues": "open('/proc/sys/fs/mqueue/msg_max', 'w').write('17')",
    "the greatest process number": "open('/proc/sys/kernel/pid_max', 'w').write('4000')",
    "times of the kernel's settings": "os.utime('/proc/sys/net/core/somaxconn', (77, 78))",
    "the niceness of the session": "open('/proc/self/autogroup', 'w').write('7')",
    "the priority of everybody": "os.setpriority(os.PRIO_USER, 0, 7)",
    "the cores of the server": "os.sched_setaffinity(1, {max(os.sched_getaffinity(0))})",
}


@pytest.mark.slow
@pytest.mark.parametrize("store", STORES)
def test_nothing_that_a_command_can_write_reaches_the_next_job(cell, store):
    before = look(cell)
    cell.run(["python", "-c", f"import os\nPLACES = ('/work', '/tmp', '/dev/shm')\n{STORES[store]}"])
    assert look(cell) == before


def test_a_time_that_a_job_gave_a_device_does_not_reach_the_next_job(cell):
    """A device is the machine's own and is seen in every cell, a new one too."""
    names = "('null', 'zero', 'random', 'urandom', 'tty')"
    times = f"print([os.stat('/dev/' + name).st_mtime_ns for name in {names}])"
    touch = f"import os\nfor name in {names}: os.utime('/dev/' + name)\n{times}"
    left = ast.literal_eval(cell.run(["python", "-c", touch]).output)
    found = ast.literal_eval(cell.run(["python", "-c", f"import os\n{times}"]).output)
    assert len(left) == 5
    assert not set(left) & set(found)


@pytest.mark.slow
def test_the_names_of_sockets_do_not_reach_the_next_job(cell):
    """A socket that is in flight to itself has no owner any more, and stays until the kernel looks for such."""
    code = """
import socket
for n in range(50):
    name = f"\\0left-behind-{n}"
    one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.bind(name)
    one.connect(name)
    socket.send_fds(one, [b"x"], [one.fileno()])
"""
    for _ in range(3):
        assert cell.run(["python", "-c", code]).exit_code == 0
        assert cell.run(["grep", "-c", "left-behind", "/proc/net/unix"]).output == "0\n"


LOCK = """
import fcntl, os, struct
def lock(fd, start):
    fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, start, 1, 0))
def leave(words):
    for fd in range(64):
        try:
            for n, byte in enumerate(words.encode()): lock(fd, 1000 * n + byte)
            fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND | os.O_NONBLOCK)
        except OSError: pass
    return True
def found():
    ranges = [line.split()[-2:] for line in open("/proc/locks") if "OFDLCK" in line]
    return [low for low, high in ranges if low == high]
def flags():
    return [fcntl.fcntl(fd, fcntl.F_GETFL) & (os.O_APPEND | os.O_NONBLOCK) for fd in range(3)]
"""


@pytest.mark.parametrize("tests", ["assert leave('secret')", "import gc\nassert leave('secret')"])
def test_locks_and_flags_on_inherited_descriptors_do_not_reach_the_next_job(cell, tests):
    assert cell.grade(LOCK, tests).all_passed
    assert cell.grade(LOCK, "assert found() == []\nassert flags() == [0, 0, 0]").all_passed
    assert cell.grade(LOCK, "import gc\nassert flags() == [0, 0, 0]").all_passed


SCAN = '''
import ctypes
def scan(half, other):
    """True when the two, and "-LEFT" behind them, are in memory: not from the test, which only has the halves."""
    wanted = (half + other).encode()
    for line in open("/proc/self/maps"):
        low, high = (int(edge, 16) for edge in line.split()[0].split("-"))
        if line.split()[1][:2] != "rw" or "[v" in line: continue
        data = ctypes.string_at(low, high - low)
        at = data.find(wanted)
        while at >= 0:
            if data[at + len(wanted):at + len(wanted) + 5] == b"-LEFT": return True
            at = data.find(wanted, at + 1)
    return False
'''


@pytest.mark.slow
@pytest.mark.parametrize("place", [".", "/tmp", "/dev/shm"])
def test_names_of_files_are_not_in_the_memory_of_a_later_job(cell, place):
    make = f"import os\nfor n in range(3000): open({place!r} + f'/quite-special-LEFT-{{n}}-' + 'x' * 150, 'w')"
    assert cell.run(["python", "-c", make]).exit_code == 0
    assert cell.grade(SCAN, "assert not scan('quite-', 'special')").all_passed


@pytest.mark.slow
def test_names_of_processes_are_not_in_the_memory_of_a_later_job(cell):
    code = """
import ctypes, os, time
for n in range(40):
    if os.fork() == 0: break
ctypes.CDLL(None).prctl(15, b"strange-LEFT-xx", 0, 0, 0)
time.sleep(0.3)
"""
    assert cell.run(["python", "-c", code]).exit_code == 0
    assert cell.grade(SCAN, "assert not scan('str', 'ange')").all_passed


def test_tests_are_not_in_the_memory_of_a_later_job_that_shares_its_process(cell):
    assert cell.grade("def f(x): return x", "for n in range(9): pass\nassert f('my-hidden-LEFT-test') != 1").all_passed
    assert cell.grade(SCAN, "import gc\nassert not scan('my-', 'hidden')").all_passed


ORDINARY = {
    "files": "import tempfile, os\nos.makedirs('a/b/c'); open('a/b/f', 'w').write('x')\n"
    "tempfile.mkdtemp(); tempfile.NamedTemporaryFile(delete=False)",
    "processes": "import subprocess, multiprocessing\nsubprocess.run(['ls'])\nmultiprocessing.Queue().put(1)",
    "threads": "import threading\nfor n in range(9): threading.Thread(target=print).start()",
    "a terminal": "import os, pty\nends = pty.openpty(); os.write(ends[0], b'x'); os.write(ends[1], b'x')",
    "sockets": "import socket\na, b = socket.socketpair(); socket.send_fds(a, [b'x'], [0]); socket.recv_fds(b, 1, 1)",
    "copies": "import pathlib, shutil\nopen('f', 'w'); shutil.copy2('f', '/tmp/g'); pathlib.Path('/tmp/g').touch()",
    "devices": "import os\nopen('/dev/urandom', 'rb').read(9); open('/dev/null', 'w'); os.listdir('/dev/pts')",
}


@pytest.mark.slow
@pytest.mark.parametrize("act", ORDINARY)
@pytest.mark.parametrize("kind", ISOLATED)
def test_an_ordinary_job_leaves_its_cell_for_the_next(kind, act):
    with open_sandbox(must_be_there(kind), cells=1) as box:
        box.run(["true"])
        before = set(box._all)
        assert box.run(["python", "-c", ORDINARY[act]]).exit_code == 0
        body = ORDINARY[act].replace("\n", "\n    ")
        code = f"def f():\n    {body}"
        for tests in ("assert f() is None", "import gc\nassert f() is None", "def test_it(): assert f() is None"):
            text = tests if "def" not in tests else f"from solution import f\n{tests}"
            assert box.grade(code, text).all_passed
        assert box._all == before
