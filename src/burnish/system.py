"""What systems do differently, one small function each, so that the rest of Burnish asks no system for its name.

Linux is the reference. Elsewhere a function says in its docstring what it does instead. What runs inside a cell is
always on Linux and does not come here. Its one rule: standard library only, and nothing happens on import.
"""

import hashlib
import os
import platform
import re
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

SYSCTL = Path("/proc/sys")
MOUNTS = Path("/proc/self/mountinfo")
CGROUP = Path("/proc/self/cgroup")
LONGEST_SOCKET = 107 if sys.platform == "linux" else 103
"""Bytes of the path of a Unix socket."""


def has_cells() -> bool:
    """Whether processes of this machine can be cells. Elsewhere only an engine with a Linux of its own has them."""
    return sys.platform == "linux" and hasattr(os, "memfd_create")


def count_cores() -> int:
    """The processors that this process may use; elsewhere all that there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_root() -> bool:
    """Whether this process may do anything; elsewhere nobody is root."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def get_user() -> tuple[int, int]:
    """The numbers of this user and group; (0, 0), as files have it, where users have none."""
    return (os.getuid(), os.getgid()) if hasattr(os, "getuid") else (0, 0)


def take_lock(file: IO[Any]) -> bool:
    """Take the lock on an open file, unless another process has it; it is held until the file is closed.

    The kernel frees the lock of a process that died. Raises OSError where a disk knows no locks. A system without
    `flock` keeps two processes apart nowhere.
    """
    try:
        import fcntl
    except ImportError:
        return True
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def read_own_memory() -> int | None:
    """Bytes that this process has in memory; None where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text("utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None


def read_total_memory() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def read_free_memory() -> int:
    """Bytes of memory that are free; half of all where the system does not say."""
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return read_total_memory() // 2


def limit_memory(pid: int, most_bytes: int) -> None:
    """Let a running process take no more memory; elsewhere nothing is done. Raises OSError when it is gone."""
    with suppress(ImportError):
        import resource

        if hasattr(resource, "prlimit"):
            resource.prlimit(pid, resource.RLIMIT_DATA, (most_bytes, most_bytes))


def read_written_bytes(pid: int) -> int:
    """Bytes that a process has written so far; 0 elsewhere. Raises OSError when it is gone, or elsewhere."""
    written = re.search(r"^wchar: (\d+)", Path(f"/proc/{pid}/io").read_text("ascii"), re.MULTILINE)
    return int(written[1]) if written else 0


def has_ended(process: "subprocess.Popen[bytes]") -> bool:
    """Whether a child has ended. Its number stays ours until it is waited for; elsewhere it is waited for at once."""
    if hasattr(os, "waitid"):
        return bool(os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG))
    return process.poll() is not None


def identify_machine() -> str:
    """Which start of which machine, and which process namespace: only there does a process number mean anything.

    Elsewhere which machine: there a process's start is told by the calendar, so another start of it is another time.
    """
    try:
        boot = (SYSCTL / "kernel/random/boot_id").read_text()[:8]
        return f"{boot}-{os.stat('/proc/self/ns/pid').st_ino}"  # noqa: PTH116  # a link that leads nowhere
    except OSError:
        return f"{hashlib.sha256(platform.node().encode()).hexdigest()[:8]}-0"


def read_start_time(pid: int) -> str:
    """When a process was started: a later one of the same number is another. "" when none is.

    In the kernel's ticks; elsewhere as `ps` says it.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        if Path("/proc/self").exists():
            return ""
    with suppress(OSError):
        told = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return re.sub(r"\W", "", told.stdout)
    return ""


def is_running(pid: int) -> bool:
    """Whether there is a process of this number."""
    return read_start_time(pid) != ""


def count_allowed_files() -> int | None:
    """The most descriptors that a process may ever hold; None for any number, or where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return None if allowed == resource.RLIM_INFINITY else allowed


def open_local_socket() -> socket.socket:
    """A socket whose address is a file of this machine."""
    return socket.socket(socket.AF_UNIX)


def make_packet_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets that carry whole packets, and descriptors beside them: see `has_cells`."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def bind_packets(path: Path) -> socket.socket:
    """A socket of the same kind at a path, which may be longer than an address: see `has_cells`."""
    folder = os.open(path.parent, os.O_PATH)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
    return listener


def read_caller(link: socket.socket) -> int:
    """The number of the process that connected; 0 where it cannot be seen from here: see `has_cells`."""
    pid: int = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))[0]
    return pid


def open_process(pid: int) -> int:
    """A descriptor that becomes readable when a process ends: see `has_cells`."""
    return os.pidfd_open(pid)


def make_memory_file(content: bytes) -> int:
    """A descriptor of a file that exists only in memory and holds `content`: see `has_cells`."""
    handle = os.memfd_create("job", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(handle), "wb") as file:
        file.write(content)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle
