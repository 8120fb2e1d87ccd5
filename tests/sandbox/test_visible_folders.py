"""What a cell sees of the machine."""

import sys
from pathlib import Path

import pytest

from burnish.sandbox.bubblewrap import list_visible_folders


def test_a_python_behind_a_link_is_seen_by_both_of_its_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, link = tmp_path / "cpython-3.13.5", tmp_path / "cpython-3.13"
    real.mkdir()
    link.symlink_to(real)
    monkeypatch.setattr(sys, "base_prefix", str(link))
    folders = list_visible_folders()
    assert folders[str(link)] == str(link)
    assert folders[str(real)] == str(real)
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    assert not {"/usr", str(real)} & list_visible_folders().keys()
