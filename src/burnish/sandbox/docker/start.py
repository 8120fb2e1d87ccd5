"""Starts a container with the fork server in it, and answers its call.

The server calls us: a Unix socket in a folder that only we can enter is bound into the container, process 1 connects to
it before any job runs, and then nobody listens there any more. Descriptors pass through such a socket as through any
other, so the rest of a cell is the same. This asks for an engine on this machine; one elsewhere is refused.
"""

import base64
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from burnish.errors import SandboxError
from burnish.sandbox import bubblewrap, cell, seccomp, start
from burnish.sandbox.docker import command, container
from burnish.sandbox.docker.engine import Engine
from burnish.sandbox.limits import Limits

FOLDER = "burnish-call-"
CALL_SECONDS = 60.0
"""A large image on a storage driver that copies takes its time."""


def docker_cell(
    engine: Engine,
    image: str,
    limits: Limits,
    folders: Mapping[str, str] = bubblewrap.NO_FOLDERS,
    filtered: bool = True,
    layer: Path | None = None,
) -> cell.Cell:
    """A new container that is ready for jobs. Only a test opens one without the system call filters."""
    name = container.new_name()
    with listening() as (listener, address):
        before = command.command(engine, limits, name, address, start.with_layer(folders, layer), filtered)
        argv = [*before, image, *command.inner(settings(engine, limits, filtered, layer))]
        client = start.popen(argv, [], dict(os.environ))
        try:
            control = called(listener, client)
            one = cell.Cell(container.Container(engine, name, caller(control), client.stderr), control, lambda: None)
            one.wait_until_ready()
        finally:
            client.kill()  # only the engine's command, which is of no more use; the container goes on without it
            client.wait()
    return one


def settings(engine: Engine, limits: Limits, filtered: bool, layer: Path | None = None) -> str:
    """What the server must know. Processes are counted by the engine where it can, else by the kernel for each user."""
    counted = limits.model_copy(update={"processes": 0}) if engine.processes else limits
    program = seccomp.program() if filtered else None
    told = start.server_settings(counted, -1) | {
        "isolated": True,
        **start.seen_in_a_cell(layer),
        "work": "/work",
        "folders": ["/tmp", "/dev/shm"],
        "call": command.CONTROL,
        "filter": base64.b64encode(program or b"").decode(),
    }
    return json.dumps(told)


@contextmanager
def listening() -> Iterator[tuple[socket.socket, str]]:
    """A socket that waits for one call, and its address. Nothing of it is left after."""
    folder = tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-")
    path = Path(folder) / "control"
    handle = os.open(folder, os.O_PATH)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(f"/proc/self/fd/{handle}/control")  # an address must be short, a folder's name need not be
            path.chmod(0o666)  # for the container's user; nobody else comes into the folder
            listener.listen(1)
            yield listener, str(path)
    finally:
        os.close(handle)
        shutil.rmtree(folder, ignore_errors=True)


def called(listener: socket.socket, client: subprocess.Popen[bytes]) -> socket.socket:
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


def caller(control: socket.socket) -> int:
    """The number that process 1 of the container has here."""
    pid: int = struct.unpack("3i", control.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))[0]
    if not pid:
        control.close()
        raise SandboxError("the container runs where its processes cannot be seen")
    return pid


def remove_leftovers() -> None:
    """Remove the folders of a Burnish that was killed while it waited for a call."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        pid = folder.name.removeprefix(FOLDER).split("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(folder, ignore_errors=True)
