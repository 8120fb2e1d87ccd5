"""The processes of a cell that judge: "asserts" for scripts that can leave nothing behind, "forking" for any other,
"pytest" with pytest in its memory.

They live as long as the cell, next to process 1. Tests come to them and never to process 1, from which the code's
process is forked; so what a test expects is not even in the memory that code inherits. Only "asserts" ever reads tests
itself: the others leave that to a fork for each job, because code, or tests that could look around, may run in it.
"""

import contextlib
import os
import select
import signal
import socket
from typing import Any

from burnish.sandbox.inside import bounds, packets


class Helper:
    """One such process, seen from process 1."""

    def __init__(self, kind: str, pid: int, link: socket.socket) -> None:
        self.kind = kind
        self.pid = pid
        self.link = link

    def ask(self, message: dict[str, Any], fds: list[int]) -> None:
        """Hand over a suite; an answer, or the end of the link, will make `link` readable."""
        packets.send(self.link, message, fds)

    def answer(self, patience: float) -> dict[str, Any] | None:
        """Its answer, waiting a little; None when it has none and is of no more use."""
        if self.link.fileno() < 0 or not select.select([self.link], [], [], patience)[0]:
            return None
        try:
            received = packets.receive(self.link)
        except OSError:
            return None
        return received[0] if received else None


class Helpers:
    """The helpers of a cell, started when first needed."""

    def __init__(self) -> None:
        self.living: dict[str, Helper] = {}

    def pids(self) -> set[int]:
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
                bounds.close_all_but(theirs.fileno())
                from burnish.sandbox.inside import judge  # only here: what process 1 does not hold, no job inherits

                judge.listen(theirs, kind)
            finally:
                os._exit(0)
        theirs.close()
        helper = Helper(kind, pid, ours)
        helper.answer(60.0)
        return helper

    def revive(self, patience: float) -> None:
        """After a job: whatever it did to the helpers, those that answer go on and the others are ended.

        Asked, not looked at: a helper that a job killed may need a moment to be dead.
        """
        for helper in list(self.living.values()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(helper.pid, signal.SIGCONT)
            helper.ask({"still": "there"}, [])
            self.settle(helper, patience)

    def settle(self, helper: Helper, patience: float) -> dict[str, Any] | None:
        """The answer of a helper that was asked; one that does not answer is ended, and the next job gets a new one."""
        answer = helper.answer(patience)
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
