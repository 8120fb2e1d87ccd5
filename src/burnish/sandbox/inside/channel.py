"""One JSON message after the other between the judge and the code under test, over a pair of sockets."""

import json
import os
import struct
from typing import Any

# Made once, before any fork: a fresh process that touches less of its inherited memory copies less of it.
encode = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, None, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True
)
decode = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
LONGEST = 64 * 1024 * 1024
HEADER = struct.Struct("!I")


class Gone(BaseException):
    """The other process ended or talks nonsense. Not an Exception, so that no test can swallow it."""


class Channel:
    """Sends and receives whole messages; raises Gone when there is nobody left to talk to."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.waiting = bytearray()

    def send(self, message: Any) -> None:
        """Send one message."""
        body = "".join(encode(message, 0)).encode()
        data = memoryview(HEADER.pack(len(body)) + body)
        try:
            while data:
                data = data[os.write(self.fd, data) :]
        except OSError as error:
            raise Gone("the code ended its own process") from error

    def receive(self) -> Any:
        """Wait for one message."""
        size = HEADER.unpack(self._take(HEADER.size))[0]
        if size > LONGEST:
            raise Gone("the code sent more than fits")
        try:
            return decode(self._take(size).decode(), 0)[0]
        except (ValueError, RecursionError, StopIteration) as error:
            raise Gone("the code wrote on a channel that is not its own") from error

    def _take(self, size: int) -> bytes:
        """Exactly that many bytes."""
        while len(self.waiting) < size:
            try:
                data = os.read(self.fd, 262144)
            except OSError as error:
                raise Gone("the code ended its own process") from error
            if not data:
                raise Gone("the code ended its own process")
            self.waiting += data
        taken = bytes(self.waiting[:size])
        del self.waiting[:size]
        return taken
