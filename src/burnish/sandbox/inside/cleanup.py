"""What lives as long as the cell, the helpers, and what a job may leave behind: nothing. Ends the job's processes,
removes its files, and compares the cell with before.

A helper judges: "asserts" scripts that leave nothing behind, "forking" any other, "pytest" has pytest in its memory.
Tests come to them and never to process 1, from which the code's process is forked; so what a test expects is not even
in the memory that code inherits. Only "asserts" ever reads tests itself: the others leave that to a fork for each job,
because code, or tests that could look around, may run in it.

Its one rule: nothing that a job chose may enter the memory of process 1, not even the name of a file, because the code
of later jobs is forked from it. So process 1 only counts what is left, and a child of it removes it.
"""

# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH110, PTH116, PTH123, PTH208

import contextlib
import os
import select
import signal
import socket
import stat
from dataclasses import dataclass
from typing import Any

from burnish.sandbox.inside import limits
from burnish.sandbox.inside.allowed_types import split_words
from burnish.sandbox.inside.codec import receive_packet, send_packet

DEVICES = split_words("/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/pts /dev/pts/ptmx")
"""What a cell has besides files: whoever may write to one may set its times, and its owner its mode."""
NETWORK = ("dev", "snmp", "snmp6", "netstat")
"""Where the kernel counts what was sent: a job that used the network is known by them, and its cell not used again."""
NETWORK_BYTES = 1 << 16
MOVED = ".burnish-"
CLEANING_SECONDS = 2.0
"""How long the files of a job may take to remove; a cell that needs longer is thrown away."""
LONG_AGO = (0, 0)
"""When the places that can be written were last used, as each job finds them."""
POLITE_ROUNDS = 3
"""Rounds of ending strangers one by one; whoever still multiplies then is ended together with the helpers."""


@dataclass(frozen=True)
class Helper:
    """A process that judges, seen from process 1."""

    kind: str
    pid: int
    link: socket.socket
    """Becomes readable when the helper answers, or ends."""

    def read_answer(self, patience: float) -> dict[str, Any] | None:
        """Its answer, waiting a little; None when it has none and is of no more use."""
        if self.link.fileno() < 0 or not select.select([self.link], [], [], patience)[0]:
            return None
        try:
            received = receive_packet(self.link)
        except OSError:
            return None
        return received[0] if received else None


