"""Containers as cells: which engine, what is bound where, and what a killed Burnish left."""

import base64
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.verdict import judge_all
from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import JobLimits, bubblewrap, diagnosis, open_sandbox, owner, seccomp
from burnish.sandbox.docker import command, container, engine
from burnish.sandbox.docker.engine import ContainerProblem, Engine
from tests.checks.project_support import TEST, made
from tests.sandbox.kinds import must_be_there
from tests.sandbox.own_image import NAME as OWN_IMAGE
from tests.sandbox.own_image import PYTHON, import_own_image
from tests.snapshots import assert_snapshot

ROOTFUL = Engine(("docker",), "docker", "20.10", False, True, True, "2", False, "", "Debian")
ROOTLESS = Engine(("podman",), "podman", "4.3", True, False, False, "2", False, "", "Debian")
ELSEWHERE = Engine(("docker",), "docker", "27.1", False, True, True, "2", False, "6.6-linuxkit", "Docker Desktop")


@pytest.fixture
def found() -> Engine:
    """The engine of this machine; the test is skipped where there is none."""
    must_be_there("docker")
    return engine.find_engine()


def choose(monkeypatch: pytest.MonkeyPatch, *engines: Engine) -> Engine:
    """Which of these would be used?"""
    monkeypatch.setattr(engine, "list_commands", lambda: iter((str(n),) for n in range(len(engines))))
    monkeypatch.setattr(engine, "ask_engine", lambda command: engines[int(command[0])])
    return engine.find_engine()


def test_a_rootless_engine_is_preferred(monkeypatch):
    assert choose(monkeypatch, ROOTFUL, ROOTLESS) == ROOTLESS
    assert choose(monkeypatch, ROOTFUL) == ROOTFUL
    assert ROOTLESS.title == "podman 4.3 (rootless engine)"


def test_an_engine_with_another_kernel_comes_last(monkeypatch):
    assert choose(monkeypatch, ELSEWHERE) == ELSEWHERE
    assert choose(monkeypatch, ELSEWHERE, ROOTFUL) == ROOTFUL
    assert choose(monkeypatch, ELSEWHERE, ROOTFUL, ROOTLESS) == ROOTLESS
    assert ELSEWHERE.title == "docker 27.1 (rootful engine on Docker Desktop, Linux 6.6-linuxkit)"
    assert not ROOTFUL.elsewhere
    monkeypatch.setattr(engine, "has_cells", lambda: False)
    assert ROOTFUL.elsewhere, "where this system is no Linux, every engine has another kernel"


def test_a_container_elsewhere_is_told_of_nothing_that_is_here():
    words = command.build_command(ELSEWHERE, JobLimits(loopback=True), "name", [])
    assert not [word for word in words if "type=bind" in word or word.startswith("net.ipv6")]
    assert f"{bubblewrap.CELL_UID}:{bubblewrap.CELL_UID}" in words
    assert {"--interactive", "HTTPS_PROXY=", "https_proxy="} <= {*words}
    assert command.has_own_python(ELSEWHERE)
    settings = json.loads(command.make_settings(replace(ELSEWHERE, machine="aarch64"), JobLimits(), None, ""))
    assert settings["call"] == ""
    assert base64.b64decode(settings["filter"]) == seccomp.build_program("aarch64")


def test_the_engine_that_the_user_names_is_the_only_one_asked(monkeypatch, tmp_path):
    (tmp_path / "docker").write_text("#!/bin/sh\n")
    (tmp_path / "podman").write_text("#!/bin/sh\n")
    (tmp_path / "docker").chmod(0o755)
    (tmp_path / "podman").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", "unix:///somewhere")
    assert list(engine.list_commands()) == [(f"{tmp_path}/docker",)]
    monkeypatch.delenv("DOCKER_HOST")
    assert list(engine.list_commands()) == [(f"{tmp_path}/docker",), (f"{tmp_path}/podman",)]


def test_an_engine_that_is_not_running_says_so(monkeypatch, tmp_path):
    (tmp_path / "docker").write_text('#!/bin/sh\necho \'{"ServerErrors": ["Cannot connect to the daemon"]}\'\nexit 1\n')
    (tmp_path / "docker").chmod(0o755)
    with pytest.raises(SandboxError, match="Cannot connect") as refused:
        engine.ask_engine((str(tmp_path / "docker"),))
    assert str(diagnosis.explain_no_docker(refused.value)).endswith(" sudo systemctl start docker")
    with pytest.raises(SandboxError, match="nothing") as refused:
        engine.ask_engine((str(tmp_path / "nothing"),))
    assert str(diagnosis.explain_no_docker(refused.value)).endswith(" docker info")


