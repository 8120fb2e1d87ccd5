"""`burnish bundle`: what is put in, and when it refuses."""

import shutil
from pathlib import Path

import pytest

from burnish.commands import bundle
from burnish.errors import SetupProblem

LOCK = """\
both==1.0 \\
    --hash=sha256:00
later==2.0 ; python_full_version >= '3.13' \\
    --hash=sha256:01
never==3.0 ; sys_platform == 'emscripten' \\
    --hash=sha256:02
"""


def names(python: str, folder: Path) -> list[str]:
    return [pin.split("=")[0] for pin in bundle._choose_pins(LOCK, python, folder)]


def test_each_python_gets_the_pins_that_its_markers_ask_for(tmp_path: Path) -> None:
    assert names("3.11", tmp_path) == ["both"]
    assert names("3.13", tmp_path) == ["both", "later"]
    assert next(iter(bundle._choose_pins(LOCK, "3.13", tmp_path))) == "both==1.0 \\\n    --hash=sha256:00\n"


def test_a_wheel_that_fits_every_python_is_fetched_once(tmp_path: Path) -> None:
    (tmp_path / "later-2.0-cp311-cp311-manylinux2014_x86_64.whl").touch()
    assert names("3.13", tmp_path) == ["both", "later"]
    (tmp_path / "both-1.0-py3-none-any.whl").touch()
    (tmp_path / "later-2.0-cp310-abi3-manylinux2014_x86_64.whl").touch()
    assert names("3.13", tmp_path) == []


def test_the_wheels_are_for_every_python_that_is_claimed() -> None:
    assert bundle.read_pythons()[0] == "3.11"
    assert len(bundle.read_pythons()) >= 4


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "out.tar"
    out.write_text("mine")
    with pytest.raises(SetupProblem):
        bundle.make_bundle(out, "", lambda what: None)
    assert out.read_text() == "mine"
    with pytest.raises(SetupProblem, match=r"mkdir -p"):
        bundle.make_bundle(tmp_path / "nowhere" / "out.tar", "", lambda what: None)


def test_a_burnish_that_came_as_a_wheel_says_where_bundles_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "ROOT", tmp_path)
    with pytest.raises(SetupProblem) as problem:
        bundle.make_bundle(tmp_path / "out.tar", "", lambda what: None)
    assert str(problem.value).endswith("./burnish bundle OUT")


def test_a_wheel_that_cannot_be_had_leaves_no_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "source"
    (source / "requirements").mkdir(parents=True)
    for name in ("installer.py", "bootstrap.py", "pyproject.toml"):
        shutil.copy(bundle.ROOT / name, source / name)
    for name in ("core", "openmp"):
        (source / "requirements" / f"{name}.txt").write_text(f"one==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    monkeypatch.setattr(bundle, "ROOT", source)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(SetupProblem):
        bundle.make_bundle(tmp_path / "out.tar", "", lambda what: None)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
