"""Packages without a version grow old: the index is then asked again, and it is said from when they are."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from burnish.packages import Layer, prepare_layer
from tests.packages.shelf import Shelf
from tests.snapshots import assert_snapshot


@pytest.fixture
def older(orchard: Layer, cache: Path) -> datetime:
    """A cache in which the layer of apple is 40 days old."""
    shutil.copytree(orchard.folder.parents[1], cache)
    made = datetime.now(UTC) - timedelta(days=40)
    manifest = cache / orchard.folder.parent.name / "layer.json"
    manifest.write_text(manifest.read_text().replace(orchard.made, made.isoformat(timespec="seconds")))
    return made


def version_of(layer: Layer) -> str:
    return next(one.version for one in layer.packages if one.name == "apple")


@pytest.mark.slow
def test_an_old_layer_gives_way_to_newer_versions_and_stays_for_who_uses_it(
    shelf: Shelf, older: datetime, cache: Path, orchard: Layer
) -> None:
    shelf.wheel("apple", "1.4")
    told: list[str] = []
    layer = prepare_layer(["apple"], tell=told.append)
    assert version_of(layer) == "1.4"
    assert "apple" in told[0]
    assert (cache / orchard.folder.parent.name / "site" / "apple.py").exists()
    assert prepare_layer(["apple"]) == layer, "and is found from then on"


def test_offline_the_old_one_does_which_is_said_and_the_index_is_asked_once_a_day(
    shelf: Shelf, older: datetime
) -> None:
    told: list[str] = []
    assert [version_of(prepare_layer(["apple"], tell=told.append)) for _ in range(2)] == ["1.0", "1.0"]
    fetching, first, second = told
    assert "apple" in fetching
    assert_snapshot(first, "packages/old", date=f"{older.day} {older:%b %Y}")
    assert first == second


@pytest.mark.slow
def test_versions_that_were_asked_for_never_grow_old(shelf: Shelf, cache: Path) -> None:
    shelf.wheel("apple", "1.0")
    first = prepare_layer(["apple==1.0"])
    manifest = first.folder.parent / "layer.json"
    manifest.write_text(manifest.read_text().replace(f'"made": "{datetime.now(UTC).year}', '"made": "2020'))
    told: list[str] = []
    assert prepare_layer(["apple==1.0"], tell=told.append).made.startswith("2020")
    assert told == []
