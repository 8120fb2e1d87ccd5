"""Cells of an engine with another kernel: simulated by `other_kernel.py`, in front of a real engine."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import JobLimits, ServeLimits, open_sandbox, owner
from burnish.sandbox.box import Box
from burnish.sandbox.cell import OutputReader
from burnish.sandbox.docker import command, container, engine, streamed
from burnish.sandbox.inside.bounds import HEADER, MESSAGE, MOST_FRAME, OUTPUT
from tests.sandbox import other_kernel
from tests.sandbox.kinds import must_be_there
from tests.sandbox.served import ask, serve_shell
from tests.sandbox.test_attacks_processes import SCAN
from tests.support import ROOT
from tests.test_system import SENTENCE, start

BATTERY = (
    "contract",
    "serve",
    "layer",
    "attacks_files",
    "attacks_forged",
    "attacks_kernel",
    "attacks_network",
    "attacks_objects",
    "attacks_processes",
    "attacks_serve",
    "attacks_state",
)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.Engine]:
    """The engine with another kernel, which is the one that is found."""
    must_be_there("docker")
    folder = other_kernel.put_before(tmp_path_factory.mktemp("engine"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        yield engine.find_engine()


@pytest.fixture(scope="module")
def box(other: engine.Engine) -> Iterator[Box]:
    with open_sandbox("docker", cells=1) as opened:
        yield opened


@pytest.mark.docker
def test_the_simulated_engine_refuses_what_one_of_this_machine_accepts(other):
    assert other.elsewhere == "Docker Desktop, Linux 6.10.14-linuxkit"
    with pytest.raises(SandboxError, match="mounts denied"):
        container.open_docker_cell(other, other_kernel.IMAGE, JobLimits())


@pytest.mark.docker
def test_jobs_and_what_they_say_pass_whole_in_both_directions(box):
    assert "another" not in box.level
    assert "Docker Desktop" in box.level
    code = "print(len(open('large').read()))\nprint('y' * 300_000)"
    ran = box.run(["python", "main.py"], {"main.py": code, "large": "é" * 3_000_000})
    assert ran.output == f"3000000\n{'y' * 300_000}\n"
    heard: list[bytes] = []
    box.run(["python", "-c", "import time; print(1, flush=True); time.sleep(0.3); print(2)"], heard=heard.append)
    assert heard == [b"1\n", b"2\n"]
    graded = box.grade("def f(x): return x + 1", "assert f(1) == 2\nassert f(2) == 4")
    assert [case.outcome for case in graded.cases] == ["passed", "failed"]


@pytest.mark.docker
def test_code_that_was_judged_is_not_in_the_memory_that_the_next_job_inherits(box):
    code = "def f(): return 'quite-special-LEFT'" + " " * 100_000
    assert box.grade(code, "assert f().startswith('quite')").all_passed
    assert box.run(["python", "-c", "print('quite-special-LEFT')"]).exit_code == 0
    assert box.grade(SCAN, "assert not scan('quite-', 'special')").all_passed
    still_there = "KEPT = ['quite-special' + '-LEFT']\n" + SCAN
    assert not box.grade(still_there, "assert not scan('quite-', 'special')").all_passed, "the scan finds what is there"


@pytest.mark.docker
def test_the_stream_is_out_of_reach_for_jobs(box):
    code = """
import os
for place in ("/proc/1/fd", "/proc/1/fd/0", "/proc/1/mem"):
    try: print(os.listdir(place) if place.endswith("fd") else open(place, "rb").read(1))
    except OSError as error: print(type(error).__name__)
