"""What nobody has used for a quarter of a year goes; what somebody uses, or makes, stays."""

import fcntl
import os
import time
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.packages import Layer, prepare_layer
from tests.packages.conftest import FarShelf, only
from tests.packages.shelf import Shelf

DAY = 86400.0


def aged(folder: Path, days: float) -> None:
    """Let the files be as old as this."""
    then = time.time() - days * DAY
    for file in [folder] if folder.is_file() else [one for one in folder.iterdir() if one.is_file()]:
        os.utime(file, (then, then))


def layers(shelf: Shelf) -> tuple[Layer, Layer]:
    for name in ("apple", "pear", "plum"):
        shelf.wheel(name)
    return prepare_layer(["apple==1.0"]), prepare_layer(["pear==1.0"])


def wheels(cache: Path) -> set[str]:
    """The packages that uv has in its cache."""
    return {folder.name for folder in cache.glob("uv/wheels-*/index/*/*")}


@pytest.mark.slow
def test_a_forgotten_layer_goes_with_its_wheel_when_another_is_made(shelf: Shelf, cache: Path) -> None:
    old, new = layers(shelf)
    aged(old.folder.parent, 91)
    prepare_layer(["plum==1.0"])
    assert not old.folder.parent.exists()
    assert new.folder.exists()
    assert wheels(cache) == {"pear", "plum"}, "a wheel that a layer is made of stays, however old it is"


@pytest.mark.slow
def test_a_layer_that_is_used_stays_however_old_it_is(shelf: Shelf, cache: Path) -> None:
    old, _ = layers(shelf)
    aged(old.folder.parent, 500)
    prepare_layer(["apple==1.0"])
    prepare_layer(["plum==1.0"])
    assert old.folder.exists()
    assert "apple" in wheels(cache)


@pytest.mark.slow
def test_what_another_process_is_at_stays(shelf: Shelf, cache: Path) -> None:
    old, _ = layers(shelf)
    aged(old.folder.parent, 91)
    with Path(f"{old.folder.parent}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        prepare_layer(["plum==1.0"])
    assert old.folder.exists()


def forgotten(far_shelf: FarShelf) -> Layer:
    """A layer without a version that nobody used for 100 days, with its wheel; the index does not answer any more.

    It is so old that newer versions are asked for first.
    """
    far_shelf.wheel("apple")
    layer = prepare_layer(["apple"])
    manifest = layer.folder.parent / "layer.json"
    manifest.write_text(manifest.read_text().replace(layer.made, "2020-01-01T00:00:00+00:00"))
    aged(layer.folder.parent, 100)
    far_shelf.close()
    return layer


@pytest.mark.slow
def test_offline_the_layer_that_is_asked_for_stays_however_long_nobody_asked(far_shelf: FarShelf, cache: Path) -> None:
    old = forgotten(far_shelf)
    again = prepare_layer(["apple"])
    assert (again.folder, again.packages) == (old.folder, old.packages)
    assert (again.folder / "apple.py").exists()
    assert wheels(cache) == {"apple"}


@pytest.mark.slow
def test_a_layer_that_gives_way_to_a_newer_one_stays_for_who_has_it(
    far_shelf: FarShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = forgotten(far_shelf)
    far_shelf.wheel("apple", "1.4")
    only(far_shelf.folder, monkeypatch)
    assert prepare_layer(["apple"]).packages[0].version == "1.4"
    assert (old.folder / "apple.py").exists()


@pytest.mark.slow
def test_a_making_that_fails_takes_nothing_away(far_shelf: FarShelf, cache: Path) -> None:
    old = forgotten(far_shelf)
    with pytest.raises(SetupProblem):
        prepare_layer(["surely-invented"])
    assert (old.folder / "apple.py").exists()
    assert wheels(cache) == {"apple"}


@pytest.mark.slow
def test_a_layer_that_goes_while_the_index_is_asked_is_made_again(far_shelf: FarShelf) -> None:
    old = forgotten(far_shelf)

    def somebody_empties_the_cache(said: str) -> None:
        if old.folder.stat().st_mode & 0o200 == 0:
            old.folder.chmod(0o755)
            (old.folder / "apple.py").unlink()

    assert (prepare_layer(["apple"], tell=somebody_empties_the_cache).folder / "apple.py").exists()
