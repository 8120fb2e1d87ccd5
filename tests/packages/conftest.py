"""A cache and an index of each test's own; nobody else is asked for packages."""

import hashlib
import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from burnish.packages import Layer, prepare_layer
from tests.packages.shelf import Shelf


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "packages"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """The only place where pip and uv look."""
    return only(tmp_path / "shelf", monkeypatch)


class FarShelf(Shelf):
    """A shelf behind a server, so that its wheels must be fetched; the server can be closed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(IndexHandler, directory=str(folder)))
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/simple"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """From now on nobody answers."""
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def far_shelf(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Iterator[FarShelf]:
    """The only place where pip and uv look, on a server."""
    far = FarShelf(shelf.folder)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", far.address)
    monkeypatch.setenv("PIP_RETRIES", "0")
    yield far
    far.close()


class IndexHandler(SimpleHTTPRequestHandler):
    """Serves a page with the wheels of a package and their hashes, and the wheels themselves."""

    def do_GET(self) -> None:
        if not self.path.startswith("/simple/"):
            super().do_GET()
            return
        wheels = Path(self.directory).glob(f"{self.path.split('/')[2].replace('-', '_')}-*.whl")
        links = [f'<a href="/{wheel.name}#sha256={self.hash_of(wheel)}">{wheel.name}</a>' for wheel in wheels]
        page = f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode()
        self.send_response(200 if links else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def hash_of(self, wheel: Path) -> str:
        return hashlib.sha256(wheel.read_bytes()).hexdigest()

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads along."""


@pytest.fixture(scope="session")
def orchard(tmp_path_factory: pytest.TempPathFactory) -> Layer:
    """A layer that was made once for all tests that only look at one: apple, and the pear that it needs."""
    folder = tmp_path_factory.mktemp("orchard")
    with pytest.MonkeyPatch.context() as patch:
        shelf = only(folder / "shelf", patch)
        planted = f"import pathlib; pathlib.Path({str(folder / 'started')!r}).touch()\n"
        starters = dict.fromkeys(("apple.pth", "sitecustomize.py", "usercustomize/__init__.py"), planted)
        cached = {"__pycache__/apple.cpython-311.pyc": "planted", "apple_data/red.txt": "red"}
        shelf.wheel("apple", needs=["pear>=2"], files={"apple.py": "VERSION = '1.0'\n", **starters, **cached})
        shelf.wheel("pear", "1.0")
        shelf.wheel("pear", "2.1")
        patch.setenv("BURNISH_CACHE", str(folder / "cache"))
        return prepare_layer(["apple"])


def only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A shelf, and a pip and a uv that know no other place."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return Shelf(folder)
