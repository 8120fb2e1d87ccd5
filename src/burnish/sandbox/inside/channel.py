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
ENDED = "the code ended its own process"
PIECE = 262144
LONGEST = 64 * 1024 * 1024
HEADER = struct.Struct("!I")


class Gone(BaseException):
    """The other process ended or talks nonsense. Not an Exception, so that no test can swallow it."""


class Channel:
    """Sends and receives whole messages; raises Gone when there is nobody left to talk to."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.waiting = b""

    def send(self, message: Any) -> None:
        """Send one message."""
        body = "".join(encode(message, 0)).encode()
        data = HEADER.pack(len(body)) + body
        try:
            written = os.write(self.fd, data)
            while written < len(data):
                written += os.write(self.fd, data[written : written + PIECE])
        except OSError as error:
            raise Gone(ENDED) from error

    def receive(self) -> Any:
        """Wait for one message. Nearly always it comes whole in one piece."""
        data = self.waiting or self._read()
        while len(data) < HEADER.size:
            data += self._read()
        end = HEADER.size + HEADER.unpack_from(data)[0]
        if end > LONGEST:
            raise Gone("the code sent more than fits")
        if len(data) < end:
            data = self._rest(data, end)
        self.waiting = data[end:]
        try:
            return decode(data[HEADER.size : end].decode(), 0)[0]
        except (ValueError, RecursionError, StopIteration) as error:
            raise Gone("the code wrote on a channel that is not its own") from error

    def _rest(self, data: bytes, end: int) -> bytes:
        """A long message, piece by piece."""
        pieces, length = [data], len(data)
        while length < end:
            pieces.append(self._read())
            length += len(pieces[-1])
        return b"".join(pieces)

    def _read(self) -> bytes:
        """What there is to read; there must be something."""
        try:
            data = os.read(self.fd, PIECE)
        except OSError as error:
            raise Gone(ENDED) from error
        if not data:
            raise Gone(ENDED)
        return data
