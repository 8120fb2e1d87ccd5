"""A cache and an index of each test's own; nobody else is asked for packages."""

import os
from pathlib import Path

import pytest

from burnish.packages import Layer, prepare
from tests.packages.shelf import Shelf


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "packages"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """The only place where pip looks."""
    return only(tmp_path / "shelf", monkeypatch)


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
        return prepare(["apple"])


def only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A shelf, and a pip that knows no other place."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return Shelf(folder)
