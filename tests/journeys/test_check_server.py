"""Somebody checks a project whose tests start servers: on both loopback addresses, by name, on paths, fixed ports."""

import json
import sys
from pathlib import Path

import pytest

from burnish.checks import CheckContext
from burnish.checks.bench.bench import ProjectBench
from burnish.checks.bench.project_finder import find_project
from burnish.checks.suite import Suite
from burnish.checks.tests import TestsOfProject
from tests.checks.mutation.support import judged
from tests.support import burnish

NOTES = '''"""Notes behind a small web server."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def find(notes: dict[str, str], path: str) -> tuple[int, str]:
    """The status and the text for a path."""
    name = path.strip("/")
    if name in notes:
        return 200, notes[name]
    return 404, "no such note"


def make_server(notes: dict[str, str], address: tuple[str, int]) -> ThreadingHTTPServer:
    """A server that has yet to be started."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, text = find(notes, self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *args):
            pass

    return ThreadingHTTPServer(address, Handler)
'''
TESTS = """import asyncio
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

import notes


@pytest.fixture
def address():
    server = notes.make_server({"a": "hello", "b": ""}, ("127.0.0.1", 0))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


def fetch(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize(("path", "told"), [("/a", (200, "hello")), ("/b/", (200, "")), ("/c", (404, "no such note"))])
def test_notes(address, path, told):
    assert fetch(address + path) == told


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", None])
def test_asyncio(host):
    async def answer(reader, writer):
        writer.write(notes.find({"a": "x"}, (await reader.readline()).decode().strip())[1].encode())
        writer.close()

    async def main():
        server = await asyncio.start_server(answer, host, 0)
        for place in server.sockets:
            reader, writer = await asyncio.open_connection(*place.getsockname()[:2])
            writer.write(b"a\\\\n")
            assert await reader.read() == b"x"
            writer.close()
        server.close()

    asyncio.run(main())


class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.readline())


@pytest.mark.parametrize("number", range(2))
def test_a_fixed_port(number):
    with socketserver.TCPServer(("127.0.0.1", 8123 + number), Echo) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        with socket.create_connection(server.server_address) as client:
            client.sendall(b"hello\\\\n")
            assert client.makefile().readline() == "hello\\\\n"


def test_a_path(tmp_path):
    with socketserver.UnixStreamServer(str(tmp_path / "s"), Echo) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / "s"))
            client.sendall(b"hello\\\\n")
            assert client.makefile().readline() == "hello\\\\n"


def test_datagrams():
    one, two = (socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) for _ in range(2))
    with one, two:
        one.bind(("::1", 0))
        two.sendto(b"x", one.getsockname())
        assert one.recv(9) == b"x"


def test_a_server_in_a_process_of_its_own():
    command = [sys.executable, "-m", "http.server", "8765", "--bind", "127.0.0.1"]
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                assert fetch("http://127.0.0.1:8765/no-such-file")[0] == 404
                break
            except OSError:
                time.sleep(0.05)
        else:
            raise AssertionError("it never answered")
    finally:
        child.kill()
        child.wait()
""".replace("\\\\", "\\")
NO_PATHS = NOTES.replace("notes[name]\n", "path\n")
"""A planted fault that only somebody who asks a server notices."""


@pytest.mark.slow
def test_tests_that_start_servers_pass_in_a_cell_and_notice_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text(NOTES)
    (tmp_path / "test_notes.py").write_text(TESTS)
    said = burnish("check", "notes.py", "--only", "tests,coverage,mutation", "--json", cwd=tmp_path)
    told = json.loads(said.stdout)
    assert {one["check"]: one["verdict"] for one in told["evidence"]} == dict.fromkeys(
        ("tests", "coverage", "mutation"), "passed"
    ), told["evidence"]


@pytest.mark.slow
def test_a_fault_behind_a_server_fails_the_tests_that_ask_it(tmp_path: Path) -> None:
    for text, verdict in ((NOTES, "passed"), (NO_PATHS, "failed")):
        (tmp_path / "notes.py").write_text(text)
        (tmp_path / "test_notes.py").write_text(TESTS)
        project = find_project([tmp_path], python=sys.executable)
        with CheckContext(project) as context:
            evidence = TestsOfProject().judge(project, context)
        assert evidence.verdict == verdict, evidence.why
    failed = {str(one["what"]) for one in evidence.details["findings"]}  # type: ignore[attr-defined,index]
    assert failed
    assert not [one for one in failed if "port" in one or "datagrams" in one or "a_path" in one]


PORT_TESTS = """
import socket, socketserver, threading
import notes

class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(notes.find({}, self.rfile.readline().decode())[1].encode())

def test_it_runs():
    with socketserver.TCPServer(("127.0.0.1", 8123), Echo) as server:
        thread = threading.Thread(target=server.handle_request, daemon=True)
        thread.start()
        with socket.create_connection(server.server_address) as client:
            client.sendall(b"a\\n")
            client.makefile().read()
        thread.join()
"""
"""Notices nothing, and needs a port for itself. The server hangs up first, so the port is not free at once."""


@pytest.mark.slow
def test_a_port_that_another_mutant_has_taken_is_no_reason_to_call_one_noticed(tmp_path: Path) -> None:
    find = NOTES.split("\n\n\ndef make_server")[0] + "\n"
    evidence = judged(tmp_path, {"notes.py": find, "test_notes.py": PORT_TESTS})
    assert (evidence.verdict, evidence.figure) == ("failed", "0 %"), evidence.details


@pytest.mark.slow
def test_small_edits_of_a_project_are_tried_against_tests_that_need_a_port(tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text(NO_PATHS)
    (tmp_path / "test_notes.py").write_text(TESTS)
    project = find_project([tmp_path], python=sys.executable)
    tests = ("test_notes.py::test_notes", "test_notes.py::test_a_fixed_port")
    others = [NO_PATHS.replace("200", str(number)) for number in range(300, 304)]
    with ProjectBench(project, Path("notes.py")) as bench:
        suite = Suite(entry_point="find", project=tests)
        assert bench.passing([*others, NOTES, NOTES.replace("name in", "name  in"), NO_PATHS], suite) == (4, 5)
