"""The processes of a cell that judge: "asserts" for scripts that can leave nothing behind, "forking" for any other,
"pytest" with pytest in its memory; and the packets by which processes of ours talk.

They live as long as the cell, next to process 1. Tests come to them and never to process 1, from which the code's
process is forked; so what a test expects is not even in the memory that code inherits. Only "asserts" ever reads tests
itself: the others leave that to a fork for each job, because code, or tests that could look around, may run in it.
"""

import array
import contextlib
import json
import os
import select
import signal
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnish.sandbox.inside import limits

DESCRIPTOR_SPACE = socket.CMSG_SPACE(array.array("i").itemsize * 8)


def receive_packet(link: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next message and its descriptors, or None when the other side hung up."""
    data, extra, _, _ = link.recvmsg(65536, DESCRIPTOR_SPACE, socket.MSG_CMSG_CLOEXEC)
    if not data:
        return None
    fds = array.array("i")
    for _, _, raw in extra:
        fds.frombytes(raw[: len(raw) - len(raw) % fds.itemsize])
    return json.loads(data), list(fds)


def send_packet(link: socket.socket, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Send a message; if nobody is there any more, whoever waits for an answer will notice."""
    with contextlib.suppress(OSError):
        socket.send_fds(link, [json.dumps(message).encode()], list(fds))


def read_all(fd: int) -> bytes:
    """Everything in a file of the job, which is closed after."""
    with os.fdopen(fd, "rb") as file:
        return file.read()


@dataclass(frozen=True)
class Helper:
    """One such process, seen from process 1."""

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

    def list_pids(self) -> set[int]:
        """Who must be spared when a job is swept away."""
        return {helper.pid for helper in self.living.values()}

    def get(self, kind: str) -> Helper:
        """The helper of that kind."""
        if kind not in self.living:
            self.living[kind] = self.start(kind)
        return self.living[kind]

    def start(self, kind: str) -> Helper:
        """Fork a new helper. It may be forked during a job, so it closes whatever it did not ask for."""
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
        helper = Helper(kind, pid, ours)
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
        try:
            os.kill(helper.pid, signal.SIGKILL)
            os.waitpid(helper.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            return
