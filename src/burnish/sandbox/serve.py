"""A program that serves in a cell of its own, reached through a Unix socket and in no other way.

The socket lies in a folder that only this user can enter, and that no cell sees. Its listener is handed to a relay in
the cell and kept by nobody else: when the cell ends, however it ends, a connection is refused.
"""

import os
import select
import shutil
import socket
import threading
import weakref
from collections.abc import Callable
from typing import Self

from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import owner
from burnish.sandbox.cell import Cell, JobEnd
from burnish.sandbox.inside.bounds import WALL
from burnish.sandbox.sandbox import ServeLimits
from burnish.system import LONGEST_SOCKET, open_local_socket
from burnish.text import strip_controls

FOLDER = "burnish-serve-"
NAME = "socket"
PORTS = range(1024, 65536)
"""A program in a cell has no right to lower ones."""
LAST_LINES, LONGEST_LINE = 10, 300


class ServeError(SandboxError):
    """A program that was to serve ended before it listened, or did not listen in time."""


class Served:
    """A program that serves until `stop`, the end of its time, or its own. Use it as a context manager."""

    def __init__(self, cell: Cell, given: bytes, port: int, limits: ServeLimits, discard: Callable[[], None]) -> None:
        self.folder = owner.make_folder(FOLDER, LONGEST_SOCKET - len(f"/{NAME}"))
        self._remove_folder = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._tidy, cell.tidy = cell.tidy, self._leave_nothing
        self.socket = self.folder / NAME
        """Where to connect to. Mode 0700 of its folder decides who can: this user, and root."""
        self.port = port
        self.limits = limits
        self.ended: JobEnd | None = None
        """How it ended, once it did so by itself or by a limit."""
        self._cell = cell
        self._discard = discard
        self._output = b""
        with open_local_socket() as listener:
            listener.bind(str(self.socket))
            listener.listen(limits.connections)
            self._ready, tell = os.pipe()
            self._thread = threading.Thread(target=self._live, args=(given, [listener.detach(), tell]), daemon=True)
        self._thread.start()

    def wait_until_ready(self) -> None:
        """Return once the program listens. Raises ServeError with its last lines if it does not."""
        with open(self._ready, "rb", buffering=0) as ready:  # noqa: PTH123
            is_told = bool(select.select([ready], [], [], self.limits.start_seconds)[0])
            if is_told and ready.read(1):
                return
        how = f"did not listen on port {self.port} within {self.limits.start_seconds:g} seconds"
        if is_told:
            self._thread.join()
            code = f" with exit code {self.ended.exit_code}" if self.ended else ""
            how = f"ended{code} before it listened on port {self.port}"
        lines = [line[:LONGEST_LINE] for line in strip_controls(self.output).splitlines() if line.strip()]
        last = "\n".join(lines[-LAST_LINES:]) or "nothing"
        raise ServeError(f"the program {how}. The last that it said:\n{last}")

    def _live(self, given: bytes, passed: list[int]) -> None:
        """The thread of a served program: hears it until its end, and leaves nothing of it."""
        message = {"job": "serve", "port": self.port, "timeout": self.limits.seconds / WALL}
        try:
            self.ended = self._cell.perform(message, [given], self.limits.output_bytes, self._hear, passed)
        except SandboxError:
            pass  # it was stopped
        finally:
            self._discard()

    def _leave_nothing(self) -> None:
        """The last thing that is done when its cell closes, whoever closes it."""
        self._tidy()
        self._remove_folder()

    def _hear(self, data: bytes) -> None:
        self._output = (self._output + data)[-self.limits.output_bytes :]

    @property
    def output(self) -> str:
        """What the program has said so far; of much, the last."""
        return self._output.decode(errors="replace")

    @property
    def alive(self) -> bool:
        """Whether it can still answer."""
        return self._thread.is_alive() and self.ended is None

    def connect(self, timeout_seconds: float = 10.0) -> socket.socket:
        """A connection to the program. Raises OSError when it is gone."""
        client = open_local_socket()
        client.settimeout(timeout_seconds)
        try:
            client.connect(str(self.socket))
        except OSError:
            client.close()
            raise
        return client

    def stop(self) -> None:
        """End every process of its cell and remove its socket. Safe to call twice and from another thread."""
        self._discard()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def check_port(port: int) -> None:
    """Raise SetupProblem for a port that no program in a cell can listen on."""
    if port not in PORTS:
        raise SetupProblem(
            f"A program in a cell cannot listen on port {port}. Each cell has all ports for itself: choose any from "
            f"{PORTS.start} to {PORTS.stop - 1}."
        )
