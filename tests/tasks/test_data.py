"""Data files come from where the user says, from the cache, or from their home, and only with the right bytes."""

import gzip
import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.tasks.data import HUMANEVALPACK, DataFile, find_file, read_rows
from tests.support import refused

GOOD = b'{"row": 1}\n' * 20_000


class Home(BaseHTTPRequestHandler):
    """Serves the right bytes, other bytes, or nothing."""

    asked: list[str] = []

    def do_GET(self) -> None:  # noqa: N802
        self.asked.append(self.path)
        if self.path == "/none":
            self.send_error(404)
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write({"/good": GOOD, "/wrong": b"other bytes", "/long": GOOD * 3}[self.path])

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def home_page() -> Iterator[str]:
    Home.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Home) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("BURNISH_DATA", raising=False)
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "data" / "some.jsonl"


def file_at(*addresses: str) -> DataFile:
    return DataFile("some.jsonl", hashlib.sha256(GOOD).hexdigest(), len(GOOD), addresses)


def test_the_named_folder_comes_first_then_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, other = tmp_path / "named", tmp_path / "other"
    for folder in (named, other):
        folder.mkdir()
        (folder / "some.jsonl").write_text("mine")
    monkeypatch.setenv("BURNISH_DATA", str(other))
    assert find_file(file_at(), named) == named / "some.jsonl"
    assert find_file(file_at()) == other / "some.jsonl"


def test_a_named_folder_that_does_not_exist_is_said_so(tmp_path: Path) -> None:
    with refused(name="tasks/no such folder of data", tmp=tmp_path):
        find_file(file_at(), tmp_path / "missing")


def test_a_download_with_the_right_bytes_is_kept_and_not_asked_for_again(home_page: str, nothing_here: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    found = find_file(file_at(f"{home_page}/good"), progress=lambda *step: steps.append(step))
    assert found == nothing_here
    assert found.read_bytes() == GOOD
    assert steps[-1][:2] == (len(GOOD), len(GOOD))
    assert find_file(file_at(f"{home_page}/good")) == nothing_here
    assert Home.asked == ["/good"]


@pytest.mark.parametrize("bad", ["none", "wrong", "long"])
def test_a_home_without_the_right_bytes_is_passed_over(home_page: str, nothing_here: Path, bad: str) -> None:
    assert find_file(file_at(f"{home_page}/{bad}", f"{home_page}/good")).read_bytes() == GOOD
    assert Home.asked == [f"/{bad}", "/good"]
    assert [path.name for path in nothing_here.parent.iterdir()] == ["some.jsonl"]


def test_a_changed_file_in_the_cache_is_fetched_again(home_page: str, nothing_here: Path) -> None:
    nothing_here.parent.mkdir(parents=True)
    nothing_here.write_bytes(GOOD[:-1])
    assert find_file(file_at(f"{home_page}/good")).read_bytes() == GOOD


def test_without_a_network_the_user_learns_what_to_put_where(home_page: str, nothing_here: Path) -> None:
    host = home_page.split("/")[2]
    with refused(name="tasks/data that cannot be had", folder=nothing_here.parent, host=host):
        find_file(file_at("http://127.0.0.1:9/gone", f"{home_page}/wrong"))


def test_packed_and_plain_rows_read_alike(tmp_path: Path) -> None:
    text = '{"a": "\u2028"}\n\n{"a": 2}\n'
    (tmp_path / "a.jsonl").write_text(text)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    assert read_rows(tmp_path / "a.jsonl") == read_rows(tmp_path / "a.jsonl.gz") == [{"a": "\u2028"}, {"a": 2}]


@pytest.mark.parametrize("bad", [b"{", b"[1]", b"\xff\xfe", b'{"other": "fields"}'])
def test_a_damaged_file_is_named(tmp_path: Path, bad: bytes) -> None:
    from burnish.tasks.mbpp import load_mbpp

    (tmp_path / "mbpp.jsonl").write_bytes(bad)
    with pytest.raises(SetupProblem) as caught:
        load_mbpp("tune", tmp_path)
    assert str(caught.value).endswith(f"mv {tmp_path}/mbpp.jsonl {tmp_path}/mbpp.jsonl.bad")


def test_the_pins_are_those_of_the_public_files(data: Path) -> None:  # noqa: F811
    from burnish.tasks.data import HUMANEVALPACK, MBPP, MBPPPLUS

    for file in (HUMANEVALPACK, MBPP, MBPPPLUS):
        found = (data / file.name).read_bytes()
        assert (len(found), hashlib.sha256(found).hexdigest()) == (file.bytes, file.sha256)


def test_a_mirror_of_the_hub_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert HUMANEVALPACK.addresses[0].startswith("https://mirror.example/datasets/bigcode/humanevalpack/")
    monkeypatch.delenv("HF_ENDPOINT")
    assert HUMANEVALPACK.addresses[0].startswith("https://huggingface.co/datasets/")
