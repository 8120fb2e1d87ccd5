"""Code in a cell asks the kernel for what a program of this kind never needs."""

import ctypes
import os
import platform
from pathlib import Path

import pytest

from burnish.sandbox import bubblewrap, open_sandbox, seccomp
from burnish.sandbox.docker.streamed import StreamedCell
from tests.sandbox.kinds import ISOLATED, must_be_there

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers below are those of x86_64")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="outside a cell only root can do this")
CALL = "import ctypes; call = ctypes.CDLL(None, use_errno=True).syscall; "


def number(name: str) -> int:
    found = seccomp.DENIED[name][0]
    assert found is not None
    return found


def attack(name: str, arguments: str) -> str:
    return f"{CALL}assert call({number(name)}, {arguments}) >= 0, ctypes.get_errno()"


@pytest.mark.slow
def test_a_user_namespace_cannot_be_made(fails_inside):
    fails_inside(attack("unshare", "0x10000000"))


def test_a_process_in_new_namespaces_cannot_be_made(fails_inside):
    clone = f"pid = call({seccomp.CLONE[0]}, 0x10000011, 0, 0, 0, 0)"
    fails_inside(f"{CALL}{clone}\nimport os\nif pid == 0: os._exit(0)\nassert pid > 0")


@needs_root
def test_nothing_can_be_mounted(fails_inside):
    fails_inside(f"{CALL}call(272, 0x20000); " + attack("mount", "b'none', b'/mnt', b'tmpfs', 0, 0"))


@needs_root
def test_a_chroot_is_refused(fails_inside):
    fails_inside(attack("chroot", "b'/'"))


@needs_root
def test_a_namespace_cannot_be_joined(fails_inside):
    fails_inside("import os; fd = os.open('/proc/self/ns/net', 0); " + attack("setns", "fd, 0"))


def test_keys_cannot_be_stored_in_the_kernel(fails_inside):
    fails_inside(attack("add_key", "b'user', b'burnish', b'x', 1, -1"))


def test_keyrings_cannot_be_read(fails_inside):
    fails_inside(attack("keyctl", "0, -3, 1"))


@needs_root
def test_bpf_is_refused(fails_inside):
    array_map = "bytes([2,0,0,0,4,0,0,0,4,0,0,0,1,0,0,0])"
    make = f"import ctypes; wanted = ctypes.create_string_buffer({array_map}, 72); "
    fails_inside(make + attack("bpf", "0, wanted, 72"))


def test_io_uring_is_refused(fails_inside):
    params = ctypes.create_string_buffer(120)
    if ctypes.CDLL(None).syscall(number("io_uring_setup"), 1, params) < 0:
        pytest.skip("this kernel has no io_uring")
    fails_inside(attack("io_uring_setup", "1, ctypes.create_string_buffer(120)"))


def test_another_process_cannot_be_traced(fails_inside):
    code = f"""
import os, time
{CALL}
child = os.fork()
if child == 0:
    time.sleep(5)
    os._exit(0)
assert call({number("ptrace")}, 16, child, 0, 0) == 0, ctypes.get_errno()
"""
    fails_inside(code)


def test_the_memory_of_another_process_cannot_be_read(fails_inside):
    code = f"""
import os, time
{CALL}
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
target = ctypes.create_string_buffer(b"secret")
child = os.fork()
if child == 0:
    time.sleep(5)
    os._exit(0)
here = ctypes.create_string_buffer(6)
ours, theirs = Piece(ctypes.addressof(here), 6), Piece(ctypes.addressof(target), 6)
assert call({number("process_vm_readv")}, child, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, ctypes.c_long(0)) == 6
"""
    fails_inside(code)


def test_shared_memory_that_would_outlive_the_job_is_refused(fails_inside):
    fails_inside(f"{CALL}shared = call({number('shmget')}, 0, 4096, 0o600); assert shared >= 0; call(31, shared, 0, 0)")


def test_the_old_calling_convention_is_refused(cell):
    code = f"{CALL}call({0x40000000 + 39})"
    assert cell.run(["python", "-c", code]).exit_code < 0


def test_no_new_privileges_can_be_had(cell):
    shown = cell.run(["grep", "-E", "NoNewPrivs|CapEff|CapBnd|Seccomp:", "/proc/self/status"]).output.split()
    assert shown == ["CapEff:", "0" * 16, "CapBnd:", "0" * 16, "NoNewPrivs:", "1", "Seccomp:", "2"]


@pytest.mark.parametrize("kind", ISOLATED)
def test_the_real_user_is_not_root(kind):
    with open_sandbox(must_be_there(kind), cells=1) as box:
        (one,) = box._all
        if isinstance(one, StreamedCell):  # its processes have no number here
            status = box.run(["cat", "/proc/1/status"]).output
        else:
            children = Path(f"/proc/{one.process.pid}/task/{one.process.pid}/children").read_text().split()
            status = Path(f"/proc/{one.process.pid if kind == 'docker' else children[0]}/status").read_text()
    uids = next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1:]
    assert len(set(uids)) == 1
    assert uids[0] != "0"
    if kind == "bubblewrap" or os.getuid() == 0:
        assert uids[0] == str(bubblewrap.CELL_UID if os.getuid() == 0 else os.getuid())


READ = "import os; fd = os.open('/usr/bin/env', os.O_RDONLY); os.read(fd, 100); "


@pytest.mark.slow
def test_which_files_an_earlier_job_has_read_is_not_told(fails_inside):
    """The pages that the kernel keeps of the system's files are a store that any job can write to, by reading."""
    fails_inside(f"{READ}os.preadv(fd, [bytearray(9)], 0, os.RWF_NOWAIT)")
    mapped = "import mmap; at = mmap.mmap(-1, 4096); where = ctypes.addressof(ctypes.c_char.from_buffer(at)); "
    fails_inside(f"{CALL}{mapped}assert call(27, ctypes.c_void_p(where), 4096, ctypes.create_string_buffer(1)) == 0")


def test_a_cell_reads_into_several_buffers_as_any_program(cell):
    assert cell.run(["python", "-c", f"{READ}print(os.preadv(fd, [bytearray(9)], 0))"]).output == "9\n"