class Helpers:
    """The helpers of a cell, started when first needed."""

    def __init__(self) -> None:
        self.living: dict[str, Helper] = {}

    def get(self, kind: str) -> Helper:
        """The helper of that kind. A new one may be forked during a job, so it closes whatever it did not ask for."""
        if kind in self.living:
            return self.living[kind]
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            try:
                limits.close_all_but(theirs.fileno())
                from burnish.sandbox.inside import judge  # only here: what process 1 does not hold, no job inherits

                judge.run_helper(theirs, kind)
            finally:
                os._exit(0)
        theirs.close()
        helper = self.living[kind] = Helper(kind, pid, ours)
        helper.read_answer(60.0)
        return helper

    def revive(self, patience: float) -> None:
        """After a job: whatever it did to the helpers, those that answer go on and the others are ended.

        Asked, not looked at: a helper that a job killed may need a moment to be dead.
        """
        for helper in list(self.living.values()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(helper.pid, signal.SIGCONT)
            send_packet(helper.link, {"still": "there"})
            self.await_answer(helper, patience)

    def await_answer(self, helper: Helper, patience: float) -> dict[str, Any] | None:
        """The answer of a helper that was asked; one that does not answer is ended, and the next job gets a new one."""
        answer = helper.read_answer(patience)
        if answer is None:
            self.end(helper)
        return answer

    def end(self, helper: Helper) -> None:
        """End a helper for good."""
        self.living.pop(helper.kind, None)
        helper.link.close()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(helper.pid, signal.SIGKILL)
            os.waitpid(helper.pid, 0)

    def end_all(self) -> None:
        """End every helper."""
        for helper in list(self.living.values()):
            self.end(helper)


class CellState:
    """The cell as process 1 sees it."""

    def __init__(self, settings: dict[str, Any], helpers: Helpers) -> None:
        self.isolated: bool = settings["isolated"]
        self.work: str = settings["work"]
        self.links: str = settings["packages"]
        """What code may import. Outside of a real cell it is a folder of links that was made for this one."""
        self.folders: list[str] = [self.work, *settings["folders"]]
        self.helpers = helpers
        self.jobs = 0
        if not self.isolated:
            # Whatever outlives its parent becomes a child of ours, as process 1 of a cell is anyway.
            limits.libc.prctl(limits.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.autogroup, self.sockets = (open_if_present(path) for path in ("/proc/self/autogroup", "/proc/net/unix"))
        # After a job a port may not be free yet, and the counts themselves could tell the next one something.
        files = NETWORK if self.isolated and settings["limits"]["loopback"] else ()
        self.network = [fd for name in files if (fd := open_if_present(f"/proc/net/{name}")) >= 0]
        self.devices = [path for path in DEVICES if self.isolated and os.path.exists(path)]
        self.times: dict[str, tuple[int, int]] = {}
        self.first = self.read_state()

    def make_folder(self) -> str:
        """A folder for one job, with a name no earlier job had. How many jobs there were is all that it tells."""
        self.jobs += 1
        folder = f"{self.work}/{self.jobs}"
        os.mkdir(folder, 0o700)
        for place in self.folders:
            os.utime(place, ns=LONG_AGO)
        return folder

    def find_strangers(self) -> list[int]:
        """Every process that belongs to a job."""
        if self.isolated:
            pids = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        else:
            pids = find_descendants(os.getpid())
        return list(pids - {os.getpid(), *(helper.pid for helper in self.helpers.living.values())})

    def end_processes(self, child: int = 0) -> int:
        """End every process of the job; the wait status of `child`."""
        status = 0
        if child:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
        rounds = 0
        while strangers := self.find_strangers():
            rounds += 1
            if rounds > POLITE_ROUNDS and self.isolated:
                self.end_everybody()
            for pid in strangers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for pid in strangers:
                # One that is not our child yet becomes it when its parent is gone.
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
        return status

    def end_everybody(self) -> None:
        """SIGKILL for everybody else in the cell at one stroke, helpers too. Never outside a cell."""
        if os.getpid() != 1 or not self.isolated:
            raise RuntimeError("only process 1 of a cell may signal everybody")
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        self.helpers.end_all()

    def restore(self, folder: str) -> bool:
        """Remove what the job left; say whether the cell is as it was. (That no process is left, was seen before.)"""
        with contextlib.suppress(OSError):
            os.rmdir(folder)
        if self.read_state() == self.first:
            return True
        return self.remove_files() and self.read_state() == self.first

    def read_state(self) -> list[Any]:
        """Everything that a job could change and a later one could read, but what is reset for each job.

        Sockets are counted because one that was sent to itself outlives its process, and its name can be read.
        """
        return [
            [self.read_folder(folder) for folder in self.folders],
            [self.read_device(path) for path in self.devices],
            len(os.listdir("/proc/self/fd")) - len(self.helpers.living),
            os.sched_getaffinity(0),
            os.getpriority(os.PRIO_PROCESS, 0),
            count_lines(self.sockets) - 2 * len(self.helpers.living) if self.isolated else 0,
            os.pread(self.autogroup, 100, 0) if self.autogroup >= 0 else b"",
            [os.pread(fd, NETWORK_BYTES, 0) for fd in self.network],
        ]

    def read_folder(self, folder: str) -> list[Any]:
        """One place that can be written: a tmpfs says by its size how many entries it has."""
        found = os.stat(folder)
        size = found.st_size if self.isolated else len(os.listdir(folder))
        return [found.st_mode, found.st_uid, found.st_gid, size, len(os.listxattr(folder))]

    def read_device(self, path: str) -> list[int]:
        """One device. Times that a job set are set again, to now: many are the machine's own, seen in every cell."""
        found = os.stat(path)
        if (found.st_mtime_ns, found.st_atime_ns) != self.times.get(path):
            with contextlib.suppress(OSError):
                os.utime(path)
                found = os.stat(path)
            self.times[path] = (found.st_mtime_ns, found.st_atime_ns)
        return [found.st_mode, found.st_uid, found.st_gid]

    def remove_files(self) -> bool:
        """Empty every place that can be written, in a child of our own; False when it could not or took too long."""
        try:
            child = os.fork()
        except OSError:
            return False
        if child == 0:
            try:
                for folder in self.folders:
                    empty_folder(folder)
            finally:
                os._exit(0)
        with limits.open_pidfd(child) as handle:
            done = bool(select.select([handle], [], [], CLEANING_SECONDS)[0])
        if not done:
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return done

    def close(self) -> None:
        """The last thing process 1 does. In a cell the kernel ends everybody with it; outside nobody else would."""
        if not self.isolated:
            self.helpers.end_all()
            self.end_processes()
            remove_folders(self.work, self.links)


def find_descendants(top: int) -> set[int]:
    """All processes below `top`; none if it is gone."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{top}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{top}/task/{task}/children") as file:
                for child in map(int, file.read().split()):
                    found |= {child} | find_descendants(child)
    return found


def empty_folder(folder: str) -> None:
    """Remove everything in a folder, however deep and whatever its permissions, and follow no link.

    Each folder in it is moved to the top before it is emptied itself, so no path is long and nothing is recursive.
    """
    moved = 0
    while names := os.listdir(folder):
        for name in names:
            path = f"{folder}/{name}"
            if not is_folder(path):
                os.unlink(path)
                continue
            os.chmod(path, 0o700)
            for below in os.listdir(path):
                if is_folder(f"{path}/{below}"):
                    os.chmod(f"{path}/{below}", 0o700)
                    moved += 1
                    os.rename(f"{path}/{below}", f"{folder}/{MOVED}{moved}")
                else:
                    os.unlink(f"{path}/{below}")
            os.rmdir(path)


def remove_folders(*folders: str) -> None:
    """Remove folders of ours with all that is in them; a link is only a link."""
    for folder in folders:
        with contextlib.suppress(OSError):
            empty_folder(folder)
            os.rmdir(folder)


def is_folder(path: str) -> bool:
    """True for a folder, not for a link to one."""
    return stat.S_ISDIR(os.lstat(path).st_mode)


def open_if_present(path: str) -> int:
    """A descriptor of a file of the kernel's, -1 where this kernel does not have it."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return -1


def count_lines(fd: int) -> int:
    """How many lines a file of the kernel's has, of its first page at most. What they say does not stay in memory."""
    if fd < 0:
        return 0
    page = bytearray(4096)
    lines = page.count(b"\n", 0, os.preadv(fd, [page], 0))
    page[:] = bytes(len(page))
    return lines
