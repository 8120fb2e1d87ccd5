"""Process 1 of a cell: forks one process a job, watches its time, ends whatever it started, proves the cell unchanged.

Its one rule: what a job is about never enters this process. Code and tests arrive as descriptors that are passed on,
so no later job can find them in the memory it was forked from.
"""

import array
import gc
import json
import os
import signal
import socket
import sys
from typing import Any

from burnish.sandbox.inside import bounds, clock, traces, warm
from burnish.sandbox.inside.work import WORK


def serve(settings: dict[str, Any]) -> None:
    """Answer one job after the other until Burnish hangs up."""
    control = socket.socket(fileno=settings["control"])
    bounds.hide_memory()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    warm.up(settings)
    gc.collect()
    gc.freeze()
    gc.disable()
    baseline = traces.Baseline(settings)
    reply(control, {"ready": True, "python": sys.version.split()[0]})
    while (received := receive(control)) is not None:
        job, fds = received
        ended = perform(job, fds, control, settings, baseline)
        ended["clean"] = baseline.holds()
        reply(control, ended)
    baseline.sweep()


def perform(
    job: dict[str, Any], fds: list[int], control: socket.socket, settings: dict[str, Any], baseline: traces.Baseline
) -> dict[str, Any]:
    """Fork, let the child do the job, and say how it ended once everything it started is gone."""
    folder = baseline.new_folder()
    spent = clock.Spent(baseline.isolated)
    child = os.fork()
    if child == 0:
        control.close()
        live(job, fds, folder, settings)
    for fd in fds:
        os.close(fd)
    over = clock.watch(child, control, job["timeout"], spent)
    status = baseline.sweep(child)
    return {"exit_code": os.waitstatus_to_exitcode(status), "over": over, "cpu": spent.seconds()}


def live(job: dict[str, Any], fds: list[int], folder: str, settings: dict[str, Any]) -> None:
    """The child's whole life. Never returns."""
    code = 70
    try:
        os.setsid()
        os.chdir(folder)
        bounds.apply(settings["limits"], job["timeout"])
        WORK[job["job"]](job, fds, settings)
        code = 0
    except BaseException:
        if settings["debug"]:
            sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def receive(control: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next message and its descriptors, or None when Burnish hung up."""
    size = array.array("i").itemsize * 8
    data, extra, _, _ = control.recvmsg(65536, socket.CMSG_SPACE(size), socket.MSG_CMSG_CLOEXEC)
    if not data:
        return None
    fds = array.array("i")
    for _, _, raw in extra:
        fds.frombytes(raw[: len(raw) - len(raw) % fds.itemsize])
    return json.loads(data), list(fds)


def reply(control: socket.socket, message: dict[str, Any]) -> None:
    """Answer; if Burnish is gone the next receive will notice."""
    try:
        control.send(json.dumps(message).encode())
    except OSError:
        return
