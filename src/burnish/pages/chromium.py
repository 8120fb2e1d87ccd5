"""Speaks DevTools with a Chromium over its pipe: JSON messages with a zero byte after each, both ways.

One thread reads. Any other thread may call, and waits for its own answer alone; what the browser says by itself goes
to whoever listens to that session.
"""

import json
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from burnish.errors import SandboxError
from burnish.sandbox.browser import BrowserCell, open_cell

MOST_BYTES = 64 << 20
"""Of one message. A page that brings us a greater one is no page."""
PIECE_BYTES = 1 << 18
CALL_SECONDS = 10.0

Heard = Callable[[str, dict[str, Any]], None]
"""Told of an event's name and parameters, in the thread that reads: it may `send`, but not `call`."""


START_SECONDS = 20.0


class DevToolsError(SandboxError):
    """The browser refused a command, did not answer in time, or is gone."""


class DevTools:
    """The way to one browser. `session` names a page in all methods; empty: the browser itself."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = commands
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._listeners: dict[str, Heard] = {}
        self._last_id = 0
        self._lock = threading.Lock()
        self.is_gone = False
        self._thread = threading.Thread(target=self._read, args=[answers], name="burnish-devtools", daemon=True)
        self._thread.start()

    def call(
        self, method: str, session: str = "", timeout_seconds: float = CALL_SECONDS, **parameters: Any
    ) -> dict[str, Any]:
        """The browser's answer to a command. Raises DevToolsError where there is none, or it is a refusal."""
        answer: Future[dict[str, Any]] = Future()
        number = self._send(method, session, parameters, answer)
        try:
            return answer.result(timeout_seconds)
        except TimeoutError:
            raise DevToolsError(f"{method} was not answered within {timeout_seconds:g} seconds") from None
        finally:
            self._waiting.pop(number, None)

    def send(self, method: str, session: str = "", **parameters: Any) -> None:
        """A command whose answer nobody waits for; a browser that is gone needs none."""
        with suppress(DevToolsError):
            self._send(method, session, parameters, None)

    def listen(self, session: str, heard: Heard | None) -> None:
        """Tell `heard` of all events of a session from now on; None: nobody."""
        if heard:
            self._listeners[session] = heard
        else:
            self._listeners.pop(session, None)

    def close(self) -> None:
        """Hang up. The browser is ended by whoever started it, before this."""
        self._thread.join()

    def _send(
        self, method: str, session: str, parameters: dict[str, Any], answer: Future[dict[str, Any]] | None
    ) -> int:
        with self._lock:
            if self.is_gone:
                raise DevToolsError("the browser is gone")
            self._last_id += 1
            if answer:
                self._waiting[self._last_id] = answer
            message = {"id": self._last_id, "method": method, "params": parameters}
            data = json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0"
            try:
                while data:
                    data = data[os.write(self._commands, data) :]
            except OSError as error:
                self._waiting.pop(self._last_id, None)
                raise DevToolsError(f"the browser is gone: {error}") from error
            return self._last_id

    def _read(self, answers: int) -> None:
        """The thread: one message after the other, until the browser is gone or says too much."""
        with open(answers, "rb", buffering=0) as pipe:  # noqa: PTH123
            held: list[bytes] = []
            while (piece := pipe.read(PIECE_BYTES)) and sum(map(len, held)) < MOST_BYTES:
                *ended, rest = piece.split(b"\0")
                for end in ended:
                    self._take(json.loads(b"".join([*held, end])))
                    held = []
                held.append(rest)
        with self._lock:
            self.is_gone = True
            os.close(self._commands)
        for answer in list(self._waiting.values()):
            with suppress(Exception):
                answer.set_exception(DevToolsError("the browser is gone"))

    def _take(self, message: dict[str, Any]) -> None:
        if answer := self._waiting.pop(message.get("id", 0), None):
            if "error" in message:
                answer.set_exception(DevToolsError(str(message["error"].get("message"))))
            else:
                answer.set_result(message["result"])
        elif (heard := self._listeners.get(message.get("sessionId", ""))) and "method" in message:
            heard(message["method"], message.get("params", {}))


def open_chromium(page_bytes: int, servers: Sequence[str] = ()) -> tuple[BrowserCell, DevTools]:
    """A Chromium that answers, see `open_cell`: with its own sandbox inside of the cell, else without it.

    Raises SetupProblem where there is no browser or no cell, and SandboxError with its last words where it ends.
    """
    words = ""
    for is_nested in (True, False):
        cell = open_cell(page_bytes, servers, is_nested)
        devtools = DevTools(cell.commands, cell.answers)
        try:
            devtools.call("Browser.getVersion", timeout_seconds=START_SECONDS)
            return cell, devtools
        except DevToolsError as error:
            words = f"{error}: {cell.read_last_words()}"
            cell.close()
            devtools.close()
    raise SandboxError(f"Chromium did not start: {words}")
