"""The comparison with sentences on file: it fails for another wording, and a renewed file is read back whole."""

from pathlib import Path

import pytest

from tests import snapshots


@pytest.mark.slow
def test_another_wording_fails_and_renewing_keeps_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "FOLDER", tmp_path)
    with pytest.raises(AssertionError):
        snapshots.assert_snapshot("Hello.", "area/greeting")
    monkeypatch.setenv("BURNISH_SNAPSHOTS", "renew")
    snapshots.assert_snapshot(f"Written to {tmp_path}/a.\n\nTwo paragraphs.  \n", "area/two", folder=tmp_path)
    snapshots.assert_snapshot("Hello.", "area/greeting")
    monkeypatch.delenv("BURNISH_SNAPSHOTS")
    snapshots.assert_snapshot("Hello.", "area/greeting")
    snapshots.assert_snapshot("Written to /b/a.\n\nTwo paragraphs.", "area/two", folder="/b")
    with pytest.raises(AssertionError):
        snapshots.assert_snapshot("Good morning.", "area/greeting")
