"""A server that speaks HTTP by hand, so that it can also speak it wrongly: what it sends is given byte by byte."""

import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.models.peers import _LINES, MODEL, Turn

PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "ollama": "/api/chat"}
SHOWN = json.dumps({"model_info": {"toy.context_length": 32768}, "capabilities": ["completion"]}).encode()
TAGS = json.dumps({"models": [{"name": MODEL, "size": 5}]}).encode()

Send = Callable[[bytes], None]
Reply = Callable[[Send], None]


@dataclass
class Hostile:
    """The server: what it says to a question, and each request as it came."""

    reply: Reply = lambda send: None
    by_path: dict[str, Reply] = field(default_factory=dict)
    requests: list[bytes] = field(default_factory=list)
    address: str = ""

    def base_url(self, kind: str) -> str:
        return self.address + ("/v1" if kind == "openai" else "")


def http(body: bytes, head: str = "", status: str = "200 OK", kind: str = "application/json") -> bytes:
    """A whole answer."""
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{head}\r\n".encode() + body


def stream_head(protocol: str, head: str = "") -> bytes:
    """The beginning of an answer that ends with the connection."""
    kind = "application/x-ndjson" if protocol == "ollama" else "text/event-stream"
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{head}Connection: close\r\n\r\n".encode()


def lines_of(protocol: str, turn: Turn | None = None) -> list[bytes]:
    """An honest answer, line by line."""
    return [line.encode() for line in _LINES[PATHS[protocol]](turn or Turn())]


def data(protocol: str, told: dict[str, Any] | str) -> bytes:
    """One event of a stream, whatever is in it."""
    words = told if isinstance(told, str) else json.dumps(told)
    if protocol == "ollama":
        return f"{words}\n".encode()
    event = f"event: {told.get('type', 'x')}\n" if protocol == "anthropic" and isinstance(told, dict) else ""
    return f"{event}data: {words}\n\n".encode()


def told(protocol: str, lines: Iterable[bytes], head: str = "") -> Reply:
    """A stream of these lines."""

    def reply(send: Send) -> None:
        send(stream_head(protocol, head))
        for line in lines:
            send(line)

    return reply


@contextmanager
def hostile(server: Hostile) -> Iterator[Hostile]:
    """The server answers within, each connection in a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    server.address = f"http://127.0.0.1:{listener.getsockname()[1]}"

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=_serve, args=(server, listener.accept()[0]), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _serve(server: Hostile, connection: socket.socket) -> None:
    with connection, suppress(OSError):
        connection.settimeout(20)
        request = _request(connection)
        if not request:
            return
        server.requests.append(request)
        path = request.split(b" ")[1].decode()
        usual = {"/api/show": http(SHOWN), "/api/tags": http(TAGS)}
        if path in server.by_path:
            server.by_path[path](connection.sendall)
        elif path in usual:
            connection.sendall(usual[path])
        else:
            server.reply(connection.sendall)


def _request(connection: socket.socket) -> bytes:
    came = b""
    while b"\r\n\r\n" not in came:
        block = connection.recv(65536)
        if not block:
            return came
        came += block
    head, _, body = came.partition(b"\r\n\r\n")
    sizes = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
    while len(body) < sum(sizes):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
