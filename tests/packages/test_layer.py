"""Layers: made once from wheels alone, read-only, whole or not at all. Real pip, an index in a folder, no network."""

import fcntl
import hashlib
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.packages import Layer, prepare_layer
from burnish.packages.layer import load_layer
from tests.packages.conftest import FarShelf
from tests.packages.shelf import Shelf


def said_by(layer: Layer, code: str) -> str:
    """What a small program prints that sees the layer as a cell would: on its path, with nothing else around."""
    program = f"import sys; sys.path.append({str(layer.folder)!r}); {code}"
    return subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True).stdout.strip()


@pytest.mark.slow
def test_a_layer_holds_what_was_asked_and_all_that_it_needs(orchard: Layer) -> None:
    assert [(one.name, one.version) for one in orchard.packages] == [("apple", "1.0"), ("pear", "2.1")]
    assert orchard.asked == ("apple",)
    assert said_by(orchard, "import apple, pear; print(apple.VERSION, pear.VERSION)") == "1.0 2.1"


@pytest.mark.slow
def test_the_manifest_says_which_wheels_with_which_hashes(orchard: Layer) -> None:
    manifest = json.loads((orchard.folder.parent / "layer.json").read_text())
    wheels = orchard.folder.parents[3] / "shelf"
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
    assert prepare_layer(["Apple"]).packages == orchard.packages


@pytest.mark.slow
def test_other_layers_are_made_offline_from_wheels_that_were_fetched_before(far_shelf: FarShelf) -> None:
    far_shelf.wheel("apple", needs=["pear>=2"])
    far_shelf.wheel("pear", "2.1")
    prepare_layer(["apple"])
    far_shelf.close()
    told: list[str] = []
    layer = prepare_layer(["pear>=2"], tell=told.append)
    assert [(one.name, one.version) for one in layer.packages] == [("pear", "2.1")]
    assert told == []


@pytest.mark.slow
def test_wheels_that_an_earlier_burnish_kept_still_do_offline(far_shelf: FarShelf, cache: Path) -> None:
    Shelf(cache / "wheels").wheel("pear", "2.1")
    far_shelf.close()
    told: list[str] = []
    assert [one.version for one in prepare_layer(["pear"], tell=told.append).packages] == ["2.1"]
    assert told == []


@pytest.mark.slow
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
    (apple,) = prepare_layer(["apple"]).packages
    assert (apple.version, apple.wheel) == ("1.0+local.2", "apple-1.0+local.2-py3-none-any.whl")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("harm", ["a file gone", "a file longer", "no manifest", "half a manifest", "an old form"])
def test_a_torn_layer_is_none(orchard: Layer, tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "torn"
    shutil.copytree(orchard.folder.parent, folder)
    assert load_layer(folder)
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
    assert load_layer(folder) is None


@pytest.mark.slow
def test_a_torn_layer_is_made_again_and_nothing_of_it_is_in_another(shelf: Shelf) -> None:
    shelf.wheel("apple")
    torn = prepare_layer(["apple"])
    (torn.folder / "apple.py").chmod(0o644)
    (torn.folder / "apple.py").write_text("VERSION = 'evil, and longer'")
    assert said_by(prepare_layer(["apple"]), "import apple; print(apple.VERSION)") == "1.0"
    assert load_layer(torn.folder.parent)


@pytest.mark.slow
def test_a_wheel_that_is_not_what_the_index_says_is_refused(
    far_shelf: FarShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    far_shelf.wheel("apple")
    monkeypatch.setattr("tests.packages.conftest.IndexHandler.hash_of", lambda *_: "a" * 64)
    with pytest.raises(SetupProblem, match="apple.*[Hh]ash mismatch"):
        prepare_layer(["apple"])


PROGRAM = "import sys; from burnish.packages import prepare_layer; print(prepare_layer(sys.argv[1:]).folder)"


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
    layer = prepare_layer(["apple"])
    assert len(list(layer.folder.glob("apple/*.py"))) == 400
    assert [path.name for path in cache.iterdir() if path.name.startswith(".")] == []


def test_what_killed_processes_left_of_other_layers_is_swept_away_unless_somebody_makes_it_now(cache: Path) -> None:
    for name in (".cpython-311-dead-ab_1", ".cpython-311-alive-cd_2"):
        (cache / name / "site").mkdir(parents=True)
    with (cache / "cpython-311-alive.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        prepare_layer([])
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
    layer = prepare_layer([])
    assert (list(layer.folder.iterdir()), layer.packages) == ([], ())
