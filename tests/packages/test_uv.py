"""Packages may take so long, and may be so large, and whoever does not want them any more is heard at once."""

import fcntl
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.tags import sys_tags

from burnish.errors import SetupProblem
from burnish.packages import Budget, prepare_layer
from burnish.packages.layer import layer_folder, lock_file, remove
from burnish.packages.uv import Exceeded, Uv
from tests.packages.conftest import FarShelf
from tests.snapshots import assert_snapshot


@pytest.fixture
def silent_index(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An index that takes every call and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=20) as server:
        for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.getsockname()[1]}/simple")
        yield


def refused(*asked: str, budget: Budget) -> tuple[str, float]:
    """What is said, and how long it took."""
    began = time.monotonic()
    with pytest.raises(SetupProblem) as told:
        prepare_layer(asked, budget=budget)
    return str(told.value), time.monotonic() - began


def programs(cache: Path) -> list[str]:
    """The programs that still work for this cache."""
    lines = [_command(file) for file in Path("/proc").glob("[0-9]*/cmdline")]
    return [line for line in lines if str(cache) in line]


def _command(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


@pytest.mark.slow
def test_an_index_that_never_answers_is_left_when_time_is_over(silent_index: None, cache: Path) -> None:
    told, seconds = refused("apple", budget=Budget.within(2))
    assert_snapshot(told, "packages/late")
    assert seconds < 4
    assert programs(cache) == []
    assert [path.name for path in cache.iterdir() if path.suffix != ".lock"] == ["uv"], "nothing is left"


@pytest.mark.slow
def test_who_stops_is_heard_at_once(silent_index: None, cache: Path) -> None:
    cancel = threading.Event()
    timer = threading.Timer(2, cancel.set)
    timer.start()
    told, seconds = refused("apple", "pear", budget=Budget(cancel=cancel))
    assert_snapshot(told, "packages/stopped")
    assert 2 < seconds < 4
    assert programs(cache) == []


@pytest.mark.slow
def test_another_who_prepares_the_same_is_waited_for_no_longer_than_that(cache: Path) -> None:
    cache.mkdir(parents=True)
    with lock_file(layer_folder(["apple"])).open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        told, seconds = refused("apple", budget=Budget.within(0.3))
    assert told.endswith("--seconds 1800")
    assert seconds < 2


@pytest.mark.slow
def test_what_is_too_large_is_refused_with_the_way_to_ask_for_it(far_shelf: FarShelf, cache: Path) -> None:
    far_shelf.wheel("apple", files={"apple.py": "x = 1\n" * 500_000})
    told, _ = refused("apple", budget=Budget(most_bytes=100_000))
    assert told.endswith("--with 'apple'")
    assert not list(cache.glob("*/site"))


@pytest.mark.slow
def test_wheels_that_were_fetched_before_are_never_too_large(far_shelf: FarShelf) -> None:
    far_shelf.wheel("apple", files={"apple.py": "x = 1\n" * 500_000})
    remove(prepare_layer(["apple"]).folder.parent)
    far_shelf.close()
    assert prepare_layer(["apple"], budget=Budget(most_bytes=1)).packages


def test_the_announced_size_counts_before_anything_has_come(tmp_path: Path) -> None:
    told: list[str] = []
    uv = Uv(tmp_path, tmp_path, 0, Budget(most_bytes=200_000_000), told.append)
    uv._hear("Resolved 2 packages in 1ms\nDownloading torch (797.2MiB)\nDownloading https://u:p@192.0.2.1/x (1KiB)\n")
    uv._hear("Downloading torch (797.2MiB)\n Downloaded torch\n")
    assert told[0] == "Downloading torch (797.2 MiB)"
    assert not [line for line in told if "192.0.2.1" in line]
    with pytest.raises(Exceeded, match="large"):
        uv.budget.check(uv.announced_bytes)


def test_of_a_wheel_for_this_machine_and_one_for_every_machine_the_first_counts(tmp_path: Path) -> None:
    uv, tag = Uv(tmp_path, tmp_path, 0, Budget(), print), next(iter(sys_tags()))
    for number, names in enumerate((["py3-none-any", str(tag)], [str(tag), "py3-none-any"], ["py3-none-any"])):
        files = [{"name": f"apple-1-{name}.whl", "path": f"apple-1-{name}.whl"} for name in names]
        wheels = ", ".join(
            f'{{name = "{one["name"]}", path = "{one["path"]}", hashes = {{sha256 = "0"}}}}' for one in files
        )
        uv._pylock.write_text(f'[[packages]]\nname = "apple"\nversion = "1"\nwheels = [{wheels}]\n')
        best = "py3-none-any" if number == 2 else str(tag)
        assert [one.wheel for one in uv.wheels()] == [f"apple-1-{best}.whl"]
    uv._pylock.write_text('[[packages]]\nname = "apple"\nversion = "1"\n')
    with pytest.raises(ValueError, match="wheel"):
        uv.wheels()
