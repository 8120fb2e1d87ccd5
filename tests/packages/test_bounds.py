"""Packages may take so long, and may be so large, and whoever does not want them any more is heard at once."""

import fcntl
import hashlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.packages import Bounds, prepare
from burnish.packages.bounds import Fetching
from burnish.packages.layer import key
from burnish.packages.pip import _heard, identity
from tests.packages.shelf import Shelf


@pytest.fixture
def silent_index(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An index that takes every call and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=20) as server:
        for name in [name for name in os.environ if name.startswith("PIP_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.getsockname()[1]}/simple")
        yield


def refused(*asked: str, bounds: Bounds) -> tuple[str, float]:
    """What is said, and how long it took."""
    began = time.monotonic()
    with pytest.raises(SetupProblem) as told:
        prepare(asked, bounds=bounds)
    return str(told.value), time.monotonic() - began


def pips(cache: Path) -> list[str]:
    """The programs that still work for this cache."""
    lines = [_command(file) for file in Path("/proc").glob("[0-9]*/cmdline")]
    return [line for line in lines if str(cache) in line]


def _command(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def test_an_index_that_never_answers_is_left_when_time_is_over(silent_index: None, cache: Path) -> None:
    told, seconds = refused("apple", bounds=Bounds.within(2))
    assert told == "apple could not be prepared in the time that there was for it. Allow more time: --seconds 1800"
    assert seconds < 4
    assert pips(cache) == []
    assert [path.name for path in cache.iterdir() if path.suffix != ".lock"] == [], "nothing is left"


def test_who_stops_is_heard_at_once(silent_index: None, cache: Path) -> None:
    cancel = threading.Event()
    timer = threading.Timer(2, cancel.set)
    timer.start()
    told, seconds = refused("apple", "pear", bounds=Bounds(cancel=cancel))
    assert told == "apple and pear were not prepared, because the run was stopped"
    assert 2 < seconds < 4
    assert pips(cache) == []


def test_another_who_prepares_the_same_is_waited_for_no_longer_than_that(cache: Path) -> None:
    cache.mkdir(parents=True)
    with (cache / f"{key(identity(None), ['apple'])}.lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        told, seconds = refused("apple", bounds=Bounds.within(0.3))
    assert "in the time that there was" in told
    assert seconds < 2


def test_what_is_too_large_is_refused_with_the_way_to_ask_for_it(shelf: Shelf, cache: Path) -> None:
    shelf.wheel("apple", files={"apple.py": "x = 1\n" * 500_000})
    told, _ = refused("apple", bounds=Bounds(most_bytes=100_000))
    assert told.endswith("--with 'apple'")
    assert not list(cache.glob("wheels/*"))


def test_wheels_that_were_fetched_before_are_never_too_large(shelf: Shelf, cache: Path) -> None:
    Shelf(cache / "wheels").wheel("apple")
    (wheel,) = cache.glob("wheels/*.whl")
    wheel.with_name(f"{wheel.name}.sha256").write_text(hashlib.sha256(wheel.read_bytes()).hexdigest())
    assert prepare(["apple"], bounds=Bounds(most_bytes=1)).packages


def test_the_announced_size_counts_before_anything_has_come() -> None:
    fetching = Fetching()
    for line in ("Downloading torch-2.0-cp311-none-any.whl (797.2 MB)", "Downloading a-1-py3-none-any.whl (12 kB)"):
        _heard(line, None, fetching)
    assert fetching.bytes == 797_212_000
    assert Bounds(most_bytes=200_000_000).passed(fetching.bytes) == "large"
