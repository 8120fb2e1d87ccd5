"""Process 1 of a browser's cell: opens the ports there, starts the browser, and ends what takes too much memory.

The listener of the first port is handed to Burnish, which serves on it from outside: the page reaches that, the
servers below, and nothing else. Standard library only.
"""

# ruff: noqa: PTH123, PTH208

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import sys
import threading
from typing import Any

LOOK_SECONDS = 0.1
"""Between two looks at the memory. In one a page can take about 300 MB."""
LAST_BYTES = 2000
SAID = "/tmp/said"
PR_SET_DUMPABLE = 4
ANSWER = (
    b"HTTP/1.1 200 OK\r\nServer: burnish\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n"
    b"Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\n"
    b"Access-Control-Allow-Private-Network: true\r\n\r\nok\n"
)


def main() -> None:
    """Hand out the listener, start the browser and look after it until it ends, or Burnish hangs up."""
    settings = json.loads(sys.argv[1])
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # nobody in the cell reads this process or its descriptors
    control = socket.socket(fileno=settings["control"])
    for address in settings["servers"]:
        host, _, port = address.rpartition(":")
        threading.Thread(target=serve, args=[socket.create_server((host, int(port)))], daemon=True).start()
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        control.send(json.dumps({"ready": True}).encode())
        socket.send_fds(control, [json.dumps({"port": listener.getsockname()[1]}).encode()], [listener.fileno()])
    browser = start_browser(settings)
    while not is_over(browser):
        if select.select([control], [], [], LOOK_SECONDS)[0]:
            os._exit(0)
        if end_the_hungry(settings):
            control.send(json.dumps({"killed": "memory"}).encode())
    with open(SAID, "rb") as said:
        os.write(2, said.read()[-LAST_BYTES:])
    os._exit(1)


def serve(listener: socket.socket) -> None:
    """Answer every request with the same few bytes, whatever it asks."""
    while True:
        client, _ = listener.accept()
        with client, contextlib.suppress(OSError):
            client.settimeout(1)
            client.recv(65536)
            client.sendall(ANSWER)


def start_browser(settings: dict[str, Any]) -> int:
    """The browser's process, with its two ends of the pipe as descriptors 3 and 4, where it expects them."""
    import fcntl  # here, because other systems know neither, and their Burnish takes `serve` from this file
    import resource

    limits, ends = settings["limits"], [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in settings["pipe"]]
    said = os.open(SAID, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    child = os.fork()
    if child:
        for fd in (*ends, *settings["pipe"]):
            os.close(fd)
        return child
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limits["processes"]:
            resource.setrlimit(resource.RLIMIT_NPROC, (limits["processes"], limits["processes"]))
        os.dup2(said, 2)
        for place, fd in enumerate(ends, 3):
            os.dup2(fd, place)
        os.closerange(5, 1 << 16)
        os.execv(settings["argv"][0], settings["argv"])
    finally:
        os._exit(127)


def is_over(browser: int) -> bool:
    """Bury whoever has ended; True once that was the browser itself."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            if ended == browser:
                return True
    return False


def end_the_hungry(settings: dict[str, Any]) -> bool:
    """End the pages that hold too much memory, and the greatest if all of the cell together do."""
    held = {pid: read_memory(pid) for pid in list_processes()}
    renderers = {pid: size for pid, size in held.items() if is_renderer(pid)}
    hungry = [pid for pid, size in renderers.items() if size > settings["page_bytes"]]
    if not hungry and sum(held.values()) > settings["limits"]["memory_bytes"]:
        hungry = sorted(renderers, key=renderers.__getitem__)[-1:]
        if not hungry:
            os._exit(1)
    for pid in hungry:
        end(pid)
    return bool(hungry)


def list_processes() -> list[int]:
    """Everybody in the cell but this one."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def is_renderer(pid: int) -> bool:
    """Whether a process runs pages."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return b"--type=renderer" in file.read(4096)
    return False


def read_memory(pid: int) -> int:
    """Bytes that a process holds for itself, and of memory that it shares but no file is behind."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", "rb") as file:
        rows = [line.split() for line in file if line.startswith((b"RssAnon:", b"RssShmem:"))]
        return sum(int(row[1]) for row in rows) * 1024
    return 0


def end(pid: int) -> None:
    """End a process, which may have ended already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