def test_an_engine_without_control_groups_gets_no_limits_it_cannot_keep_and_the_report_says_so():
    assert command.list_limit_options(ROOTLESS, JobLimits())[0] == "--ulimit"
    assert "--memory" in command.list_limit_options(ROOTFUL, JobLimits())
    assert_snapshot(diagnosis.describe_docker_level(ROOTLESS), "sandbox/level: an engine without control groups")
    assert_snapshot(diagnosis.describe_docker_level(ROOTFUL), "sandbox/level: an engine with control groups")


def test_the_image_has_the_links_of_the_system_and_nothing_else(tmp_path):
    (tmp_path / "usr" / "bin").mkdir(parents=True)
    (tmp_path / "usr" / "bin" / "tool").write_text("x")
    (tmp_path / "bin").symlink_to("usr/bin")
    content = command.build_image(tmp_path)
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        entries = {entry.name: entry for entry in tar.getmembers()}
    assert entries["bin"].linkname == "usr/bin"
    assert all(entry.isdir() or entry.issym() for entry in entries.values())
    assert "sbin" not in entries
    assert command.build_image(tmp_path) == content


def test_what_is_mounted_below_a_folder_is_bound_read_only_by_itself(tmp_path):
    (tmp_path / "data set").mkdir()
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 0 8:1 / {tmp_path}/data\\040set rw - ext4 x rw\n1 0 8:1 / /elsewhere rw - ext4 x rw\n")
    pairs = list(command.list_mounts_below(str(tmp_path), "/project", mounts))
    assert pairs == [(str(tmp_path), "/project"), (f"{tmp_path}/data set", "/project/data set")]
    assert command.format_bind("/a,b", "/c") == 'type=bind,"source=/a,b",target=/c,readonly'


def test_only_containers_whose_owner_is_gone_are_left_over():
    here, other = owner.identify_machine(), "0badcafe-1"

    def is_left_over(name: str) -> bool:
        return owner.is_left_over(name, container.OURS)

    assert not is_left_over(owner.make_name(container.OURS))
    assert not is_left_over("somebody-s-database")
    assert is_left_over(f"burnish-cell-{here}-999999999-5-ab")
    assert is_left_over(f"burnish-cell-{here}-{os.getpid()}-5-ab"), "the number was given out again"
    assert is_left_over(f"burnish-cell-{other}-1-5-ab"), "the machine was started anew"
    assert not is_left_over("burnish-cell-0badcafe-0-1-5-ab"), "where no start can be read, or on another system"
    assert not owner.is_left_over(f"burnish-cell-{other}-1-5-ab", container.OURS, is_shared=True), "whose that is?"
    assert owner.is_left_over(f"burnish-cell-{here}-999999999-5-ab", container.OURS, is_shared=True)
    boot = here.split("-")[0]
    assert not is_left_over(f"burnish-cell-{boot}-1-999999999-5-ab"), "its processes cannot be seen from here"


@pytest.mark.docker
def test_the_containers_of_a_killed_burnish_are_removed_at_the_next_start(found):
    name = f"burnish-cell-{owner.identify_machine()}-999999999-5-ab"
    usr = command.format_bind("/usr", "/usr")
    found.ask(
        "run",
        "--detach",
        "--network",
        "none",
        "--name",
        name,
        "--mount",
        usr,
        command.ensure_image(found),
        "/usr/bin/sleep",
        "60",
    )
    open_sandbox("docker", cells=1).close()
    assert name not in found.ask("ps", "--all", "--format", "{{.Names}}")


def test_the_folder_of_a_burnish_killed_while_it_started_a_container_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"{container.FOLDER}{owner.identify_machine()}-999999999-5-ab").mkdir()
    mine = owner.make_folder(container.FOLDER)
    owner.remove_left_folders(container.FOLDER)
    assert list(tmp_path.iterdir()) == [mine]


@pytest.mark.docker
def test_a_container_that_cannot_start_says_why(found):
    with pytest.raises(SandboxError, match="no-such-image"):
        container.open_docker_cell(found, "no-such-image:here", JobLimits())


@pytest.fixture
def altered_image(found: Engine, request: pytest.FixtureRequest) -> Iterator[None]:
    """What stands under the name of our image was made by somebody else, with a setting more."""
    name = command.ensure_image(found)
    found.ask("import", "--change", request.param, "-", name, given=command.build_image())
    yield
    found.ask("image", "rm", "--force", name)


