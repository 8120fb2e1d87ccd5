"""A built app at work in a cell of its own, and HTTP to it: it runs nowhere else until its user starts it."""

import http.client
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from importlib.resources import files as package_files
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import urlencode, urljoin, urlsplit

from burnish.apps.page_reader import Form, Page, read_page
from burnish.errors import SandboxError
from burnish.events import Frozen
from burnish.packages import Layer
from burnish.sandbox import Served, ServeLimits, open_sandbox

PORT = 8000
PROGRAM = "burnish_serve_app.py"
FORM_TYPE = "application/x-www-form-urlencoded"
RESTART_SECONDS = 20.0
MOST_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
SERVE_LIMITS = ServeLimits(seconds=1800.0, start_seconds=60.0, connections=64, open_files=512)

Body = Mapping[str, str] | Sequence[tuple[str, str]] | bytes | None
"""What is sent: fields of a form, perhaps a name twice; or bytes as they are."""


class AppState(Frozen):
    """What the process of an app says of itself."""

    boot: str
    """Another one after each start."""
    statements: int
    """SQL statements so far that read or write rows."""
    memory_bytes: int
    """The most that it has held."""


class AppAnswer(Frozen):
    """One answer of an app."""

    status: int
    headers: tuple[tuple[str, str], ...]
    text: str

    def header(self, name: str) -> str:
        """The header of this name, all of its values joined; empty where there is none."""
        return ", ".join(value for key, value in self.headers if key.lower() == name)

    @property
    def cookies(self) -> dict[str, str]:
        """What it sets, by name; deleted ones are empty."""
        lines = [value for key, value in self.headers if key.lower() == "set-cookie"]
        return dict(line.partition(";")[0].strip().split("=", 1) for line in lines)


class _AppConnection(http.client.HTTPConnection):
    """HTTP through the socket of a served program."""

    def __init__(self, served: Served, timeout_seconds: float) -> None:
        super().__init__("localhost")
        self.served, self.timeout_seconds = served, timeout_seconds

    def connect(self) -> None:
        """As `http.client` asks for it."""
        self.sock = self.served.connect(self.timeout_seconds)


class ServedApp:
    """An app that serves until it is closed. Use it as a context manager."""

    def __init__(
        self,
        files: Mapping[str, str],
        layer: Layer,
        limits: ServeLimits = SERVE_LIMITS,
        sandbox: str = "auto",
    ) -> None:
        """`layer`: the packages that it needs. Raises ServeError with its last words for an app that does not start."""
        self._door = f"/{secrets.token_urlsafe(24)}"
        program = (package_files("burnish.apps.inside") / "serve_app.py").read_text("utf-8")
        with ExitStack() as cleanup:
            box = cleanup.enter_context(open_sandbox(sandbox, cells=1, layer=layer.folder))
            argv = ["python", PROGRAM, self._door, str(PORT)]
            self.served = cleanup.enter_context(box.serve(argv, PORT, {**files, PROGRAM: program}, limits))
            self._cleanup = cleanup.pop_all()

    @property
    def address(self) -> Path:
        """The Unix socket at which it answers."""
        return self.served.socket

    def request(
        self,
        method: str,
        path: str,
        form: Body = None,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        timeout_seconds: float = 15.0,
    ) -> AppAnswer:
        """What the app answers. Redirects are not followed. Raises SandboxError where nothing comes back."""
        pairs = [*form.items()] if isinstance(form, Mapping) else form
        body = pairs if isinstance(pairs, bytes | None) else urlencode(pairs, errors="surrogatepass").encode()
        sent = {"Host": "localhost", **({"Content-Type": FORM_TYPE} if body is not None else {}), **(headers or {})}
        if cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        connection = _AppConnection(self.served, timeout_seconds)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise SandboxError(f"the app did not answer {method} {path[:100]}: {error!r}") from error
        finally:
            connection.close()
        return AppAnswer(status=answer.status, headers=tuple(answer.getheaders()), text=text)

    def read_state(self, **asked: Any) -> AppState:
        """What its process says of itself, after it has done what was asked of it (`inside/serve_app.py`)."""
        answer = self.request("POST", self._door, json.dumps(asked).encode(), {"Content-Type": "application/json"})
        if answer.status != 200:
            raise SandboxError(f"the app's process answered {answer.status}: {answer.text[:200]}")
        return AppState.model_validate_json(answer.text)

    def restart(self) -> None:
        """End the program as a crash would, and start it again on the data that it left."""
        before = self.read_state(restart=True).boot
        until = time.monotonic() + RESTART_SECONDS
        while time.monotonic() < until:
            with suppress(SandboxError):
                if self.read_state().boot != before:
                    return
            time.sleep(0.05)
        raise SandboxError(f"the app did not start again: {self.served.output[-300:]}")

    def fill_table(self, table: str, rows: int, vary: Sequence[str], spread: Mapping[str, str]) -> None:
        """Copy the newest row of a table so many times, past all rules; see `inside/serve_app.py`."""
        self.read_state(table=table, rows=rows, vary=list(vary), spread=dict(spread))

    def close(self) -> None:
        """End its cell, and all data with it."""
        self._cleanup.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Visitor(Protocol):
    """A person in front of a built app."""

    page: Page
    """What is shown."""
    path: str
    """Where it is."""
    status: int
    """That of the answer which is shown."""

    def goto(self, path: str) -> Page:
        """Load an address, and follow where it leads."""
        ...

    def submit(self, form: Form, values: Mapping[str, str]) -> Page:
        """Fill in a form of the page, press its button, and follow where that leads."""
        ...


class Client:
    """A `Visitor` whose browser knows no JavaScript: keeps cookies, and sends the forms that are there."""

    def __init__(self, app: ServedApp) -> None:
        self.app = app
        self.cookies: dict[str, str] = {}
        self.path = "/"
        self.status = 0
        self.page = read_page("")

    def send(self, method: str, path: str, form: Body = None, headers: Mapping[str, str] | None = None) -> AppAnswer:
        """One request with this person's cookies; what is answered is not shown."""
        answer = self.app.request(method, path, form, headers, self.cookies)
        self.cookies |= answer.cookies
        self.cookies = {name: value for name, value in self.cookies.items() if value.strip('"')}
        return answer

    def goto(self, path: str) -> Page:
        """See `Visitor`."""
        return self._show("GET", path, None)

    def submit(self, form: Form, values: Mapping[str, str]) -> Page:
        """See `Visitor`."""
        fields = {name: value for name, value in {**form.values, **values}.items() if value or name not in form.boxes}
        if form.method == "GET":
            return self.goto(f"{form.action or self.path}?{urlencode(fields)}")
        return self._show("POST", form.action or self.path, fields)

    def _show(self, method: str, path: str, form: Body) -> Page:
        for _ in range(MOST_REDIRECTS):
            answer, self.path = self.send(method, path, form), path
            if answer.status not in REDIRECTS:
                break
            split = urlsplit(urljoin(path, answer.header("location")))
            method, path, form = "GET", split.path + (f"?{split.query}" if split.query else ""), None
        self.status, self.page = answer.status, read_page(answer.text)
        return self.page