print(*(os.readlink(f"/proc/self/fd/{fd}")[:5] for fd in range(3)), len(os.listdir("/proc/self/fd")))
"""
    said = box.run(["python", "-c", code]).output.split("\n")
    assert said[:3] == ["PermissionError"] * 3
    assert said[3] == "/dev/ pipe: pipe: 4", "and the folder that is being read"


@pytest.mark.docker
def test_folders_and_packages_are_copies_that_no_job_can_change_and_that_go_with_the_sandbox(other, tmp_path):
    for name in ("project", "site"):
        (tmp_path / name).mkdir(mode=0o700)
        (tmp_path / name / "fruit.py").write_text(f"COLOUR = '{name}'\n")
        (tmp_path / name / "fruit.py").chmod(0o600)
    folders, before = {str(tmp_path / "project"): "/project"}, list_ours(other, "volume", "ls", "--quiet")
    with open_sandbox("docker", cells=1, folders=folders, layer=tmp_path / "site") as one:
        assert one.run(["python", "-c", "import fruit; print(fruit.COLOUR)"]).output == "site\n"
        assert one.run(["cat", "/project/fruit.py"]).output == "COLOUR = 'project'\n"
        for place in ("/project", "/layer", "/cell"):
            assert one.run(["touch", f"{place}/new"]).exit_code != 0
        assert len(list_ours(other, "volume", "ls", "--quiet")) == len(before) + 3
    del one
    assert list_ours(other, "volume", "ls", "--quiet") == before


def list_ours(found: engine.Engine, *words: str) -> list[str]:
    """What the engine has of this process."""
    return [
        name for name in found.ask(*words).split() if name.startswith(container.OURS) and f"-{os.getpid()}-" in name
    ]


OWNER = """
import time
from burnish.sandbox import open_sandbox
box = open_sandbox("docker", cells=1)
print("open", flush=True)
box.run(["sleep", "60"], timeout_seconds=60)
"""


@pytest.mark.docker
@pytest.mark.slow
def test_killing_burnish_ends_its_containers_and_the_next_start_removes_its_volumes(other):
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "open\n"
        parent.kill()
    mine = f"-{parent.pid}-"
    for _ in range(100):
        names = other.ask("ps", "--all", "--format", "{{.Names}}")
        if mine not in names:
            break
        other.ask("version")
    assert mine not in names
    assert mine in other.ask("volume", "ls", "--quiet")
    open_sandbox("docker", cells=1).close()
    assert mine not in other.ask("volume", "ls", "--quiet")


@pytest.mark.docker
def test_a_job_that_ends_its_limits_or_its_cell_is_told_of_as_everywhere(box):
    assert box.run(["python", "-c", "while True: print('x' * 1000)"], timeout_seconds=1).timed_out
    assert box.run(["python", "-c", "while True: pass"], timeout_seconds=1).timed_out
    left = box.run(
        ["python", "-c", "import os\nif os.fork() == 0:\n    os.setsid()\n    while True: os.write(1, b'x')"]
    )
    assert left.exit_code == 0
    assert box.run(["python", "-c", "print(1)"]).output == "1\n"


@pytest.mark.docker
def test_a_served_program_can_neither_end_nor_read_who_carries_its_connections(box):
    with serve_shell(box, limits=ServeLimits(connections=4)) as served:
        code = """
import os
for pid in (int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())):
    here = f"/proc/{pid}"
    for look in (lambda: os.kill(pid, 9), lambda: os.listdir(here + "/fd"), lambda: open(here + "/environ").read()):
        try: print(look())
        except OSError as error: print(type(error).__name__)
