"""How Burnish and the server in a cell talk: one small JSON message a packet, with the descriptors of a job beside it.

What a job is about (its code, its tests) never goes this way: it lies in memory files whose descriptors are passed on
to the process that needs them, so the server never holds anything a later job could find.
"""

import json
import os
import socket
from collections.abc import Sequence
from typing import Any


def send(control: socket.socket, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Send one message; the descriptors stay open here."""
    socket.send_fds(control, [json.dumps(message).encode()], list(fds))


def in_memory(content: bytes) -> int:
    """A descriptor of a file that exists only in memory and holds `content`."""
    handle = os.memfd_create("job", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(handle), "wb") as file:
        file.write(content)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle
