"""A real server on a port of its own, a client that has its key, and a real browser."""

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from burnish.models import weights
from burnish.models.catalog import CATALOG, Weights
from burnish.models.model import Ask, Done, Model, Piece, Waiting
from burnish.models.names import open_models
from burnish.models.scripted import Script, ScriptedModel
from burnish.models.weights import WeightsSource
from burnish.runs import Store
from burnish.web.app import build_app
from burnish.web.guard import Access
from burnish.web.run_view import RunView, open_view
from burnish.web.server import listen, make_server
from burnish.web.views import VIEWS
from tests.playwright_driver import start_playwright
from tests.support import DOUBLE
from tests.web.slow_weights import BYTES, TINY, SlowSource

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Served:
    """A server at work. `models` answer in place of those that a form names."""

    views = VIEWS

    def __init__(self, store: Store, password: str = "") -> None:
        self.store = store
        self.models: Sequence[Model] = ()
        listener = listen("127.0.0.1", 0)
        self.access = Access(listener.getsockname()[1], password=password)
        self.app = build_app(self.access, store, self._open)
        self._server = make_server(self.app)
        self._thread = threading.Thread(target=self._server.run, args=[[listener]], daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Without the key."""
        return f"http://127.0.0.1:{self.access.port}"

    def _open(self, names: str) -> Sequence[Model]:
        return self.models or open_models(names)

    def client(self) -> httpx.Client:
        """Somebody who opened the link, and sends what a browser would."""
        client = httpx.Client(base_url=self.address, headers={"Origin": self.address}, timeout=60)
        assert client.get("/", params={"token": self.access.token}).status_code == 303
        return client

    def end(self) -> None:
        """Stop it, with all that it works on."""
        for run in self.app.state.runs.at_work:
            run.stop()
        self._server.should_exit = True
        self._thread.join(10)

    def begin(self, client: httpx.Client, sentence: str = DOUBLE, **form: str) -> str:
        """Have something written; the id of the run. The name of a script keeps everybody from wanting weights."""
        said = client.post("/write", data={"sentence": sentence, "model": "scripted:demo", "fast": "on", **form})
        assert said.status_code == 303, said.text
        return said.headers["location"].removeprefix("/runs/")

    def view(self, run_id: str) -> RunView:
        """The run as its page shows it now."""
        return open_view(self.app.state.runs, run_id)

    def wait_until(self, run_id: str, state: str, seconds: float = 60) -> RunView:
        """The run once it is so far."""
        until = time.monotonic() + seconds
        while (view := self.view(run_id)).state != state:
            assert time.monotonic() < until, f"{run_id} is {view.state}, not {state}"
            time.sleep(0.02)
        return view


class HeldModel(ScriptedModel):
    """Answers from a script; of one purpose only as many words as the test lets go."""

    thinking, slots = 100, 1

    def __init__(self, script: Script, held: str = "draft") -> None:
        super().__init__(script)
        self.held = held
        self._words = threading.Semaphore(0)

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The next reply, a word whenever one may go."""
        for piece in super().stream(ask, cancel):
            while ask.purpose == self.held and not isinstance(piece, Done) and not self._words.acquire(timeout=0.05):
                if cancel.is_set():
                    return
                yield Waiting()
            yield piece

    def let(self, words: int) -> None:
        """Let so many words go."""
        self._words.release(words)

    def let_all(self) -> None:
        """Hold nothing back any more."""
        self.held = ""


@pytest.fixture
def served(store: Store) -> Iterator[Served]:
    server = Served(store)
    yield server
    server.end()


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    opened = served.client()
    yield opened
    opened.close()


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    digest = hashlib.sha256(BYTES).hexdigest()
    entry = Weights(TINY, "tiny.gguf", len(BYTES), digest, "none", hub_repo="a/b", hub_revision="c", wheels=())
    monkeypatch.setitem(CATALOG, TINY, entry)
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    return entry


@pytest.fixture
def source(tiny: Weights, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowSource]:
    slow = SlowSource()
    monkeypatch.setattr(weights, "SOURCES", (WeightsSource("slow", slow.fetch, copies=1),))
    yield slow
    slow.may_go.release(100)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real Chromium; a test that needs it is skipped where there is none."""
    found = os.environ.get("BURNISH_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    launched = start_playwright().chromium.launch(executable_path=found, args=["--no-sandbox"])
    yield launched
    launched.close()


@pytest.fixture
def open_page(browser: Any, served: Served) -> Iterator[Callable[..., Any]]:
    """Opens a page of the server in a browser of its own, key and all. No page may say or fetch anything amiss."""
    contexts, amiss = [], []

    def opened(path: str = "/", **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: amiss.append(f"error: {error}"))
        page.on("request", lambda request: _note_foreign(request.url, served.address, amiss))
        page.goto(f"{served.access.link}")
        page.goto(f"{served.address}{path}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert amiss == []


def _note_foreign(url: str, own: str, amiss: list[str]) -> None:
    if not url.startswith((own, "data:", "blob:")):
        amiss.append(f"fetched from elsewhere: {url}")
