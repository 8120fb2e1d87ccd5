"""Layers: made once from wheels alone, read-only, whole or not at all. Real pip, an index in a folder, no network."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burnish.packages import Layer, prepare
from tests.packages.shelf import Shelf


def said_by(layer: Layer, code: str) -> str:
    """What a small program prints that sees the layer as a cell would: on its path, with nothing else around."""
    program = f"import sys; sys.path.append({str(layer.folder)!r}); {code}"
    return subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True).stdout.strip()


def no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")


def test_a_layer_holds_what_was_asked_and_all_that_it_needs(shelf: Shelf) -> None:
    shelf.wheel("apple", needs=["pear>=2"])
    shelf.wheel("pear", "1.0")
    shelf.wheel("pear", "2.1")
    told: list[str] = []
    layer = prepare(["apple"], tell=told.append)
    assert [(one.name, one.version) for one in layer.packages] == [("apple", "1.0"), ("pear", "2.1")]
    assert layer.asked == ("apple",)
    assert told == ["Fetching apple"]
    assert said_by(layer, "import apple, pear; print(apple.VERSION, pear.VERSION)") == "1.0 2.1"


def test_the_second_time_nothing_is_made_and_the_manifest_says_what_is_there(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.wheel("apple")
    first = prepare(["apple"])
    no_index(monkeypatch)
    monkeypatch.setattr(subprocess, "Popen", None)  # nobody is called
    assert prepare(["Apple"]) == first
    manifest = json.loads((first.folder.parent / "layer.json").read_text())
    assert manifest["packages"][0]["wheel"] == "apple-1.0-py3-none-any.whl"
    assert len(manifest["packages"][0]["sha256"]) == 64


def test_nobody_may_write_to_a_layer_and_everybody_may_read_it(shelf: Shelf) -> None:
    shelf.wheel("apple", files={"apple/__init__.py": "", "apple/data.txt": "red"})
    layer = prepare(["apple"])
    modes = {path.stat().st_mode & 0o777 for path in [layer.folder, *layer.folder.rglob("*")]}
    assert modes == {0o444, 0o555}


def test_byte_code_is_there_and_is_never_compared_with_its_source(shelf: Shelf) -> None:
    shelf.wheel("apple", files={"apple.py": "x = 1\n", "__pycache__/apple.cpython-311.pyc": "planted"})
    layer = prepare(["apple"])
    (code,) = layer.folder.glob("__pycache__/apple.*.pyc")
    assert code.read_bytes()[4:8] == b"\x01\0\0\0", "hash-based, unchecked"
    assert said_by(layer, "import apple; print(apple.x)") == "1"


def test_other_layers_are_made_offline_from_wheels_that_were_fetched_before(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.wheel("apple", needs=["pear"])
    shelf.wheel("pear", "2.1")
    both = prepare(["apple"])
    no_index(monkeypatch)
    one = prepare(["pear>=2"])
    assert [package.name for package in one.packages] == ["pear"]
    assert one.folder != both.folder


def test_what_would_start_by_itself_is_taken_out(shelf: Shelf, tmp_path: Path) -> None:
    plant = f"import pathlib; pathlib.Path({str(tmp_path / 'started')!r}).touch()\n"
    files = {"apple.py": "", "apple.pth": plant, "sitecustomize.py": plant, "usercustomize/__init__.py": plant}
    shelf.wheel("apple", files=files)
    layer = prepare(["apple"])
    names = {path.name for path in layer.folder.iterdir()}
    assert names == {"apple.py", "apple-1.0.dist-info", "__pycache__"}
    assert not list(layer.folder.glob("__pycache__/*custom*"))
    manifest = json.loads((layer.folder.parent / "layer.json").read_text())
    assert manifest["set_aside"] == ["apple.pth", "sitecustomize.py", "usercustomize"]
    subprocess.run([sys.executable, "-c", f"import site; site.addsitedir({str(layer.folder)!r})"], check=True)
    assert not (tmp_path / "started").exists()


def test_settings_of_pip_that_are_not_about_the_index_are_not_heard(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.wheel("apple")
    settings = tmp_path / "pip.conf"
    settings.write_text(f"[global]\nno-binary = :all:\nuser = true\nno-deps = true\nfind-links = {shelf.folder}\n")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PIP_REQUIREMENT", "/nowhere.txt")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "sitecustomize.py").write_text("print('heard')")
    assert prepare(["apple"]).packages[0].version == "1.0"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("harm", ["a file gone", "a file longer", "no manifest", "half a manifest", "an old form"])
def test_a_torn_layer_is_never_used_but_made_again(shelf: Shelf, harm: str) -> None:
    shelf.wheel("apple")
    layer = prepare(["apple"])
    manifest = layer.folder.parent / "layer.json"
    layer.folder.chmod(0o755)
    match harm:
        case "a file gone":
            (layer.folder / "apple.py").unlink()
        case "a file longer":
            (layer.folder / "apple.py").chmod(0o644)
            (layer.folder / "apple.py").write_text("import evil; VERSION = 'evil'")
        case "no manifest":
            manifest.unlink()
        case "half a manifest":
            manifest.write_bytes(manifest.read_bytes()[:100])
        case "an old form":
            manifest.write_text(manifest.read_text().replace('"form":', '"form":9'))
    again = prepare(["apple"])
    assert again == layer
    assert said_by(again, "import apple; print(apple.VERSION)") == "1.0"


def test_a_wheel_that_changed_since_it_was_fetched_is_fetched_again(shelf: Shelf, cache: Path) -> None:
    shelf.wheel("apple")
    shelf.wheel("pear", needs=["apple"])
    prepare(["pear"])
    Shelf(cache / "wheels").wheel("apple", files={"apple.py": "VERSION = 'evil'\n"})
    layer = prepare(["apple"])
    assert said_by(layer, "import apple; print(apple.VERSION)") == "1.0"
    (cache / "wheels" / "apple-1.0-py3-none-any.whl.sha256").unlink()
    assert said_by(prepare(["apple>=1"]), "import apple; print(apple.VERSION)") == "1.0"


PROGRAM = "import sys; from burnish.packages import prepare; print(prepare(sys.argv[1:]).folder)"


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


def test_another_interpreter_has_layers_of_its_own(shelf: Shelf, tmp_path: Path) -> None:
    shelf.wheel("apple")
    odd = tmp_path / "python"
    odd.write_text(f'#!/bin/sh\ncase "$*" in *SOABI*) echo odd-1;; *) exec {sys.executable} "$@";; esac\n')
    odd.chmod(0o755)
    layer = prepare(["apple"], interpreter=odd)
    assert layer.folder.parent.name.startswith("odd-1-")
    assert layer.folder != prepare(["apple"], interpreter=Path(os.path.realpath(sys.executable))).folder
