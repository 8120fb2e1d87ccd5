"""Small JSON messages between processes of ours, with descriptors beside them. One message a packet."""

import array
import contextlib
import json
import socket
from collections.abc import Sequence
from typing import Any

ROOM = socket.CMSG_SPACE(array.array("i").itemsize * 8)


def receive(link: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next message and its descriptors, or None when the other side hung up."""
    data, extra, _, _ = link.recvmsg(65536, ROOM, socket.MSG_CMSG_CLOEXEC)
    if not data:
        return None
    fds = array.array("i")
    for _, _, raw in extra:
        fds.frombytes(raw[: len(raw) - len(raw) % fds.itemsize])
    return json.loads(data), list(fds)


def send(link: socket.socket, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Send a message; if nobody is there any more, whoever waits for an answer will notice."""
    with contextlib.suppress(OSError):
        socket.send_fds(link, [json.dumps(message).encode()], list(fds))
