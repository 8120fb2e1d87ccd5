"""The first steps in a container: call Burnish, drop the engine's pipes, and take on our own system call filter.

A bubblewrap cell is born with all of this. The filter comes on top of the engine's own; whichever refuses, wins.
"""

import base64
import ctypes
import os
import socket
from typing import Any

from burnish.sandbox.inside.bounds import libc

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2


class Program(ctypes.Structure):
    """A filter as the kernel takes it."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def enter(settings: dict[str, Any]) -> None:
    """Make this process as if bubblewrap had started it. What goes wrong can still be said on standard error."""
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.connect(settings["call"])
    settings["control"] = control.detach()
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    if settings["filter"]:
        refuse(base64.b64decode(settings["filter"]))


def refuse(steps: bytes) -> None:
    """Load a filter, for good and for every process forked from now on."""
    program = Program(len(steps) // 8, steps)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "the system call filter was not accepted")
