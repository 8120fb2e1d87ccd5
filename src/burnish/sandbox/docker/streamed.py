"""Cells in containers of an engine with another kernel: Docker Desktop, Colima, a Podman machine, a remote host.

Neither a socket nor a folder of this machine leads there. So jobs go through the standard input and output of
`docker run -i` as frames (`inside/control.py`), and folders are copied into volumes, which cells see read-only. The
image has a Python of its own, since what this machine has may be for another system.
"""

import io
import json
import os
import select
import socket
import subprocess
import tarfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from burnish.errors import SandboxError
from burnish.sandbox import bubblewrap, owner, start
from burnish.sandbox.cell import LOST, Cell, OutputReader
from burnish.sandbox.docker import command
from burnish.sandbox.docker.container import OURS
from burnish.sandbox.docker.engine import Engine
from burnish.sandbox.inside.bounds import HEADER, JOB, MESSAGE, MOST_FRAME
from burnish.sandbox.sandbox import JobLimits, ServeLimits

SEND_SECONDS = 60.0
COPY_SECONDS = 600.0
"""For a folder with large packages, into a virtual machine."""
START_SECONDS = 60.0
LOOK_SECONDS = 0.2


class EngineClient:
    """The engine's command that keeps a container: it ends when that is gone. A `Process` as a cell needs it."""

    def __init__(self, engine: Engine, name: str, process: "subprocess.Popen[bytes]") -> None:
        self.engine, self.name, self.process = engine, name, process
        self.pid = process.pid
        self.stderr: IO[bytes] | None = process.stderr

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the container is gone."""
        return self.process.wait(timeout)

    def kill(self) -> None:
        """End it and remove the container."""
        with suppress(SandboxError):
            self.engine.ask("rm", "--force", self.name)
        self.process.kill()


class StreamedCell(Cell):
    """A cell that is reached through one stream of bytes in each direction."""

    relay: tuple[str, ...] = ()
    """The command that starts a relay in it; the port follows."""
    connections = 1
    # Its last words are still read, or the engine's command would end before it; that also waits for its removal.
    how_to_leave, goodbye_seconds = socket.SHUT_WR, 10.0
    _waiting = b""

    def _exchange(
        self,
        message: dict[str, Any],
        inputs: Sequence[bytes],
        passed: Sequence[int],
        reader: OutputReader,
        limit: float,
    ) -> dict[str, Any]:
        """Send a job and hear it. `passed` are the listener of a program to serve, and whom to tell that it listens."""
        said = json.dumps(message | {"sizes": [len(content) for content in inputs]}).encode()
        over = threading.Event()

        def listen() -> None:
            os.write(passed[1], b"1")
            accepting = socket.socket(fileno=os.dup(passed[0]))
            threading.Thread(target=self._accept, args=(accepting, message["port"], over), daemon=True).start()

        try:
            self.control.settimeout(SEND_SECONDS)
            self.control.sendall(b"".join([HEADER.pack(JOB, len(said)), said, *inputs]))
        except OSError as error:
            raise self._explain_gone(error) from error
        else:
            return self._hear(reader, limit, listen)
        finally:
            over.set()
            for fd in passed:
                os.close(fd)

    def _hear(self, reader: OutputReader, limit: float, listen: Callable[[], None]) -> dict[str, Any]:
        """Keep what the job says until process 1 says how it ended."""
        while frame := self._read_frame(limit):
            if frame[0] != MESSAGE:
                reader.add(frame[1])
            elif "exit_code" in (ended := json.loads(frame[1])):
                return dict(ended)
            else:
                listen()
        return LOST

    def _receive(self, deadline: float) -> dict[str, Any] | None:
        """The server's next message; None when it is gone or silent."""
        frame = self._read_frame(deadline)
        return json.loads(frame[1]) if frame else None

    def _read_frame(self, deadline: float) -> tuple[bytes, bytes] | None:
        """What comes next; None at the end, at the deadline, and for what is no frame."""
        if not self._wait_for(HEADER.size, deadline):
            return None
        kind, size = HEADER.unpack_from(self._waiting)
        end = HEADER.size + size
        if size > MOST_FRAME or not self._wait_for(end, deadline):
            return None
        body, self._waiting = self._waiting[HEADER.size : end], self._waiting[end:]
        return kind, body

    def _wait_for(self, size: int, deadline: float) -> bool:
        """Whether so many bytes have come before the deadline."""
        while len(self._waiting) < size:
            try:
                if not select.select([self.control], [], [], max(0.0, deadline - time.monotonic()))[0]:
                    return False
                data = self.control.recv(1 << 18)
            except (OSError, ValueError):
                return False
            if not data:
                return False
            self._waiting += data
        return True

    def _accept(self, listener: socket.socket, port: int, over: threading.Event) -> None:
        """Give each client a relay in the cell; one too many waits until another has ended."""
        places = threading.Semaphore(self.connections)
        with listener:
            while not over.is_set():
                if places.acquire(timeout=LOOK_SECONDS):
                    if select.select([listener], [], [], LOOK_SECONDS)[0]:
                        client = listener.accept()[0]
                        threading.Thread(target=self._carry, args=(client, port, over, places), daemon=True).start()
                    else:
                        places.release()

    def _carry(self, client: socket.socket, port: int, over: threading.Event, places: threading.Semaphore) -> None:
        """One connection: the engine's command reads from the client and writes to it, until one of them is gone."""
        gone = select.poll()
        gone.register(client, 0)
        words, both = [*self.relay, str(port)], client.fileno()
        try:
            with client, subprocess.Popen(words, stdin=both, stdout=both, stderr=subprocess.DEVNULL) as process:
                while process.poll() is None:
                    if over.is_set() or gone.poll(0):
                        process.kill()
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(LOOK_SECONDS)
        except OSError:
            pass  # no process can be started: the client sees its connection end
        finally:
            places.release()


