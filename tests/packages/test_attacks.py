"""Wheels and caches that were made to hurt: they do not fill the disk, leave their folder, or start by themselves."""

import os
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.packages import Budget, parse_requirements, prepare_layer
from burnish.packages.uv import Uv
from tests.packages.shelf import Shelf


def add(wheel: Path, entries: dict[str, bytes], mode: int = 0o100644) -> None:
    """Put more into a wheel than its own list says."""
    with zipfile.ZipFile(wheel, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.external_attr, entry.compress_type = 3, mode << 16, zipfile.ZIP_DEFLATED
            packed.writestr(entry, content)


@pytest.mark.parametrize(
    "text", ["--index-url=http://e", "x @ file:///etc", "git+https://e/x", "numpy; os_name == 'a'"]
)
@pytest.mark.parametrize("around", ["{}", "numpy, {}", "numpy\n{}", "numpy {}"])
def test_nothing_but_names_and_versions_reaches_uv_even_where_the_name_is_allowed(text, around):
    with pytest.raises(SetupProblem):
        parse_requirements([around.format(text)], allow=["x", text])


@pytest.mark.parametrize("name", ["ｎumpy", "numрy", "nu\u200bmpy", "../numpy", "numpy[../x]", "numpy==../../etc"])
def test_letters_that_look_like_others_and_paths_are_no_names(name):
    with pytest.raises(SetupProblem):
        parse_requirements([name], allow=[name])


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [
        "../../../../../../../../../..{}",
        "{}",
        "apple-1.0.data/data/../../../../../../../../../..{}",
        "apple-1.0.data/scripts/../../../../../../../../../..{}",
    ],
)
def test_a_wheel_puts_nothing_outside_its_layer(shelf: Shelf, tmp_path: Path, place: str) -> None:
    planted = tmp_path / "planted.py"
    shelf.wheel("apple", files={"apple.py": "", place.format(planted): "x = 1"})
    with suppress(SetupProblem):  # uv leaves such a file out, or refuses the wheel
        assert not list(prepare_layer(["apple"]).folder.rglob("planted.py"))
    assert not planted.exists()


@pytest.mark.slow
def test_a_link_in_a_wheel_is_no_link_and_no_file_of_it_has_another_s_rights(shelf: Shelf) -> None:
    wheel = shelf.wheel("apple")
    add(wheel, {"link": b"/etc"}, mode=0o120777)
    add(wheel, {"tool": b"x"}, mode=0o106777)
    site = prepare_layer(["apple"]).folder
    assert not [path for path in site.rglob("*") if path.is_symlink()]
    assert (site / "tool").stat().st_mode & 0o7777 == 0o555


@pytest.mark.slow
def test_what_starts_by_itself_is_taken_out_wherever_a_wheel_has_it(shelf: Shelf) -> None:
    places = ("data", "purelib", "platlib")
    starters = ("{}.pth", "sitecustomize.pyc", "usercustomize.abi3.so")
    files = {f"apple-1.0.data/{place}/{name.format(place)}": "import os" for place in places for name in starters}
    assert [path.name for path in prepare_one(shelf, files).iterdir()] == ["apple-1.0.dist-info"]


def prepare_one(shelf: Shelf, files: dict[str, str]) -> Path:
    """The folder of a layer with one package that holds these files."""
    shelf.wheel("apple", files=files)
    return prepare_layer(["apple"]).folder


@pytest.mark.slow
def test_a_small_wheel_that_would_fill_the_disk_is_not_unpacked(shelf: Shelf, cache: Path) -> None:
    wheel = shelf.wheel("apple")
    add(wheel, {f"{number}.bin": bytes(64 << 20) for number in range(4)})
    assert wheel.stat().st_size < 1 << 20
    with pytest.raises(SetupProblem, match="apple"):
        prepare_layer(["apple"])
    assert not list(cache.glob("wheels/*")) + list(cache.glob("*/site"))


@pytest.mark.slow
def test_a_wheel_with_more_files_than_a_disk_should_hold_is_not_unpacked(
    shelf: Shelf, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.packages.layer.MOST_FILES", 1000)
    wheel = shelf.wheel("apple")
    add(wheel, {f"{number}.txt": b"" for number in range(1000)})
    with pytest.raises(SetupProblem, match="apple"):
        prepare_layer(["apple"])
    assert not list(cache.glob("wheels/*")) + list(cache.glob("*/site"))


@pytest.mark.slow
def test_uv_cannot_take_all_memory_for_what_a_wheel_says_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    greedy = tmp_path / "uv"
    greedy.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(0.3)\nheld = bytearray(3 << 30)\nprint('held')\n")
    greedy.chmod(0o755)
    monkeypatch.setattr("burnish.packages.uv.find_uv", lambda: str(greedy))
    result = Uv(tmp_path, tmp_path, 0, Budget()).resolve(["apple"])
    assert not result.ok
    assert "MemoryError" in result.text


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_a_cache_in_which_anybody_may_put_packages_is_not_used(shelf: Shelf, cache: Path, mode: int) -> None:
    shelf.wheel("apple")
    assert prepare_layer(["apple"])
    cache.chmod(mode)
    with pytest.raises(SetupProblem, match="BURNISH_CACHE"):
        prepare_layer(["apple"])
    cache.chmod(0o775)
    assert prepare_layer(["apple"])


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_cache_of_another_user_is_not_used(shelf: Shelf, cache: Path) -> None:
    cache.mkdir(parents=True)
    os.chown(cache, 12345, 12345)
    with pytest.raises(SetupProblem, match="BURNISH_CACHE"):
        prepare_layer([])


@pytest.mark.slow
def test_what_a_stranger_s_folder_says_to_uv_is_not_heard(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    said = 'find-links = ["planted"]\nno-build = false\n[pip]\nno-binary = [":all:"]\ntarget = "elsewhere"\n'
    (stranger / "uv.toml").write_text(said)
    (stranger / "pyproject.toml").write_text('[tool.uv]\noverride-dependencies = ["apple==9"]\n')
    (stranger / ".python-version").write_text("2.7\n")
    Shelf(stranger / "planted").wheel("apple", "9")
    shelf.wheel("apple")
    monkeypatch.chdir(stranger)
    assert [one.version for one in prepare_layer(["apple"]).packages] == ["1.0"]
    assert not (stranger / "elsewhere").exists()