@pytest.mark.docker
@pytest.mark.parametrize("altered_image", ["VOLUME /stash"], indirect=True)
def test_an_image_with_a_volume_is_refused_because_jobs_could_fill_it_and_leave_something_there(found, altered_image):
    with pytest.raises(SetupProblem, match=r"/stash.*docker build --tag"):
        open_sandbox("docker", cells=1)
    assert found.ask("volume", "ls", "--quiet") == ""


@pytest.mark.docker
@pytest.mark.parametrize("altered_image", ["HEALTHCHECK --interval=1s CMD /usr/bin/touch /tmp/found"], indirect=True)
def test_what_an_image_wants_to_run_beside_jobs_does_not_run(altered_image):
    with open_sandbox("docker", cells=1) as box:
        assert box.run(["sh", "-c", "sleep 3; ls /tmp"]).output == ""


@pytest.mark.docker
def test_a_named_image_that_is_not_there_is_not_fetched(found, monkeypatch):
    monkeypatch.setenv("BURNISH_DOCKER_IMAGE", "no-such-image:here")
    with pytest.raises(SetupProblem, match="docker build --tag"):
        open_sandbox("docker")


def test_a_folder_that_the_container_s_user_may_not_enter_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 4321)
    rootless = Engine(("docker",), "docker", "27", True, True, True, "2", False, "", "Debian")
    (tmp_path / "mine").mkdir(mode=0o700)
    with pytest.raises(ContainerProblem, match=f"{tmp_path}/mine ") as refused:
        command.refuse_closed_folders(rootless, [str(tmp_path / "mine")])
    assert refused.value.remedy.startswith("chmod o+rx")
    assert command.choose_user(ROOTFUL)[0] == 4321
    command.refuse_closed_folders(ROOTFUL, [str(tmp_path / "mine")])


@pytest.mark.docker
def test_checks_see_a_project_read_only_in_a_container(found, tmp_path):
    project = made(tmp_path / "shop", {"shop.py": "PRICE = 3\n"})
    with CheckContext(project, "docker") as lab:
        ran = lab.run(
            [lab.python, "-c", f"import sys; sys.path.insert(0, {lab.root!r}); import shop; print(shop.PRICE)"]
        )
        assert (ran.exit_code, ran.output) == (0, "3\n")
        assert lab.run(["touch", f"{lab.root}/new"]).exit_code != 0


@pytest.fixture
def own_image(found: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An image with a Python of its own is the one to use."""
    monkeypatch.setenv("BURNISH_DOCKER_IMAGE", import_own_image(found))
    yield
    found.ask("image", "rm", "--force", OWN_IMAGE)


@pytest.mark.docker
@pytest.mark.slow
def test_in_an_image_of_one_s_own_the_checks_use_its_python(own_image, tmp_path):
    project = made(tmp_path / "shop", {"test_it.py": TEST}).model_copy(update={"has_environment": False})
    layer = tmp_path / "site"
    layer.mkdir()
    (layer / "fruit.py").write_text("COLOUR = 'red'\n")
    for one in (project, project.model_copy(update={"alone": True, "layer": layer})):
        with CheckContext(one, "docker") as lab:
            checked = judge_all(one, lab, ("tests", "coverage", "mutation", "performance"))
            where = lab.run([lab.python, "-c", "import os, sys; print(os.path.realpath(sys.executable))"]).output
            found = lab.run([lab.python, "-c", "import fruit"]).exit_code == 0
        assert [answer.verdict for answer in checked.evidence] == ["passed"] * 4, checked.evidence
        assert where == f"{PYTHON}\n"
        assert found == one.alone, "a layer is there where one was made"


def test_a_project_s_own_environment_is_refused_with_an_image_of_one_s_own(monkeypatch, tmp_path):
    monkeypatch.setenv("BURNISH_DOCKER_IMAGE", "no-such-image:here")
    with pytest.raises(SetupProblem, match="BURNISH_DOCKER_IMAGE") as refused:
        CheckContext(made(tmp_path / "shop", {}), "docker")
    assert str(refused.value).endswith(" unset BURNISH_DOCKER_IMAGE")


@pytest.mark.docker
def test_proxy_settings_of_the_engine_s_command_do_not_reach_the_code(found, tmp_path):
    (tmp_path / "config.json").write_text('{"proxies": {"default": {"httpProxy": "http://me:secret@proxy"}}}')
    code = """
from burnish.sandbox import open_sandbox
with open_sandbox("docker", cells=1) as box:
    look = "print(open('/proc/self/environ').read(), b'secret' in open('/proc/self/environ', 'rb').read())"
    print(box.run(["python", "-c", look]).output)
"""
    env = {**os.environ, "DOCKER_CONFIG": str(tmp_path), "http_proxy": "http://me:secret@proxy"}
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert "secret" not in said
    assert Path(command.ENV).exists()
