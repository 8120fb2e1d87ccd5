"""A server is looked at briefly, whatever it says: nonsense is no answer, and no word for ever is not waited for."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from burnish.cli.setup import models_app
from burnish.errors import SetupProblem
from burnish.models import discovery
from burnish.models.discovery import ServerModels, list_all_models, list_models, run_together
from burnish.models.providers import list_servers
from tests.snapshots import assert_snapshot

pytestmark = pytest.mark.timeout(20)

DEEP = b"[" * 200_000
TOY = {"name": "toy:1b", "size": 5}
HALF = {"status": "pulling abc", "total": 100, "completed": 50}
Say = Callable[..., ServerModels]


@contextmanager
def saying(body: bytes, drips: bool = False, shows: bytes | None = None) -> Iterator[str]:
    """The address of a server that says this to everybody; `shows` is what it says to those who send something."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            with suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                while drips and not over.wait(0.1):
                    self.wfile.write(b" ")
                self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            with suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n" + (body if shows is None else shows))

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Say]:
    """Sets up one server `lab` that says something, and looks at it."""
    monkeypatch.setenv("BURNISH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    with ExitStack() as open_servers:

        def look_at_one(kind: str, body: bytes, **more: Any) -> ServerModels:
            address = open_servers.enter_context(saying(body, **more))
            (tmp_path / "config.toml").write_text(f'[models.lab]\nkind = "{kind}"\nbase_url = "{address}"\n')
            return list_models(list_servers()["lab"])

        yield look_at_one


@pytest.mark.parametrize("kind", ["openai", "anthropic", "ollama"])
@pytest.mark.parametrize("body", [DEEP, b'{"data": ["a"], "models": ["a"]}', b'{"data": 3, "models": 3}', b"3", b""])
def test_nonsense_is_no_answer(look: Say, kind: str, body: bytes) -> None:
    assert not look(kind, body).answers


@pytest.mark.slow
@pytest.mark.parametrize("size", ["1e400", "-1", '"big"', "[]", "1" + "0" * 400])
def test_a_size_that_can_be_none_is_not_told(look: Say, size: str) -> None:
    [model] = look("ollama", b'{"models": [{"name": "toy:1b", "size": %b}]}' % size.encode()).models
    assert model.bytes == 0
    assert CliRunner().invoke(models_app, []).exit_code == 0


@pytest.mark.parametrize("shows", [DEEP, b'{"model_info": [1]}', b'{"model_info": {"x.context_length": 1e400}}'])
def test_what_a_server_says_of_one_model_may_be_nonsense_too(look: Say, shows: bytes) -> None:
    [model] = look("ollama", json.dumps({"models": [TOY]}).encode(), shows=shows).models
    assert (model.name, model.context) == ("lab:toy:1b", 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["openai", "ollama"])
def test_a_server_that_drips_is_not_waited_for(look: Say, kind: str) -> None:
    began = time.monotonic()
    assert not look(kind, b'{"data": [], "models": []}', drips=True).answers
    assert not list_all_models()[0].answers
    assert time.monotonic() - began < 5


@pytest.mark.slow
def test_a_look_brings_what_came_in_time() -> None:
    late = threading.Event()
    assert run_together([lambda: True, lambda: late.wait(5)], 0.3) == [True, None]
    late.set()


def pulled(lines: list[dict[str, Any]], name: str = "ollama:toy:1b", rest: bytes = b"") -> list[tuple[int, int, str]]:
    seen: list[tuple[int, int, str]] = []
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines) + rest
    with saying(b"", shows=body) as address:
        discovery.pull_ollama_model(address, name, lambda *now: seen.append(now))
    return seen


@pytest.mark.parametrize("rest", [b"", b'{"stat', DEEP])
def test_a_pull_that_breaks_off_is_not_done(rest: bytes) -> None:
    with pytest.raises(SetupProblem, match=r"pulling abc.*: burnish models pull ollama:toy:1b$"):
        pulled([HALF], rest=rest)


def test_a_pull_is_done_when_the_server_says_so() -> None:
    assert pulled([HALF, {"status": "success"}])[-1] == (0, 0, "success")


def test_a_pull_that_fails_names_the_provider_that_was_asked() -> None:
    with pytest.raises(SetupProblem, match=r"no such.*burnish models pull box:toy:1b$"):
        pulled([{"error": "no such"}], "box:toy:1b")
    with pytest.raises(SetupProblem, match=r"http://127\.0\.0\.1:9.*set models\.box\.base_url"):
        discovery.pull_ollama_model("http://127.0.0.1:9", "box:toy:1b", lambda *_: None)


def test_the_first_line_of_a_pull_need_not_say_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [{"completed": 1, "total": 2}, {"status": "success", "completed": 1e400, "total": "x"}]
    with saying(b"", shows=b"".join(json.dumps(line).encode() + b"\n" for line in lines)) as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        done = CliRunner().invoke(models_app, ["pull", "ollama:toy:1b"])
    assert (done.exit_code, done.stdout) == (0, "ollama:toy:1b\n")


def test_the_models_of_other_servers_need_no_pull() -> None:
    refused = CliRunner().invoke(models_app, ["pull", "openai:gpt-4o"])
    assert isinstance(refused.exception, SetupProblem)
    assert_snapshot(str(refused.exception), "models/pull-not-needed")