"""
        said = ask(served, code).split()
        assert said
        assert set(said) == {"PermissionError"}
        assert ask(served, "print(1)") == "1\n"


@pytest.mark.docker
def test_a_proxy_of_the_engine_s_command_does_not_reach_the_container(other, tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text('{"proxies": {"default": {"httpProxy": "http://me:secret@proxy"}}}')
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with open_sandbox("docker", cells=1):
        (name,) = list_ours(other, "ps", "--format", "{{.Names}}")[:1]
        assert "secret" not in other.ask("inspect", name)


@pytest.mark.docker
def test_without_an_image_that_has_a_python_it_says_how_to_build_one(other, monkeypatch):
    monkeypatch.setattr(command, "PYTHON_IMAGE", "no-such-image")
    with pytest.raises(SetupProblem, match=r"docker build --tag no-such-image:3\.\d+ --build-arg BASE=python:3"):
        open_sandbox("docker")


@pytest.mark.docker
@pytest.mark.slow
def test_the_scripted_journey_goes_through_on_a_system_that_has_only_such_an_engine(other, tmp_path):
    wrote = start("darwin", "write", SENTENCE, "--model", "scripted:demo", "--out", "double", home=tmp_path)
    assert wrote.returncode == 0, wrote.stdout + wrote.stderr
    assert "def double" in (tmp_path / "double" / "solution.py").read_text("utf-8")
    evidence = json.loads((tmp_path / "double" / "evidence.json").read_text("utf-8"))
    assert {check["verdict"] for check in evidence["checks"]} == {"passed"}
    assert {"tests", "coverage", "mutation", "performance"} <= {check["check"] for check in evidence["checks"]}
    assert "def double" in start("darwin", "show", "last", "--code", home=tmp_path).stdout
    assert "plausible" in start("darwin", "runs", home=tmp_path).stdout
    said = start("darwin", "doctor", home=tmp_path).stdout
    assert "ok sandbox" in said
    assert "Docker Desktop" in said


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", BATTERY)
def test_what_containers_promise_holds_over_the_stream_too(other, name):
    words = ["-m", "pytest", "-q", "-n", "0", "-m", "docker", "--timeout", "600", f"tests/sandbox/test_{name}.py"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:]


class Silent:
    """A process that is there and does nothing."""

    pid, stderr = 0, None

    def wait(self, timeout: float | None = None) -> int:
        return 0

    def kill(self) -> None:
        """Nothing is to be ended."""


@pytest.mark.parametrize(
    "frames",
    [
        b"",
        HEADER.pack(OUTPUT, MOST_FRAME + 1),
        HEADER.pack(OUTPUT, 10) + b"x",
        HEADER.pack(OUTPUT, 1) + b"x",
    ],
)
def test_what_is_no_frame_or_ends_too_early_is_a_lost_cell(frames):
    ours, theirs = socket.socketpair()
    with theirs:
        cell = streamed.StreamedCell(Silent(), ours, lambda: None)
        theirs.sendall(frames)
        theirs.shutdown(socket.SHUT_WR)
        ended = cell.perform({"job": "run", "timeout": 1}, [b"code"], 100)
    assert (ended.broke_cell, ended.exit_code) == (True, -signal.SIGKILL)
    cell.close()


def test_frames_may_come_in_any_pieces():
    ours, theirs = socket.socketpair()
    end = b'{"exit_code": 3, "over": "", "clean": true}'
    frames = HEADER.pack(OUTPUT, 3) + b"one" + HEADER.pack(OUTPUT, 3) + b"two" + HEADER.pack(MESSAGE, len(end)) + end
    with theirs:
        cell = streamed.StreamedCell(Silent(), ours, lambda: None)
        for number in range(len(frames)):
            theirs.send(frames[number : number + 1])
        ended = cell.perform({"job": "run", "timeout": 1}, [], 100)
    assert (ended.output, ended.exit_code) == (b"onetwo", 3)
    cell.close()


def test_copies_are_readable_by_everybody_and_hold_no_device(tmp_path):
    import io
    import tarfile

    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "closed" / "file").write_text("x")
    (tmp_path / "closed" / "file").chmod(0o600)
    os.mkfifo(tmp_path / "closed" / "pipe")
    with tarfile.open(fileobj=io.BytesIO(streamed.pack({str(tmp_path / "closed"): "/a/b"}))) as tar:
        assert {entry.name: (oct(entry.mode), entry.uid) for entry in tar} == {
            "a/b": ("0o755", 0),
            "a/b/file": ("0o644", 0),
        }


def test_what_a_killed_burnish_left_is_known_by_its_name():
    assert not owner.is_left_over(owner.make_name(container.OURS), container.OURS)


def test_the_output_of_a_frame_is_kept_like_any_other():
    reader = OutputReader(-1, 10)
    for _ in range(10):
        reader.add(b"0123456789")
    assert reader.content() == b"01234\n[\xe2\x80\xa6 90 bytes left out \xe2\x80\xa6]\n56789"
