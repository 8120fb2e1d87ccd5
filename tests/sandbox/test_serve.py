"""A program that serves in a cell of its own."""

import http.client
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import JobLimits, Served, ServeError, ServeLimits, open_sandbox, serve
from burnish.sandbox.box import Box
from burnish.system import LONGEST_SOCKET
from tests.sandbox.kinds import ISOLATED, must_be_there, skip_streamed
from tests.sandbox.served import PORT, ask, find_groups, find_processes, serve_shell
from tests.sandbox.test_owner import family, remaining

WEB = ["python", "-m", "http.server", str(PORT), "--bind", "127.0.0.1"]
ECHO = """
import asyncio
async def answer(reader, writer):
    while piece := await reader.read(65536):
        writer.write(piece)
        await writer.drain()
    writer.close()
async def main():
    async with await asyncio.start_server(answer, HOST, 8000) as server:
        await server.serve_forever()
asyncio.run(main())
"""


@pytest.fixture(scope="module", params=ISOLATED)
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    with open_sandbox(must_be_there(request.param), cells=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def shell(box: Box) -> Iterator[Served]:
    with serve_shell(box) as served:
        yield served


class Client(http.client.HTTPConnection):
    """HTTP through a served program's socket."""

    def __init__(self, served: Served) -> None:
        super().__init__("localhost")
        self.served = served

    def connect(self) -> None:
        self.sock = self.served.connect()


def wait_for(is_so: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Whether it comes to be so in time."""
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    return is_so()


def test_a_web_server_is_reached_through_its_socket_and_gone_after(box):
    before = find_groups()
    with box.serve(WEB, PORT, {"a/page.html": "héllo"}) as served:
        client = Client(served)
        client.request("GET", "/a/page.html")
        answer = client.getresponse()
        assert (answer.status, answer.read().decode()) == (200, "héllo")
        assert served.alive
        assert wait_for(lambda: "GET /a/page.html" in served.output)
        members = family(served._cell.process.pid)
        client.close()
    assert not served.alive
    assert not served.folder.exists()
    assert not remaining(members, 0.0 if box.kind == "bubblewrap" else 2.0)
    assert find_groups() == before
    with pytest.raises(FileNotFoundError):
        served.connect()
    served.stop()


@pytest.mark.parametrize(
    "host", ["127.0.0.1", *(pytest.param(host, marks=pytest.mark.slow) for host in ("::1", "0.0.0.0", "localhost"))]
)
def test_bytes_pass_unchanged_in_both_directions_by_any_address(box, host):
    if host == "::1":
        skip_streamed(box.kind, "only where the kernel is known to have IPv6 is it switched on")
    sent = os.urandom(3_000_000)
    served = box.serve(["python", "echo.py"], PORT, {"echo.py": ECHO.replace("HOST", repr(host))})
    with served, served.connect() as client, ThreadPoolExecutor(1) as pool:
        client.sendall(b"one")
        assert client.recv(100) == b"one"
        pool.submit(client.sendall, sent)
        back = bytearray()
        while len(back) < len(sent):
            back += client.recv(1 << 20)
        assert back == sent
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""


def test_only_this_user_can_enter_the_folder_of_the_socket(shell):
    assert shell.folder.stat().st_mode & 0o777 == 0o700
    assert shell.folder.stat().st_uid == os.getuid()
    if os.getuid() == 0:
        code = f"import os, socket; os.setuid(65534); socket.socket(socket.AF_UNIX).connect({str(shell.socket)!r})"
        refused = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "PermissionError" in refused.stderr


def test_a_program_that_ends_or_never_listens_is_an_error_with_its_last_lines(box, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(box._all)
    with pytest.raises(ServeError, match="exit code 3 .*port 8000(.|\n)*no config$"):
        box.serve(["python", "-c", "print('no \\x1b[31mconfig'); raise SystemExit(3)"], PORT)
    code = "import time; [print(n, flush=True) for n in range(99)]; time.sleep(99)"
    with pytest.raises(ServeError, match="within 0.8 seconds(.|\n)*\n89\n(.|\n)*\n98$"):
        box.serve(["python", "-c", code], PORT, limits=ServeLimits(start_seconds=0.8))
    with pytest.raises(ServeError, match="no-such-program"):
        box.serve(["no-such-program"], PORT)
    with pytest.raises(ServeError, match="not below the job's folder"):
        box.serve(["true"], PORT, {"../../etc/x": "x"})
    assert box._all == before
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("port", [-1, 0, 80, 65536, "8000"])
def test_a_port_that_no_cell_has_is_refused(box, port):
    with pytest.raises(SetupProblem, match=f"port {port}"):
        box.serve(WEB, port)


def test_without_isolation_nothing_is_served():
    with open_sandbox("process", cells=1) as bare, pytest.raises(SetupProblem, match="bubblewrap"):
        bare.serve(WEB, PORT)


def test_a_program_that_ends_later_says_how_and_its_socket_is_gone(box):
    with serve_shell(box) as served:
        ask(served, "import os; os._exit(7)")
        served._thread.join(30)
        assert (served.alive, served.ended.exit_code, served.ended.over) == (False, 7, "")
        assert not served.folder.exists()


@pytest.mark.slow
def test_a_served_program_has_an_age_limit_and_none_on_its_cpu_time(box):
    with serve_shell(box, limits=ServeLimits(seconds=2.0)) as served:
        began = time.monotonic()
        ask(served, "import threading\ndef spin():\n    while True: pass\nthreading.Thread(target=spin).start()")
        served._thread.join(10)
        assert 0.9 < time.monotonic() - began < 6, "half a second of CPU time is what a job of two seconds has"
        assert served.ended.over == "wall"


@pytest.mark.slow
def test_closing_the_sandbox_stops_what_it_serves():
    with open_sandbox("bubblewrap", cells=1) as box:
        served = serve_shell(box)
        members = family(served._cell.process.pid)
    assert not remaining(members, 0.0)
    assert not served.folder.exists()
    served.stop()
    assert not served.alive
    with pytest.raises(SandboxError):
        serve_shell(box)


def test_jobs_go_on_beside_a_served_program(box, shell):
    assert box.run(["true"]).exit_code == 0
    assert box.grade("def f(): return 1", "assert f() == 1").all_passed
    assert ask(shell, "print(1)") == "1\n"


def test_who_closes_beside_another_returns_no_earlier_than_all_of_it_is_gone(monkeypatch):
    began, remove = threading.Event(), shutil.rmtree

    def remove_slowly(*given, **options):
        began.set()
        time.sleep(0.3)
        remove(*given, **options)

    monkeypatch.setattr(shutil, "rmtree", remove_slowly)
    with open_sandbox("bubblewrap", cells=1) as box:
        served = serve_shell(box)
        stopper = threading.Thread(target=served.stop)
        stopper.start()
        assert began.wait(10)
        served._cell.close()
        assert not served.folder.exists()
        stopper.join()


@pytest.mark.slow
def test_a_long_folder_for_temporary_files_does_not_make_the_address_too_long(box, tmp_path, monkeypatch):
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with serve_shell(box) as served:
        assert len(str(served.socket)) <= LONGEST_SOCKET
        assert ask(served, "print(1)") == "1\n"
    assert not served.folder.exists()


@pytest.mark.slow
def test_more_connections_than_allowed_wait_for_a_place(box):
    with serve_shell(box, limits=ServeLimits(connections=2)) as served:
        held = [served.connect() for _ in range(2)]
        time.sleep(0.3)
        with ThreadPoolExecutor(1) as pool:
            third = pool.submit(ask, served, "print(3)")
            time.sleep(0.5)
            assert not third.done()
            for client in held:
                client.close()
            assert third.result(10) == "3\n"


@pytest.mark.slow
def test_processes_that_a_program_leaves_behind_are_buried(box):
    """A program that forks twice leaves its grandchildren to process 1; unburied they would fill the limit."""
    code = (
        "import os\nfor _ in range(20):\n    if os.fork() == 0:\n        os.fork()\n        os._exit(0)\n    os.wait()"
    )
    with serve_shell(box, limits=ServeLimits(processes=48)) as served:
        for _ in range(6):
            assert ask(served, code) == ""
            time.sleep(1.2)


@pytest.mark.slow
def test_twenty_serve_at_once_each_reached_by_its_own_socket_and_nothing_is_left():
    """All on the same port; none is to be found from another cell, or from outside but by its socket."""
    before = find_groups()
    with open_sandbox("bubblewrap", cells=1) as box:
        with ThreadPoolExecutor(4) as pool:
            limits = ServeLimits(start_seconds=60)
            all_served = list(pool.map(lambda n: serve_shell(box, f"number-{n}", limits=limits), range(20)))
        members = [pid for one in all_served for pid in family(one._cell.process.pid)]
        assert len(find_processes("shell.py number-")) >= 20
        assert [ask(one, "print(*name)") for one in all_served] == [f"number-{n}\n" for n in range(20)]
        spaces = {ask(one, "import os; print(os.readlink('/proc/self/ns/net'))") for one in all_served}
        assert len(spaces | {f"{Path('/proc/self/ns/net').readlink()}\n"}) == 21
        folders = [one.folder for one in all_served]
        look = f"""
import os
print([os.path.exists(path) for path in {[str(folder) for folder in folders]}])
for table in ("tcp", "tcp6"):
    print([row.split()[1] for row in open(f"/proc/net/{{table}}") if " 0A " in row])
"""
        for one in all_served[:3]:
            seen, tcp, tcp6 = ask(one, look).splitlines()
            assert (seen, tcp, tcp6) == (str([False] * 20), f"['0100007F:{PORT:04X}']", "[]")
        with pytest.raises(ConnectionRefusedError), socket.socket() as outside:
            outside.connect(("127.0.0.1", PORT))
        for one in all_served[:10]:
            one.stop()
        assert [ask(one, "print(1)") for one in all_served[10:]] == ["1\n"] * 10
    assert not remaining(members)
    assert not find_processes("shell.py number-")
    assert not any(folder.exists() for folder in folders)
    assert find_groups() == before
    sockets = Path("/proc/net/unix").read_text()
    assert not [folder for folder in folders if str(folder) in sockets]


OWNER = """
import sys, time
from burnish.sandbox import open_sandbox
from tests.sandbox.served import serve_shell
box = open_sandbox(sys.argv[1], cells=1)
served = [serve_shell(box, "orphan") for _ in range(2)]
print(*(one.folder for one in served), *(one._cell.process.pid for one in served), flush=True)
time.sleep(100)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ISOLATED)
def test_killing_burnish_ends_what_it_serves_and_the_next_start_removes_the_sockets(kind, tmp_path, monkeypatch):
    skip_streamed(must_be_there(kind), "its processes have no numbers here")
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", OWNER, kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) as parent:
        assert parent.stdout is not None
        *folders, first, second = parent.stdout.readline().split()
        members = [pid for top in (parent.pid, int(first), int(second)) for pid in family(top)]
        assert len(members) > 6
        parent.kill()
    assert not remaining(members)
    for folder in folders:
        with pytest.raises((ConnectionRefusedError, FileNotFoundError)), socket.socket(socket.AF_UNIX) as client:
            client.connect(f"{folder}/{serve.NAME}")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    open_sandbox("bubblewrap", cells=1, limits=JobLimits(loopback=True)).close()
    assert not any(Path(folder).exists() for folder in folders)
    assert not list(tmp_path.iterdir())
