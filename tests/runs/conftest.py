"""What tests of runs may ask for."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def silent_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Packages would have to be fetched, and who is asked for them never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.getsockname()[1]}/simple")
        yield
