"""What nobody has used for a quarter of a year goes; what somebody uses, or makes, stays."""

import fcntl
import os
import time
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.packages import Layer, prepare
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
    return prepare(["apple==1.0"]), prepare(["pear==1.0"])


def wheels(cache: Path) -> set[str]:
    return {file.name.split("-")[0] for file in (cache / "wheels").glob("*.whl")}


def test_a_forgotten_layer_goes_with_its_wheel_when_another_is_made(shelf: Shelf, cache: Path) -> None:
    old, new = layers(shelf)
    aged(old.folder.parent, 91)
    aged(cache / "wheels", 91)
    prepare(["plum==1.0"])
    assert not old.folder.parent.exists()
    assert new.folder.exists()
    assert wheels(cache) == {"pear", "plum"}, "a wheel that a layer is made of stays, however old it is"


def test_a_layer_that_is_used_stays_however_old_it_is(shelf: Shelf, cache: Path) -> None:
    old, _ = layers(shelf)
    aged(old.folder.parent, 500)
    prepare(["apple==1.0"])
    prepare(["plum==1.0"])
    assert old.folder.exists()
    assert "apple" in wheels(cache)


def test_a_wheel_that_came_lately_stays_without_its_layer(shelf: Shelf, cache: Path) -> None:
    old, _ = layers(shelf)
    aged(old.folder.parent, 91)
    prepare(["plum==1.0"])
    assert not old.folder.exists()
    assert "apple" in wheels(cache)


def test_what_another_process_is_at_stays(shelf: Shelf, cache: Path) -> None:
    old, _ = layers(shelf)
    aged(old.folder.parent, 91)
    with Path(f"{old.folder.parent}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        prepare(["plum==1.0"])
    assert old.folder.exists()


def forgotten(shelf: Shelf, cache: Path) -> Layer:
    """A layer without a version that nobody used for 100 days, with its wheel; what pip could ask has nothing any more.

    It is so old that newer versions are asked for first.
    """
    file = shelf.wheel("apple")
    layer = prepare(["apple"])
    manifest = layer.folder.parent / "layer.json"
    manifest.write_text(manifest.read_text().replace(layer.made, "2020-01-01T00:00:00+00:00"))
    aged(layer.folder.parent, 100)
    aged(cache / "wheels", 100)
    file.unlink()
    return layer


def test_offline_the_layer_that_is_asked_for_stays_however_long_nobody_asked(shelf: Shelf, cache: Path) -> None:
    old = forgotten(shelf, cache)
    again = prepare(["apple"])
    assert (again.folder, again.packages) == (old.folder, old.packages)
    assert (again.folder / "apple.py").exists()
    assert wheels(cache) == {"apple"}


def test_a_layer_that_gives_way_to_a_newer_one_stays_for_who_has_it(shelf: Shelf, cache: Path) -> None:
    old = forgotten(shelf, cache)
    shelf.wheel("apple", "1.4")
    assert prepare(["apple"]).packages[0].version == "1.4"
    assert (old.folder / "apple.py").exists()


def test_a_making_that_fails_takes_nothing_away(shelf: Shelf, cache: Path) -> None:
    old = forgotten(shelf, cache)
    with pytest.raises(SetupProblem):
        prepare(["surely-invented"])
    assert (old.folder / "apple.py").exists()
    assert wheels(cache) == {"apple"}


def test_a_layer_that_goes_while_the_index_is_asked_is_made_again(shelf: Shelf, cache: Path) -> None:
    old = forgotten(shelf, cache)

    def somebody_empties_the_cache(said: str) -> None:
        if old.folder.stat().st_mode & 0o200 == 0:
            old.folder.chmod(0o755)
            (old.folder / "apple.py").unlink()

    assert (prepare(["apple"], tell=somebody_empties_the_cache).folder / "apple.py").exists()