class Copies:
    """Folders of this machine in volumes of an engine, each copied when first needed; removed with this object.

    A copy is of the moment in which it was made. Names say whose they are, so the next Burnish removes what is left.
    """

    def __init__(self, engine: Engine, image: str) -> None:
        self.engine, self.image = engine, image
        self.volumes: dict[str, str] = {}
        self._lock = threading.Lock()
        weakref.finalize(self, remove_volumes, engine, self.volumes)

    def mount(self, folders: Mapping[str, str]) -> list[str]:
        """The options that show these folders, read-only, at the places they are given to."""
        pairs = {str(bubblewrap.INSIDE): bubblewrap.CELL_INSIDE, **folders}
        with self._lock:
            missing = {source: place for source, place in pairs.items() if source not in self.volumes}
            made = {source: owner.make_name(OURS) for source in missing}
            if missing:
                try:
                    self._fill({place: made[source] for source, place in missing.items()}, pack(missing))
                except BaseException:
                    remove_volumes(self.engine, made)
                    raise
            self.volumes.update(made)
        mounts = [f"type=volume,source={self.volumes[source]},target={place}" for source, place in pairs.items()]
        return [word for mount in mounts for word in ("--mount", f"{mount},readonly")]

    def _fill(self, volumes: Mapping[str, str], content: bytes) -> None:
        """Unpack files into volumes, through a container that never starts."""
        name = owner.make_name(OURS)
        mounts = [f"--mount=type=volume,source={volume},target={place}" for place, volume in volumes.items()]
        none = ("--pull", "never", "--network", "none", "--entrypoint", command.ENV)
        self.engine.ask("create", "--name", name, *none, *mounts, self.image)
        try:
            self.engine.ask("cp", "-", f"{name}:/", given=content, seconds=COPY_SECONDS)
        finally:
            self.engine.ask("rm", "--force", name)


def pack(folders: Mapping[str, str]) -> bytes:
    """Folders as one tar file, under the places where cells see them, readable by everybody."""

    def open_up(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if not (entry.isfile() or entry.isdir() or entry.issym() or entry.islnk()):
            return None
        entry.mode = (entry.mode & 0o755) | (0o555 if entry.isdir() else 0o444)
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for source, place in folders.items():
            tar.add(os.path.realpath(source), place.lstrip("/"), filter=open_up)
    return buffer.getvalue()


def remove_volumes(engine: Engine, volumes: Mapping[str, str]) -> None:
    """Remove volumes that no container has any more."""
    if volumes:
        with suppress(SandboxError):
            engine.ask("volume", "rm", "--force", *volumes.values())


def open_streamed_cell(
    copies: Copies,
    limits: JobLimits,
    folders: Mapping[str, str] = bubblewrap.NO_FOLDERS,
    filtered: bool = True,
    layer: Path | None = None,
) -> Cell:
    """A new container that is ready for jobs. Only a test opens one without the system call filters."""
    engine, name = copies.engine, owner.make_name(OURS)
    mounts = copies.mount(start.add_layer(folders, layer))
    settings = command.make_settings(engine, limits, layer, "", filtered)
    before = command.build_command(engine, limits, name, mounts, filtered)
    argv = [*before, copies.image, *command.build_inner_command("start.py", settings, own=True)]
    ours, theirs = socket.socketpair()
    with theirs:
        process = start.start_process(argv, [], dict(os.environ), theirs.fileno())
    cell = StreamedCell(EngineClient(engine, name, process), ours, lambda: None)
    if isinstance(limits, ServeLimits):
        cell.connections = limits.connections
        stranger = f"{bubblewrap.CELL_UID + 1}:{bubblewrap.CELL_UID + 1}"
        relay = command.build_inner_command("loopback/join.py", "", own=True)[:-1]
        cell.relay = (*engine.command, "exec", "-i", "--user", stranger, name, command.ENV, *relay)
    cell.wait_until_ready(START_SECONDS)
    return cell
