"""Layers: made once from wheels alone, read-only, whole or not at all. Real pip, an index in a folder, no network."""

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burnish.packages import Layer, prepare
from burnish.packages.layer import load
from tests.packages.shelf import Shelf


def said_by(layer: Layer, code: str) -> str:
    """What a small program prints that sees the layer as a cell would: on its path, with nothing else around."""
    program = f"import sys; sys.path.append({str(layer.folder)!r}); {code}"
    return subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True).stdout.strip()


def test_a_layer_holds_what_was_asked_and_all_that_it_needs(orchard: Layer) -> None:
    assert [(one.name, one.version) for one in orchard.packages] == [("apple", "1.0"), ("pear", "2.1")]
    assert orchard.asked == ("apple",)
    assert said_by(orchard, "import apple, pear; print(apple.VERSION, pear.VERSION)") == "1.0 2.1"


def test_the_manifest_says_which_wheels_with_which_hashes(orchard: Layer) -> None:
    manifest = json.loads((orchard.folder.parent / "layer.json").read_text())
    wheels = orchard.folder.parent.parent / "wheels"
    for package in manifest["packages"]:
        assert hashlib.sha256((wheels / package["wheel"]).read_bytes()).hexdigest() == package["sha256"]


def test_nobody_may_write_to_a_layer_and_everybody_may_read_it(orchard: Layer) -> None:
    modes = {path.stat().st_mode & 0o777 for path in [orchard.folder, *orchard.folder.rglob("*")]}
    assert modes == {0o444, 0o555}


def test_byte_code_is_ours_and_is_never_compared_with_its_source(orchard: Layer) -> None:
    (code,) = orchard.folder.glob(f"__pycache__/apple.{sys.implementation.cache_tag}.pyc")
    assert code.read_bytes()[4:8] == b"\x01\0\0\0", "hash-based, unchecked, and not what the wheel brought"


def test_what_would_start_by_itself_is_taken_out(orchard: Layer) -> None:
    assert not [path for path in orchard.folder.rglob("*") if "customize" in path.name or path.suffix == ".pth"]
    manifest = json.loads((orchard.folder.parent / "layer.json").read_text())
    assert manifest["set_aside"] == ["apple.pth", "sitecustomize.py", "usercustomize"]
    subprocess.run([sys.executable, "-c", f"import site; site.addsitedir({str(orchard.folder)!r})"], check=True)
    assert not (orchard.folder.parents[3] / "started").exists()


