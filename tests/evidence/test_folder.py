"""Files are read once, never through a link, and nothing that lies beside them is passed over in silence."""

import os
from pathlib import Path

import pytest

from burnish import SetupProblem
from burnish.evidence import dossier_of
from burnish.evidence.folder import hold
from burnish.evidence.form import Dossier
from tests.evidence.test_make import FILES, RUN

DOSSIER = dossier_of(RUN, FILES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "double"
    place.mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text)
    (place / "evidence.json").touch()
    return place


def in_a_package() -> Dossier:
    return DOSSIER.model_copy(update={"files": {"shop/double.py": DOSSIER.files["solution.py"]}})


def test_what_was_read_is_what_is_kept(folder: Path) -> None:
    held = hold(DOSSIER, folder)
    (folder / "solution.py").write_text("something else")
    assert held.changed == ()
    assert held.text("solution.py") == FILES["solution.py"]


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    (folder / "solution.py").unlink()
    os.mkfifo(folder / "solution.py")
    assert hold(DOSSIER, folder).changed == ("solution.py is not a regular file",)


def test_a_file_behind_a_linked_folder_is_not_read(folder: Path) -> None:
    (folder / "solution.py").rename(folder.parent / "double.py")
    (folder / "shop").symlink_to(folder.parent)
    assert "shop/double.py lies behind a link (shop)" in hold(in_a_package(), folder).changed


def test_a_huge_file_is_not_read_to_its_end(folder: Path) -> None:
    with (folder / "solution.py").open("wb") as file:
        file.truncate(10**12)
    assert hold(DOSSIER, folder).changed == ("solution.py is larger than 8 MB",)


@pytest.mark.parametrize(
    "name", ["conftest.py", "a/b/conftest.py", "sitecustomize.py", "solution.so", "x.pth", "tox.ini", "a/.git/x.py"]
)
def test_what_would_have_a_say_is_named(name: str, folder: Path) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).touch()
    assert hold(DOSSIER, folder).changed == (f"{name} is a file that the evidence does not know",)


@pytest.mark.parametrize("name", ["__pycache__/solution.cpython-311.pyc", ".pytest_cache/x.PYC", "double.pyo"])
def test_compiled_code_is_refused_wherever_it_lies(name: str, folder: Path) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).touch()
    [said] = hold(DOSSIER, folder).changed
    assert said == f"{name} is compiled code, which Python may run in place of the source; delete it and verify again"


def test_a_link_in_the_place_of_what_is_passed_over_is_named(folder: Path) -> None:
    (folder / ".git").symlink_to(folder.parent)
    held = hold(DOSSIER, folder)
    assert (held.changed, held.unseen) == ((".git is a link that the evidence does not know",), ())


def test_a_folder_with_all_the_world_in_it_was_not_delivered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.evidence.folder.MOST_ENTRIES", 5)
    for number in range(6):
        (folder / f"{number}.txt").touch()
    with pytest.raises(SetupProblem, match="not a folder that Burnish delivered"):
        hold(DOSSIER, folder)
