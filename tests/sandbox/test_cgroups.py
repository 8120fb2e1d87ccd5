"""Control groups of either version, on made-up machines."""

import os
from pathlib import Path

from burnish.sandbox import JobLimits, cgroups
from tests.snapshots import assert_snapshot


def test_version_one_is_used_where_it_holds_the_controllers(tmp_path):
    for name in ("memory", "pids"):
        (tmp_path / name / "mine").mkdir(parents=True)
        (tmp_path / name / "mine" / "tasks").touch()
    own = write(tmp_path / "own", "4:memory:/mine\n3:pids:/mine\n0::/\n")
    found = cgroups.find_places(tmp_path, own)
    assert [(place.version, place.controllers) for place in found] == [(1, ("memory",)), (1, ("pids",))]
    assert_snapshot(cgroups.describe_places(found), "sandbox/level: control groups of version one")


def test_version_two_is_used_where_a_group_above_hands_limits_down(tmp_path):
    scope = tmp_path / "user.slice" / "app.slice" / "term.scope"
    scope.mkdir(parents=True)
    write(scope / "cgroup.subtree_control", "")
    write(scope.parent / "cgroup.subtree_control", "memory pids\n")
    write(scope.parent / "cgroup.procs", "")
    found = cgroups.find_places(tmp_path, write(tmp_path / "own", "0::/user.slice/app.slice/term.scope\n"))
    assert [(place.folder, place.version) for place in found] == [(scope.parent, 2)]


def test_where_nothing_can_be_written_there_is_no_place(tmp_path):
    assert cgroups.find_places(tmp_path, write(tmp_path / "own", "0::/\n")) == []
    assert cgroups.find_places(tmp_path, tmp_path / "missing") == []
    assert cgroups.describe_places([]) == ""


def test_a_group_has_the_limits_of_a_job(tmp_path, monkeypatch):
    place = cgroups.CgroupPlace(tmp_path, 2, ("memory", "pids"))
    real = Path.mkdir

    def mkdir(self: Path, *args: object) -> None:
        real(self)
        for name in ("memory.max", "memory.swap.max", "pids.max"):
            (self / name).touch()

    monkeypatch.setattr(Path, "mkdir", mkdir)
    (folder,) = cgroups.create_group([place], JobLimits(processes=10))
    assert (folder / "pids.max").read_text() == str(10 + cgroups.OWN_PROCESSES)
    assert (folder / "memory.swap.max").read_text() == "0"
    assert folder.name.startswith(f"burnish-{os.getpid()}-")


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