def test_the_second_time_nobody_is_called(orchard: Layer, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(orchard.folder.parents[1], cache)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert prepare(["Apple"]).packages == orchard.packages


def test_other_layers_are_made_offline_from_wheels_that_were_fetched_before(
    shelf: Shelf, orchard: Layer, cache: Path
) -> None:
    shutil.copytree(orchard.folder.parents[1] / "wheels", cache / "wheels")
    told: list[str] = []
    layer = prepare(["pear>=2"], tell=told.append)
    assert [(one.name, one.version) for one in layer.packages] == [("pear", "2.1")]
    assert told == []


def test_settings_of_pip_that_are_not_about_the_index_are_not_heard(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.wheel("apple", "1.0+local.2")
    settings = tmp_path / "pip.conf"
    settings.write_text(f"[global]\nno-binary = :all:\nuser = true\nno-deps = true\nfind-links = {shelf.folder}\n")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PIP_REQUIREMENT", "/nowhere.txt")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "sitecustomize.py").write_text("print('heard')")
    (apple,) = prepare(["apple"]).packages
    assert (apple.version, apple.wheel) == ("1.0+local.2", "apple-1.0+local.2-py3-none-any.whl")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("harm", ["a file gone", "a file longer", "no manifest", "half a manifest", "an old form"])
def test_a_torn_layer_is_none(orchard: Layer, tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "torn"
    shutil.copytree(orchard.folder.parent, folder)
    assert load(folder)
    code, manifest = folder / "site" / "apple.py", folder / "layer.json"
    code.parent.chmod(0o755)
    code.chmod(0o644)
    match harm:
        case "a file gone":
            code.unlink()
        case "a file longer":
            code.write_text("import evil; VERSION = 'evil'")
        case "no manifest":
            manifest.unlink()
        case "half a manifest":
            manifest.write_bytes(manifest.read_bytes()[:100])
        case "an old form":
            manifest.write_text(manifest.read_text().replace('"form":', '"form":9'))
    assert load(folder) is None


def test_a_torn_layer_is_made_again(shelf: Shelf, orchard: Layer, cache: Path) -> None:
    shutil.copytree(orchard.folder.parents[1], cache)
    torn = cache / orchard.folder.parent.name
    (torn / "layer.json").unlink()
    assert prepare(["apple"]).packages == orchard.packages
    assert load(torn)


@pytest.mark.parametrize("harm", ["other bytes", pytest.param("no note", marks=pytest.mark.slow)])
def test_a_wheel_that_is_not_what_it_was_when_it_came_is_fetched_again(
    shelf: Shelf, orchard: Layer, cache: Path, harm: str
) -> None:
    shutil.copytree(orchard.folder.parents[1] / "wheels", cache / "wheels")
    shelf.wheel("pear", "2.1")
    Shelf(cache / "wheels").wheel("pear", "2.1", files={"pear.py": "VERSION = 'evil'\n"})
    if harm == "no note":
        (cache / "wheels" / "pear-2.1-py3-none-any.whl.sha256").unlink()
    assert said_by(prepare(["pear"]), "import pear; print(pear.VERSION)") == "2.1"


PROGRAM = "import sys; from burnish.packages import prepare; print(prepare(sys.argv[1:]).folder)"


@pytest.mark.slow
def test_a_killed_process_leaves_nothing_that_is_used(shelf: Shelf, cache: Path) -> None:
    shelf.wheel("apple", files={f"apple/m{number}.py": "x = 1\n" for number in range(400)})
    making = subprocess.Popen([sys.executable, "-c", PROGRAM, "apple"], stdout=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not list(cache.glob(".*/site/apple")) and time.monotonic() < deadline:
        time.sleep(0.005)
    making.send_signal(signal.SIGKILL)
    making.communicate()
    assert list(cache.glob(".*/site/apple"))
    assert not list(cache.glob("*/layer.json"))
    layer = prepare(["apple"])
    assert len(list(layer.folder.glob("apple/*.py"))) == 400
    assert [path.name for path in cache.iterdir() if path.name.startswith(".")] == []


def test_what_killed_processes_left_of_other_layers_is_swept_away_unless_somebody_makes_it_now(cache: Path) -> None:
    for name in (".cpython-311-dead-ab_1", ".cpython-311-alive-cd_2"):
        (cache / name / "site").mkdir(parents=True)
    with (cache / "cpython-311-alive.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        prepare([])
    assert [path.name for path in cache.glob(".*")] == [".cpython-311-alive-cd_2"]


@pytest.mark.slow
def test_two_that_make_the_same_layer_at_once_both_get_it(shelf: Shelf) -> None:
    shelf.wheel("apple")
    command = [sys.executable, "-c", PROGRAM, "apple"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = {process.communicate(timeout=60)[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert len(folders) == 1


def test_nothing_wanted_is_an_empty_layer(shelf: Shelf) -> None:
    layer = prepare([])
    assert (list(layer.folder.iterdir()), layer.packages) == ([], ())


@pytest.mark.slow
def test_another_interpreter_has_layers_of_its_own(shelf: Shelf, tmp_path: Path) -> None:
    shelf.wheel("apple")
    odd = tmp_path / "python"
    odd.write_text(f'#!/bin/sh\ncase "$*" in *SOABI*) echo odd-1;; *) exec {sys.executable} "$@";; esac\n')
    odd.chmod(0o755)
    layer = prepare(["apple"], interpreter=odd)
    assert layer.folder.parent.name.startswith("odd-1-")
    assert layer.folder != prepare(["apple"], interpreter=Path(os.path.realpath(sys.executable))).folder
