"""Starts a container with the fork server in it, answers its call, and finds it again when its owner was killed.

The server calls us: a Unix socket in a folder that only we can enter is bound into the container, process 1 connects to
it before any job runs, and then nobody listens there any more. Descriptors pass through such a socket as through any
other, so the rest of a cell is the same. This asks for an engine on this machine; `streamed.py` is for one elsewhere.
"""

import contextlib
import os
import select
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from burnish.errors import SandboxError
from burnish.sandbox import bubblewrap, cell, owner, start
from burnish.sandbox.docker import command
from burnish.sandbox.docker.engine import Engine
from burnish.sandbox.sandbox import JobLimits
from burnish.system import bind_packets, open_process, read_caller

OURS = "burnish-cell-"
FOLDER = "burnish-call-"
CALL_SECONDS = 60.0
"""A large image on a storage driver that copies takes its time."""


class Container:
    """Process 1 of a container, seen from outside. `Cell` needs no more of a process than this."""

    def __init__(self, engine: Engine, name: str, pid: int, stderr: IO[bytes] | None) -> None:
        self.engine = engine
        self.name = name
        self.pid = pid
        self.stderr = stderr
        self._handle = open_process(pid)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it is gone, and with it, by the kernel's rule, every other process of the container."""
        if self._handle < 0:
            return 0
        if not select.select([self._handle], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.name, timeout or 0.0)
        os.close(self._handle)
        self._handle = -1
        return 0

    def kill(self) -> None:
        """End it and remove the container."""
        with contextlib.suppress(SandboxError):
            self.engine.ask("rm", "--force", self.name)


def remove_containers(engine: Engine) -> None:
    """Remove the containers of a Burnish that is no more, and the volumes they had."""
    kinds = ((("ps", "--all", "--format", "{{.Names}}"), "rm"), (("volume", "ls", "--quiet"), "volume rm"))
    for look, remove in kinds if engine.elsewhere else kinds[:1]:
        left = [name for name in engine.ask(*look).split() if owner.is_left_over(name, OURS, bool(engine.elsewhere))]
        if left:
            with contextlib.suppress(SandboxError):
                engine.ask(*remove.split(), "--force", *left)


def open_docker_cell(
    engine: Engine,
    image: str,
    limits: JobLimits,
    folders: Mapping[str, str] = bubblewrap.NO_FOLDERS,
    filtered: bool = True,
    layer: Path | None = None,
) -> cell.Cell:
    """A new container that is ready for jobs. Only a test opens one without the system call filters."""
    name = owner.make_name(OURS)
    with listen_for_call() as (listener, address):
        mounts = command.list_mount_options(engine, limits, address, start.add_layer(folders, layer))
        before = command.build_command(engine, limits, name, mounts, filtered)
        settings = command.make_settings(engine, limits, layer, command.CONTROL, filtered)
        argv = [*before, image, *command.build_inner_command("start.py", settings, command.has_own_python(engine))]
        client = start.start_process(argv, [], dict(os.environ))
        try:
            control = accept_call(listener, client)
            one = cell.Cell(Container(engine, name, find_caller_pid(control), client.stderr), control, lambda: None)
            one.wait_until_ready()
        finally:
            client.kill()  # only the engine's command, which is of no more use; the container goes on without it
            client.wait()
    return one


@contextlib.contextmanager
def listen_for_call() -> Iterator[tuple[socket.socket, str]]:
    """A socket that waits for one call, and its address. Nothing of it is left after."""
    folder = owner.make_folder(FOLDER)
    path = folder / "control"
    try:
        with bind_packets(path) as listener:
            path.chmod(0o666)  # for the container's user; nobody else comes into the folder
            listener.listen(1)
            yield listener, str(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def accept_call(listener: socket.socket, client: subprocess.Popen[bytes]) -> socket.socket:
    """The connection that process 1 of the container makes; SandboxError with the engine's last words if none."""
    deadline = time.monotonic() + CALL_SECONDS
    while time.monotonic() < deadline:
        if select.select([listener], [], [], 0.05)[0]:
            return listener.accept()[0]
        if client.poll() is not None:
            break
    client.kill()
    words = client.communicate()[1].decode(errors="replace").strip()
    raise SandboxError(f"the container did not start: {words or 'it gave no reason'}")


def find_caller_pid(control: socket.socket) -> int:
    """The number that process 1 of the container has here."""
    pid = read_caller(control)
    if not pid:
        control.close()
        raise SandboxError("the container runs where its processes cannot be seen")
    return pid
