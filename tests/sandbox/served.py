"""Programs to serve in tests, and ways to talk to them."""

import os
from pathlib import Path

from burnish.sandbox import Served, ServeLimits, cgroups
from burnish.sandbox.box import Box
from tests.sandbox.attack import WON

PORT = 8000
SHELL = """
import contextlib, io, socketserver, sys, traceback

class Shell(socketserver.StreamRequestHandler):
    def handle(self):
        code, said = self.rfile.read().decode(), io.StringIO()
        with contextlib.redirect_stdout(said):
            try:
                exec(code, {"request": self.request, "name": sys.argv[1:]})
            except BaseException:
                traceback.print_exc(file=said)
        self.wfile.write(said.getvalue().encode())

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 64

Server(("127.0.0.1", 8000), Shell).serve_forever()
"""
"""Runs the code that it is sent and answers with what that prints."""


def serve_shell(box: Box, *words: str, limits: ServeLimits | None = None) -> Served:
    return box.serve(["python", "shell.py", *words], PORT, {"shell.py": SHELL}, limits)


def ask(served: Served, code: str, timeout_seconds: float = 10.0) -> str:
    """What the shell prints."""
    with served.connect(timeout_seconds) as client:
        client.sendall(code.encode())
        client.shutdown(1)
        return b"".join(iter(lambda: client.recv(65536), b"")).decode()


def works_served(served: Served, code: str) -> bool:
    """Run an attack in a served program; it prints WON as its last act if it got what it wanted."""
    return WON in ask(served, f"{code}\nprint({WON!r})")


def find_processes(words: str) -> list[int]:
    """Every process of this machine with these words in its command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if words.encode() in (folder / "cmdline").read_bytes().replace(b"\0", b" "):
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def find_groups() -> list[Path]:
    """The control groups of this process's cells."""
    return [one for at in cgroups.find_places() for one in at.folder.glob(f"{cgroups.OURS}{os.getpid()}-*")]
