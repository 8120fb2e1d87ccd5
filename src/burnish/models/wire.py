"""One exchange with a server over HTTP, under our control: it can be hung up from another thread, and has an end.

The clients of the providers give no hold on their connections, but all of them call hooks. Each exchange has its own
connection, and a thread has one exchange at a time, so that the hooks know whose it is.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

from burnish.models.astray import astray
from burnish.text import one_line

BYTES_PER_TOKEN = 4096
"""More than any protocol wraps around a token."""
SPARE_BYTES = 1 << 20

_current = threading.local()


class TooMuch(Exception):
    """The server sent far more than it was asked for."""


class Compressed(Exception):
    """The server compressed its answer although it was asked not to: a few bytes may then become gigabytes."""

    def __init__(self, coding: str, status: int) -> None:
        super().__init__(f"the server compressed its answer ({one_line(coding, 40)}) although it was asked not to")
        self.status_code = status


class Wire:
    """The connection of one ask."""

    def __init__(self, max_tokens: int) -> None:
        self.most_bytes = SPARE_BYTES + BYTES_PER_TOKEN * max_tokens
        self._lock = threading.Lock()
        self._socket: Any = None
        self._over = False
        self.retry_after = ""
        """When the server says that it has time for us, in its own words."""
        self.astray = ("", "")
        """How the answer shows that no model wrote it, and where it leads to."""

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Within it, what this thread asks over HTTP goes over this wire."""
        _current.wire = self
        try:
            yield
        finally:
            _current.wire = None

    def hang_up(self) -> None:
        """End the exchange now, whatever its thread waits for."""
        with self._lock:
            self._over = True
            self._shut()

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Take hold of the connection once there is one."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
                if self._over:
                    self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def under_control() -> dict[str, Any]:
    """How a client is made so that the thread's wire has hold of its requests: each on a connection of its own, never
    led elsewhere with the key in its hands, without cookies, and answered in plain bytes, which can be counted.
    """
    return {
        "event_hooks": {"request": [_follow], "response": [_bound]},
        "headers": {"Connection": "close", "Accept-Encoding": "identity"},
        "follow_redirects": False,
        "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
    }


def _follow(request: Any) -> None:
    if wire := getattr(_current, "wire", None):
        request.extensions["trace"] = wire.trace


def _bound(response: Any) -> None:
    if wire := getattr(_current, "wire", None):
        wire.retry_after = response.headers.get("retry-after", "")
        wire.astray = astray(response)
        response.stream = _bounded(response, wire.most_bytes)


def _bounded(response: Any, most_bytes: int) -> Any:
    """The answer's stream, ended with TooMuch where it does not end by itself. A compressed one is not read at all."""
    stream, coding = response.stream, response.headers.get("content-encoding", "").strip().lower()
    kind = next(base for base in type(stream).__mro__ if base.__name__ == "SyncByteStream")

    class Bounded(kind):  # type: ignore[misc, valid-type]  # of the package whose client this is
        def __iter__(self) -> Iterator[bytes]:
            if coding not in ("", "identity"):
                raise Compressed(coding, response.status_code)
            came = 0
            for block in stream:
                came += len(block)
                if came > most_bytes:
                    raise TooMuch(f"the server sent more than {most_bytes:,} bytes for one answer")
                yield block

        def close(self) -> None:
            stream.close()

    return Bounded()
