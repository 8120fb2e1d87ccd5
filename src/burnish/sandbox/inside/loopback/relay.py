"""Carries bytes between a Unix socket of Burnish's and the port of a program in this cell.

A process of its own. The sockets of the other side belong to the machine's network namespace, so the program must
never hold one: it is forked without them, and this process, like process 1, cannot be dumped or traced. It keeps one
piece of each direction in memory and waits until that is taken, so neither side can fill it.
"""

# ruff: noqa: PTH123

import asyncio
import contextlib
import os
import select
import socket
from typing import Any

PIECE_BYTES = 1 << 16
LOOK_SECONDS = 0.01
CONNECT_SECONDS = 10.0
WATCH_SECONDS = 0.5
ADDRESSES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
LISTENING = "0A"


def run_relay(listener: int, ready: int, port: int, connections: int) -> None:
    """Wait until the program listens, say so, and carry for as long as this process lives."""
    with contextlib.suppress(BrokenPipeError), socket.socket(fileno=listener) as accepting:
        accepting.setblocking(False)
        asyncio.run(wait_and_carry(accepting, ready, port, connections))


async def wait_and_carry(accepting: socket.socket, ready: int, port: int, connections: int) -> None:
    """One task for each connection; one that is too many waits in the listener's queue."""
    while not is_listening(port):
        await asyncio.sleep(LOOK_SECONDS)
    os.write(ready, b"1")
    os.close(ready)
    places, tasks = asyncio.Semaphore(connections), set[asyncio.Task[None]]()
    while True:
        await places.acquire()
        client, _ = await asyncio.get_running_loop().sock_accept(accepting)
        task = asyncio.create_task(carry(client, port))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        task.add_done_callback(lambda _: places.release())


def is_listening(port: int) -> bool:
    """Whether somebody listens on the port. The kernel is asked: a connection would be one that nobody made."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError), open(table) as file:
            next(file)
            for fields in map(str.split, file):
                if fields[3] == LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    return True
    return False


async def carry(client: socket.socket, port: int) -> None:
    """One connection, until both sides have said all, or one is gone."""
    with client, contextlib.suppress(OSError), await asyncio.wait_for(connect(port), CONNECT_SECONDS) as program:
        tasks = [asyncio.create_task(one) for one in (copy(client, program), copy(program, client), watch(client))]
        try:
            ends: list[asyncio.Future[Any]] = [asyncio.gather(*tasks[:2]), tasks[2]]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)  # they must let go of the sockets before these are closed


async def watch(client: socket.socket) -> None:
    """Return when the client has hung up, and its last bytes had time to arrive.

    One that only says no more may wait for its answer; but a program that never answers must not keep the places of
    those who have given up.
    """
    poll = select.poll()
    poll.register(client, 0)
    while not poll.poll(0):
        await asyncio.sleep(WATCH_SECONDS)
    await asyncio.sleep(WATCH_SECONDS)


async def connect(port: int) -> socket.socket:
    """A connection to the program, by either kind of address."""
    refused = OSError()
    for family, address in ADDRESSES:
        program = socket.socket(family)
        program.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(program, (address, port))
        except OSError as error:
            program.close()
            refused = error
        except BaseException:
            program.close()
            raise
        else:
            return program
    raise refused


async def copy(source: socket.socket, target: socket.socket) -> None:
    """Piece by piece, to the end; then the target is told that there is no more."""
    loop = asyncio.get_running_loop()
    while piece := await loop.sock_recv(source, PIECE_BYTES):
        await loop.sock_sendall(target, piece)
    target.shutdown(socket.SHUT_WR)
