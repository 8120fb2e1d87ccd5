"""What cannot be had is said in one paragraph that ends with what to type."""

import os
import subprocess
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.packages import prepare_layer
from tests.packages.conftest import FarShelf, only
from tests.packages.shelf import Shelf
from tests.snapshots import assert_snapshot


def problem(*requirements: str) -> str:
    with pytest.raises(SetupProblem) as told:
        prepare_layer(requirements)
    assert "\n" not in str(told.value)
    return str(told.value)


@pytest.mark.slow
def test_sources_are_refused_and_never_run(shelf: Shelf, tmp_path: Path) -> None:
    shelf.sdist("apple", "1.0", f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    told = problem("apple")
    assert_snapshot(told, "packages/only-sources")
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sources", "wheel"])
def test_what_a_wheel_wants_from_an_address_is_refused_and_sources_there_never_run(
    shelf: Shelf, tmp_path: Path, kind: str
) -> None:
    other, builder = Shelf(tmp_path / "other"), Shelf(shelf.folder)
    plant = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    builder.wheel("setuptools", "99.0", files={"setuptools/__init__.py": plant, "setuptools/build_meta.py": plant})
    file = other.sdist("evil", "1.0", plant) if kind == "sources" else other.wheel("evil")
    shelf.wheel("apple", needs=[f"evil @ file://{file}"])
    assert_snapshot(problem("apple"), "packages/from-an-address")
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_version_that_this_machine_cannot_have_is_told_with_those_that_do(shelf: Shelf) -> None:
    shelf.wheel("apple", "1.0")
    shelf.wheel("apple", "1.5")
    shelf.wheel("apple", "9", tag="cp311-cp311-win_amd64")
    told = problem("apple==9")
    assert_snapshot(told, "packages/other-version")


@pytest.mark.slow
@pytest.mark.parametrize("online", [True, False])
def test_a_range_that_no_version_can_be_in_is_named_as_that(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, online: bool
) -> None:
    shelf.wheel("apple", "1.5")
    shelf.wheel("pear", "1.0")
    if not online:
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
        monkeypatch.setenv("PIP_RETRIES", "0")
    told = problem("pear", "apple>=2,<1")
    assert_snapshot(told, "packages/impossible-range")
    assert not problem("apple>=2,<3").endswith("--with apple"), "there might be one in this range"


@pytest.mark.slow
def test_a_package_for_newer_pythons_is_there_but_not_for_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = only(tmp_path / "index" / "apple", monkeypatch).wheel("apple")
    link = (
        f'<!DOCTYPE html><html><body><a href="{file.name}" data-requires-python="&gt;=4">{file.name}</a></body></html>'
    )
    (file.parent / "index.html").write_text(link)
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", f"file://{tmp_path / 'index'}")
    assert_snapshot(problem("apple"), "packages/only-sources")


@pytest.mark.slow
def test_requirements_that_contradict_each_other_are_told_with_what_collides(shelf: Shelf) -> None:
    shelf.wheel("apple", needs=["plum<2"])
    shelf.wheel("pear", needs=["plum>=2"])
    shelf.wheel("plum", "1.0")
    shelf.wheel("plum", "2.0")
    told = problem("apple", "pear")
    assert "all versions of apple depend on plum<2" in told
    assert "all versions of pear depend on plum>=2" in told
    assert told.endswith("--with 'apple,pear'")


@pytest.mark.slow
def test_a_name_that_the_index_does_not_have_is_told_with_the_nearest(shelf: Shelf) -> None:
    assert problem("numppy").endswith(": --with numpy")


@pytest.mark.slow
def test_a_package_that_another_needs_is_told_as_such(shelf: Shelf) -> None:
    shelf.wheel("apple", needs=["surely-invented"])
    told = problem("apple")
    assert_snapshot(told, "packages/needed-by-another")


@pytest.mark.slow
def test_offline_it_says_what_exactly_is_missing(far_shelf: FarShelf) -> None:
    far_shelf.wheel("apple")
    prepare_layer(["apple"])
    far_shelf.close()
    told = problem("apple", "pear>=2", "plum")
    assert_snapshot(told, "packages/offline")


def test_a_full_disk_is_named(shelf: Shelf, tiny_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tiny_disk))
    shelf.wheel("apple", files={"apple.py": "x = 1\n" * 40_000})
    told = problem("apple")
    assert_snapshot(told, "packages/disk-full", disk=tiny_disk)


def test_a_cache_that_cannot_be_written_is_named(shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    (tmp_path / "closed").mkdir(mode=0o555)
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "closed"))
    assert problem("apple").endswith(": export BURNISH_CACHE=/a/folder/of/yours")


def test_a_disk_that_is_read_only_is_named(shelf: Shelf, tiny_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    monkeypatch.setenv("BURNISH_CACHE", str(tiny_disk))
    assert_snapshot(problem("apple"), "packages/read-only", folder=os.environ["BURNISH_CACHE"])


def test_what_is_no_requirement_never_reaches_pip(shelf: Shelf) -> None:
    assert_snapshot(problem("-r /etc/passwd"), "packages/no-requirement")
    assert_snapshot(problem("apple @ file:///tmp/apple.whl"), "packages/address-as-requirement")
