"""Carries one connection between its client, at our standard input and output, and the port of a program in this cell.

For containers into which no socket leads: the engine starts this for each connection, as another user than the program,
so that this can neither read nor end it. It keeps one piece of each direction in memory and waits until that is taken.
Nothing large is imported: a client waits for this to start.
"""

import contextlib
import os
import socket
import sys
import threading

PIECE_BYTES = 1 << 16
CONNECT_SECONDS = 10.0
LAST_WORD_SECONDS = 60.0
"""How long a client that says no more may wait for its answer: whether it has hung up cannot be seen from here."""


def join(port: int) -> None:
    """Carry until the program has said all, or one of both is gone."""
    try:
        program = socket.create_connection(("127.0.0.1", port), CONNECT_SECONDS)
    except OSError:
        program = socket.create_connection(("::1", port), CONNECT_SECONDS)
    program.settimeout(None)

    def carry_requests() -> None:
        with contextlib.suppress(OSError):
            while piece := os.read(0, PIECE_BYTES):
                program.sendall(piece)
            program.shutdown(socket.SHUT_WR)
            program.settimeout(LAST_WORD_SECONDS)

    threading.Thread(target=carry_requests, daemon=True).start()
    with contextlib.suppress(OSError):
        while piece := program.recv(PIECE_BYTES):
            while piece:
                piece = piece[os.write(1, piece) :]
    os._exit(0)


if __name__ == "__main__":
    join(int(sys.argv[1]))
