"""Starts cells, of either kind. Each is one process of ours, started from one thread that lives as long as Burnish.

Bubblewrap ends a cell when the *thread* that started it ends, so threads that come and go must not start cells.
"""

import json
import os
import platform
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import bubblewrap, cgroups, diagnosis, seccomp
from burnish.sandbox.cell import Cell
from burnish.sandbox.sandbox import JobLimits
from burnish.system import make_memory_file, make_packet_pair

LAUNCH = Path(__file__).parent / "launch.py"
STARTER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="burnish-cells")
"""The one thread that starts cells; it begins with the first."""
COMMANDS = "commands"
"""The folder among our own that tells Python in a command where packages are."""


def open_bubblewrap_cell(
    bwrap: str,
    limits: JobLimits,
    filtered: bool = True,
    folders: Mapping[str, str] = bubblewrap.NO_FOLDERS,
    layer: Path | None = None,
) -> Cell:
    """A new isolated cell that is ready for jobs. Only a test opens one without the system call filter."""
    ours, theirs = make_packet_pair()
    settings = make_isolated_settings(limits, theirs.fileno(), layer)
    inner = [str(bubblewrap.find_interpreter()), "-sSB", f"{bubblewrap.CELL_INSIDE}/start.py", json.dumps(settings)]
    group = cgroups.create_group(cgroups.find_places(), limits)
    program = seccomp.build_program(loopback=limits.loopback) if filtered else None
    filter_fd = make_memory_file(program) if program else None
    folders = add_layer(folders, layer)
    plan = {
        "argv": bubblewrap.build_command(bwrap, limits, filter_fd, inner, folders),
        "folders": bubblewrap.list_staged_folders(bwrap, folders),
        "uid": bubblewrap.CELL_UID,
        "cgroups": [f"{folder}/cgroup.procs" for folder in group],
        "niceness": limits.niceness,
    }
    command = [sys.executable, "-IS", str(LAUNCH), json.dumps(plan)]
    passed = [] if filter_fd is None else [filter_fd]
    try:
        return start_cell(command, ours, theirs, {}, lambda: cgroups.remove_group(group), passed)
    finally:
        for fd in passed:
            os.close(fd)


def check_layer(layer: Path | None) -> None:
    """Raise SetupProblem for a layer that is gone; else every kind of cell would fail, each with words of its own."""
    if layer and not layer.is_dir():
        raise SetupProblem(diagnosis.explain_no_layer(layer))


def add_layer(folders: Mapping[str, str], layer: Path | None) -> dict[str, str]:
    """What a cell sees besides the system, the layer among it."""
    return {**folders, **({str(layer): bubblewrap.CELL_LAYER} if layer else {})}


def make_isolated_settings(limits: JobLimits, control: int, layer: Path | None, kernel: str = "") -> dict[str, Any]:
    """What the server in an isolated cell must know: where it finds packages, and what can be written."""
    return make_server_settings(limits, control, kernel) | {
        "isolated": True,
        "packages": bubblewrap.CELL_PACKAGES,
        "layer": bubblewrap.CELL_LAYER if layer else "",
        "commands": f"{bubblewrap.CELL_INSIDE}/{COMMANDS}",
        "work": "/work",
        "folders": ["/tmp", "/dev/shm"],
    }


def open_process_cell(limits: JobLimits, layer: Path | None = None) -> Cell:
    """A new process that runs jobs under limits and is not isolated at all.

    Its processes are not counted: the kernel would count all others of this user too.
    """
    from burnish.sandbox.inside.cleanup import remove_folders  # here: it needs Linux

    ours, theirs = make_packet_pair()
    work, packages = (tempfile.mkdtemp(prefix=prefix) for prefix in ("burnish-", "burnish-packages-"))
    for name, target in bubblewrap.list_links(bubblewrap.find_packages()).items():
        (Path(packages) / name).symlink_to(target)
    settings = make_server_settings(limits.model_copy(update={"processes": 0}), theirs.fileno()) | {
        "isolated": False,
        "packages": packages,
        "layer": str(layer or ""),
        "commands": str(bubblewrap.INSIDE / COMMANDS),
        "work": work,
        "folders": [],
    }
    command = [str(bubblewrap.find_interpreter()), "-sSB", str(bubblewrap.INSIDE / "start.py"), json.dumps(settings)]
    env = {"PATH": os.environ.get("PATH", ""), "HOME": work, "TMPDIR": work, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
    return start_cell(command, ours, theirs, env | bubblewrap.ONE_THREAD, lambda: remove_folders(work, packages))


def make_server_settings(limits: JobLimits, control: int, kernel: str = "") -> dict[str, Any]:
    """What the server in either kind of cell must know; the kernel is this machine's unless another is named."""
    bounds = limits.model_dump()
    if tuple(map(int, re.findall(r"\d+", kernel or platform.release())[:2])) < (5, 14):
        bounds["processes"] = 0  # before Linux 5.14 the kernel counts processes of other cells too
    return {"limits": bounds, "control": control}


def start_cell(
    command: list[str],
    ours: socket.socket,
    theirs: socket.socket,
    env: dict[str, str],
    tidy: Callable[[], None],
    passed: Sequence[int] = (),
) -> Cell:
    """Start the process and wait until it can take jobs."""
    with theirs:
        process = STARTER.submit(start_process, command, [theirs.fileno(), *passed], env).result()
    cell = Cell(process, ours, tidy)
    cell.wait_until_ready()
    return cell


def start_process(
    command: list[str], passed: list[int], env: dict[str, str], stream: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """The cell's process, with its last words to read; no standard input and output but the stream."""
    try:
        return subprocess.Popen(
            command,
            stdin=stream,
            stdout=stream,
            stderr=subprocess.PIPE,
            pass_fds=passed,
            start_new_session=True,  # Ctrl-C in a terminal is for Burnish, which then closes its cells
            env=env,
        )
    except OSError as error:
        raise SandboxError(f"the cell did not start: {error}") from error
