"""Code in a cell wants to talk to somebody."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.sandbox import JobLimits, bubblewrap, start
from burnish.sandbox.box import Box, Open
from burnish.sandbox.docker import command, engine
from burnish.sandbox.docker.container import open_docker_cell
from burnish.sandbox.docker.streamed import Copies, open_streamed_cell
from tests.sandbox.attack import works
from tests.sandbox.kinds import ISOLATED, must_be_there, skip_streamed


@pytest.fixture
def service() -> Iterator[int]:
    """A service on this machine's loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(scope="module", params=ISOLATED)
def unfiltered(request: pytest.FixtureRequest) -> Iterator[Box]:
    """A cell without any system call filter: the namespaces must be enough on their own."""
    open_cell = unfiltered_container() if must_be_there(request.param) == "docker" else unfiltered_bubblewrap()
    with Box(request.param, "", open_cell, JobLimits(), 1) as box:
        yield box


def unfiltered_bubblewrap() -> Open:
    bwrap = bubblewrap.find_bwrap()
    assert bwrap
    return lambda layer, limits: start.open_bubblewrap_cell(bwrap, limits, filtered=False, layer=layer)


def unfiltered_container() -> Open:
    found = engine.find_engine()
    name = command.ensure_image(found)
    if found.elsewhere:
        copies = Copies(found, name)
        return lambda layer, limits: open_streamed_cell(copies, limits, filtered=False, layer=layer)
    return lambda layer, limits: open_docker_cell(found, name, limits, filtered=False, layer=layer)


@contextlib.contextmanager
def listening(address: str) -> Iterator[None]:
    """A Unix socket that guests can connect to."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        yield


@pytest.mark.slow
def test_a_service_on_the_loopback_cannot_be_reached(fails_inside, service):
    fails_inside(f"import socket; socket.create_connection(('127.0.0.1', {service}), 2)")


@pytest.mark.slow
def test_the_namespace_alone_keeps_the_loopback_out_of_reach(unfiltered, outside, service):
    attack = f"import socket; socket.create_connection(('127.0.0.1', {service}), 2)"
    assert works(outside, attack)
    assert not works(unfiltered, attack)


@pytest.mark.slow
def test_the_namespace_has_no_way_out(unfiltered):
    shown = unfiltered.run(["python", "-c", "import socket; print(socket.if_nameindex())"]).output
    assert shown.strip() == "[(1, 'lo')]"


@pytest.mark.slow
def test_a_datagram_cannot_be_sent(fails_inside):
    fails_inside("import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53))")


def test_ipv6_is_no_way_around(fails_inside):
    fails_inside("import socket; socket.socket(socket.AF_INET6)")


@pytest.mark.slow
def test_a_name_cannot_be_resolved(cell, fails_inside):
    skip_streamed(cell.kind, "the engine's own hosts file says what localhost is")
    fails_inside("import socket; socket.getaddrinfo('localhost', 80)")


@pytest.mark.slow
def test_the_kernel_s_routing_socket_is_closed(fails_inside):
    fails_inside("import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)")


def test_a_unix_socket_of_the_user_cannot_be_reached(fails_inside, tmp_path: Path):
    with listening(str(tmp_path / "s")):
        fails_inside(f"import socket; socket.socket(socket.AF_UNIX).connect({str(tmp_path / 's')!r})")


def test_an_abstract_socket_of_the_user_cannot_be_reached(fails_inside):
    with listening("\0burnish-attack"):
        fails_inside("import socket; socket.socket(socket.AF_UNIX).connect('\\0burnish-attack')")


def test_programs_may_still_talk_to_themselves(cell):
    code = "import asyncio, socket; socket.socketpair(); asyncio.run(asyncio.sleep(0)); print('fine')"
    assert cell.run(["python", "-c", code]).output == "fine\n"
