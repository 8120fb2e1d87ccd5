"""Serves a built app inside of its cell, with a door for its judge at an address that is made anew for each cell.

Through the door the judge counts SQL statements, restarts the app as a crash would, and fills tables. Only the standard
library and packages of the app itself are there.
"""

import importlib
import json
import os
import resource
import secrets
import sqlite3
import sys
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
NOT_COUNTED = ("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA", "SAVEPOINT", "RELEASE")
BOOT = secrets.token_hex(4)
PAUSE_SECONDS = 0.05
"""Between the answer and the restart, for the answer to leave."""


class Counter:
    """Hears every SQLite connection of this process: where its database is, and what it is asked."""

    def __init__(self) -> None:
        self.statements = 0
        self.database = ""
        self._connect: Any = sqlite3.connect

    def connect(self, database: Any, *values: Any, **named: Any) -> sqlite3.Connection:
        """In the place of `sqlite3.connect`."""
        connection: sqlite3.Connection = self._connect(database, *values, **named)
        connection.set_trace_callback(self.count)
        if str(database) != ":memory:":
            self.database = os.fspath(database)
        return connection

    def count(self, statement: str) -> None:
        """One statement was run."""
        self.statements += not statement.lstrip().upper().startswith(NOT_COUNTED)


COUNTER = Counter()


class Door:
    """The app, and in front of it the address of the judge."""

    def __init__(self, app: Any, path: str) -> None:
        self.app, self.path = app, path

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http" or scope["path"] != self.path:
            await self.app(scope, receive, send)
            return
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message.get("more_body"):
                break
        asked = json.loads(body or b"{}")
        if "table" in asked:
            fill_table(COUNTER.database, **asked)
        elif asked.get("restart"):
            argv = [sys.executable, *sys.orig_argv[1:]]
            threading.Timer(PAUSE_SECONDS, os.execv, [sys.executable, argv]).start()
        largest_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        said = {"boot": BOOT, "statements": COUNTER.statements, "memory_bytes": largest_kib * 1024}
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(said).encode()})


def fill_table(database: str, table: str, rows: int, vary: list[str], spread: dict[str, str]) -> None:
    """Copy the newest row so many times. Columns in `vary` are told apart by a number; every second copy refers by the
    columns in `spread` to another row of the table that they lead to.
    """
    connection = sqlite3.Connection(database, timeout=10)
    connection.row_factory = sqlite3.Row
    with connection:
        newest = dict(connection.execute(f'SELECT * FROM "{table}" ORDER BY id DESC LIMIT 1').fetchone())
        del newest["id"]
        targets = {
            name: [row[0] for row in connection.execute(f'SELECT id FROM "{spread[column]}"')]
            for name in newest
            if (column := name.removesuffix("_id")) in spread
        }
        copies = []
        for number in range(1, rows + 1):
            copy = dict(newest)
            for name in vary:
                copy[name] = newest[name] + number if isinstance(newest[name], int) else f"{newest[name]} {number}"
            for name, ids in targets.items():
                copy[name] = ids[number % len(ids)] if number % 2 else newest[name]
            copies.append(tuple(copy.values()))
        names, marks = ", ".join(f'"{name}"' for name in newest), ", ".join("?" for _ in newest)
        connection.executemany(f'INSERT OR IGNORE INTO "{table}" ({names}) VALUES ({marks})', copies)
    connection.close()


def main(path: str, port: str) -> None:
    """Serve until the end of the cell."""
    for module in (sqlite3, sqlite3.dbapi2):
        vars(module)["connect"] = COUNTER.connect  # an audit hook comes too early to set a trace
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    app = importlib.import_module("app.main").app
    uvicorn.run(
        Door(app, path),
        host="127.0.0.1",
        port=int(port),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
