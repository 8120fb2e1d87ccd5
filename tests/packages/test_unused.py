"""What nobody has used for a quarter of a year goes; what somebody uses, or makes, stays."""

import fcntl
import os
import time
from pathlib import Path

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
