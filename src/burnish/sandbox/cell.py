"""One cell, seen from outside: a process that takes one job at a time and may be thrown away at any moment.

Burnish and the server in it exchange small JSON messages, one a packet, with the descriptors of a job beside them. What
a job is about (its code, its tests) never goes this way: it lies in memory files whose descriptors are passed on to the
process that needs them, so the server never holds anything a later job could find.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from burnish.errors import SandboxError
from burnish.sandbox.inside.bounds import WALL
from burnish.system import make_memory_file

START_SECONDS = 20.0
GRACE_SECONDS = 5.0
GOODBYE_SECONDS = 0.3

LOST: dict[str, Any] = {"exit_code": -signal.SIGKILL, "over": "cell", "clean": False}
"""How a job ended whose process 1 did not live to say it."""

OutputListener = Callable[[bytes], None]
"""Somebody who wants to know what a job says while it runs."""


class CellGone(SandboxError):
    """A cell ended before it was given its job."""


class Process(Protocol):
    """What a cell runs in: a child of ours, or process 1 of a container."""

    pid: int
    stderr: IO[bytes] | None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; subprocess.TimeoutExpired if that does not come in time."""

    def kill(self) -> None:
        """End it at once."""


@dataclass
class JobEnd:
    """How a job ended: what its process said, and what process 1 of the cell says about it."""

    exit_code: int
    over: str
    """"" or what ended it: "cpu" or "wall", a limit; "cell", that its cell ended or stopped to answer under it."""
    clean: bool
    """True when the cell is as it was before the job."""
    output: bytes = b""
    seconds: float = 0.0

    @property
    def timed_out(self) -> bool:
        """True when a time limit ended it."""
        return self.over in ("cpu", "wall")

    @property
    def broke_cell(self) -> bool:
        """True when its cell ended with it."""
        return self.over == "cell"


@dataclass
class OutputReader:
    """Collects what comes out of one descriptor, keeping at most `keep` bytes: the first and the last half."""

    fd: int
    keep: int
    heard: OutputListener | None = None
    """Told of everything at once, as it comes."""
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    dropped: int = 0

    def read(self) -> bool:
        """Take what there is; False at the end."""
        data = os.read(self.fd, 262144)
        if data:
            self.add(data)
        return bool(data)

    def add(self, data: bytes) -> None:
        """Keep what the job has just said."""
        if self.heard:
            self.heard(data)
        room = self.keep // 2 - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        spare = len(self.tail) - self.keep // 2
        if spare > self.keep // 2:
            del self.tail[:spare]
            self.dropped += spare

    def content(self) -> bytes:
        """What was kept, with a note where something is missing."""
        spare = max(0, len(self.tail) - self.keep // 2)
        dropped = self.dropped + spare
        note = f"\n[… {dropped} bytes left out …]\n".encode() if dropped else b""
        return bytes(self.head) + note + bytes(self.tail[spare:])


class Cell:
    """A process that runs jobs, one at a time. `close` may come from any thread and ends a running job at once."""

    how_to_leave, goodbye_seconds = socket.SHUT_RDWR, GOODBYE_SECONDS

    def __init__(self, process: Process, control: socket.socket, tidy: Callable[[], None]) -> None:
        self.process = process
        self.control = control
        self.tidy = tidy
        self.closed = False
        self.has_waited = False
        """True once it was idle: it may have died unnoticed since."""
        self.layer: Path | None = None
        """The packages that it sees besides pytest; whoever opens it says which."""
        self.python = ""
        """The version of the interpreter in it, as it says itself."""
        self._busy = threading.Lock()
        """Held during a job, so that `close` does not take the socket away under it."""
        self._ending = threading.Lock()

    def wait_until_ready(self, seconds: float = START_SECONDS) -> None:
        """Return once the server can take jobs; SandboxError with its last words if it cannot."""
        ready = self._receive(time.monotonic() + seconds)
        if ready is None:
            self.process.kill()
            words = self.process.stderr.read().decode(errors="replace").strip() if self.process.stderr else ""
            self.close()
            raise SandboxError(f"the cell did not start: {words or 'it gave no reason'}")
        self.python = str(ready.get("python", ""))

    def perform(
        self,
        message: dict[str, Any],
        inputs: Sequence[bytes],
        keep_bytes: int,
        heard: OutputListener | None = None,
        passed: Sequence[int] = (),
    ) -> JobEnd:
        """Run one job and wait for its end, never longer than its wall limit and a little more.

        Descriptors that are `passed` belong to the job from now on; they are closed here.
        """
        with self._busy:
            started = time.monotonic()
            reader = OutputReader(-1, keep_bytes, heard)
            ended = self._exchange(message, inputs, passed, reader, started + WALL * message["timeout"] + GRACE_SECONDS)
            if ended is LOST and self.closed:
                raise SandboxError("the sandbox was closed")
            return JobEnd(**ended, output=reader.content(), seconds=time.monotonic() - started)

    def _exchange(
        self,
        message: dict[str, Any],
        inputs: Sequence[bytes],
        passed: Sequence[int],
        reader: OutputReader,
        limit: float,
    ) -> dict[str, Any]:
        """Hand a job over and hear it until its end, which process 1 tells, or the limit: LOST."""
        fds = [*(make_memory_file(content) for content in inputs), *passed]
        reader.fd, into = os.pipe()
        try:
            try:
                socket.send_fds(self.control, [json.dumps(message).encode()], [*fds, into])
            except OSError as error:
                raise self._explain_gone(error) from error
            finally:
                for fd in (*fds, into):
                    os.close(fd)
            return self._collect(reader, limit)
        finally:
            os.close(reader.fd)

    def _explain_gone(self, error: OSError) -> SandboxError:
        """What it means that a job cannot be handed over."""
        return SandboxError("the sandbox was closed") if self.closed else CellGone(f"the cell is gone: {error}")

    def _collect(self, reader: OutputReader, limit: float) -> dict[str, Any]:
        """Read what the job says until process 1 says that it ended, or is gone: then the job failed with its cell."""
        poll = select.poll()
        poll.register(reader.fd, select.POLLIN)
        poll.register(self.control, select.POLLIN)
        ended: dict[str, Any] = {}
        is_reading = True
        while is_reading or not ended:
            ready = dict(poll.poll(max(0.0, limit - time.monotonic()) * 1000))
            if reader.fd in ready and not reader.read():
                poll.unregister(reader.fd)
                is_reading = False
            if not ready or self.control.fileno() in ready:
                ended = (self._receive(limit) if ready else None) or LOST
                if ended is LOST:
                    break
                poll.unregister(self.control)
        return ended

    def _receive(self, deadline: float) -> dict[str, Any] | None:
        """The server's next message; None when it is gone or silent."""
        if not select.select([self.control], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return None
        try:
            data = self.control.recv(65536)
        except OSError:
            return None
        return json.loads(data) if data else None

    def close(self) -> None:
        """End every process of the cell."""
        self.closed = True
        with contextlib.suppress(OSError):
            self.control.shutdown(self.how_to_leave)
        with self._ending:
            # Process 1 goes when its socket closes, and bubblewrap with it; whatever does not is killed.
            try:
                self.process.wait(self.goodbye_seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        with self._busy:
            self.control.close()
            if self.process.stderr:
                self.process.stderr.close()
        with self._ending:  # whoever closes it beside another returns no earlier than all of it is gone
            self.tidy()
