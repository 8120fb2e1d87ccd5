"""Which container engine is there? Docker or Podman, asked through its own command, a rootless one first."""

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.errors import SandboxError
from burnish.system import get_user, has_cells

ANSWER_SECONDS = 20.0
NAMED_BY = ("DOCKER_HOST", "DOCKER_CONTEXT")
"""Whoever sets one of these has chosen the engine."""
PODMAN_ONLY = "k8s-file"
"""A way to log that only Podman has, whoever it pretends to be."""
PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
"""What Podman calls them, and what the kernel does."""
BUILD_IMAGE = f"docker build --tag NAME {Path(__file__).parent}"


class ContainerProblem(SandboxError):
    """Why no container can be opened, and the line that helps; "" where only the words of an engine can tell."""

    def __init__(self, words: str, remedy: str) -> None:
        super().__init__(words)
        self.remedy = remedy


@dataclass(frozen=True)
class Engine:
    """An engine that answers, and what it says it can do."""

    command: tuple[str, ...]
    """The words that begin every command to it."""
    name: str
    version: str
    rootless: bool
    memory: bool
    """True when it limits the memory of a container."""
    processes: bool
    """True when it counts the processes of a container."""
    cgroup: str
    selinux: bool
    kernel: str
    system: str
    machine: str = ""
    """The processor of that system; "" for this machine's."""

    @property
    def title(self) -> str:
        """Its name for doctor and reports."""
        away = f" on {self.elsewhere}" if self.elsewhere else ""
        return f"{self.name} {self.version} ({'rootless' if self.rootless else 'rootful'} engine{away})"

    @property
    def maps_us(self) -> bool:
        """True for a rootless engine that can let our own user be that user in a container too."""
        return self.rootless and Path(self.command[0]).name == "podman" and not self.elsewhere

    @property
    def elsewhere(self) -> str:
        """Where its containers run, if no folder and no socket of this machine leads there; "" when they run here."""
        if not has_cells() or "Docker Desktop" in self.system or self.kernel not in ("", platform.release()):
            return f"{self.system}, Linux {self.kernel}"
        return ""

    def ask(self, *words: str, given: bytes | None = None, seconds: float = ANSWER_SECONDS) -> str:
        """What the engine answers to a command; SandboxError with its last words if it fails."""
        try:
            done = subprocess.run(
                [*self.command, *words], input=given, capture_output=True, timeout=seconds, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SandboxError(f"{self.name} does not answer: {error}") from error
        if done.returncode:
            raise SandboxError(f"{self.name} {words[0]}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode(errors="replace").strip()


def find_engine() -> Engine:
    """The engine to use: the first rootless one of this machine that answers, else the first of it, else the first.

    SandboxError says why there is none.
    """
    found: list[Engine] = []
    reasons: list[str] = []
    for command in list_commands():
        try:
            engine = ask_engine(command)
        except SandboxError as error:
            reasons.append(str(error))
            continue
        if engine.rootless and not engine.elsewhere:
            return engine
        found.append(engine)
    if found:
        return min(found, key=lambda engine: bool(engine.elsewhere))
    if not reasons:
        raise ContainerProblem("neither `docker` nor `podman` is installed", "sudo apt-get install podman")
    raise SandboxError("; ".join(dict.fromkeys(reasons)))


def list_commands() -> Iterator[tuple[str, ...]]:
    """Commands that may reach an engine, those of rootless engines first."""
    path = os.pathsep.join(filter(os.path.isabs, os.get_exec_path()))  # never a program of the current folder
    docker, podman = shutil.which("docker", path=path), shutil.which("podman", path=path)
    if docker and any(os.environ.get(name) for name in NAMED_BY):
        yield (docker,)
        return
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{get_user()[0]}")
    own = [path for path in (runtime / "docker.sock", runtime / "podman" / "podman.sock") if path.is_socket()]
    yield from ((docker, "--host", f"unix://{path}") for path in own if docker)
    if docker:
        yield (docker,)
    if podman:
        yield (podman,)
    shared = Path("/run/podman/podman.sock")
    if docker and not podman and os.access(shared, os.W_OK):
        yield (docker, "--host", f"unix://{shared}")


def ask_engine(command: tuple[str, ...]) -> Engine:
    """The engine behind a command, as it describes itself."""
    is_podman = Path(command[0]).name == "podman"
    words = ["info", "--format", "json" if is_podman else "{{json .}}"]
    try:
        done = subprocess.run([*command, *words], capture_output=True, timeout=ANSWER_SECONDS, check=False)
        info: dict[str, Any] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"{Path(command[0]).name} does not answer") from error
    problems = info.get("ServerErrors")
    if problems or done.returncode:
        raise SandboxError(str(problems[0] if problems else done.stderr.decode(errors="replace").strip()))
    return read_podman(command, info) if is_podman else read_docker(command, info)


def read_docker(command: tuple[str, ...], info: dict[str, Any]) -> Engine:
    """What Docker, or Podman behind its Docker socket, says of itself."""
    options = [str(option) for option in info.get("SecurityOptions") or ()]
    logs = (info.get("Plugins") or {}).get("Log") or ()
    return Engine(
        command=command,
        name="podman" if PODMAN_ONLY in logs else "docker",
        version=str(info.get("ServerVersion", "")),
        rootless="name=rootless" in options,
        memory=bool(info.get("MemoryLimit")),
        processes=bool(info.get("PidsLimit")),
        cgroup=str(info.get("CgroupVersion") or "1"),
        selinux="name=selinux" in options,
        kernel=str(info.get("KernelVersion", "")),
        system=str(info.get("OperatingSystem", "")),
        machine=str(info.get("Architecture", "")),
    )


def read_podman(command: tuple[str, ...], info: dict[str, Any]) -> Engine:
    """What the podman command says of its engine."""
    host: dict[str, Any] = info.get("host") or {}
    security: dict[str, Any] = host.get("security") or {}
    controllers = host.get("cgroupControllers") or ()
    rootful_first = str(host.get("cgroupVersion")) == "v1" and not security.get("rootless")
    return Engine(
        command=command,
        name="podman",
        version=str((info.get("version") or {}).get("Version", "")),
        rootless=bool(security.get("rootless")),
        memory=rootful_first or "memory" in controllers,
        processes=rootful_first or "pids" in controllers,
        cgroup=str(host.get("cgroupVersion", "v2")).removeprefix("v"),
        selinux=bool(security.get("selinuxEnabled")),
        kernel=str(host.get("kernel", "")),
        system="a virtual machine" if host.get("serviceIsRemote") else str(host.get("os", "")),
        machine=PROCESSORS.get(str(host.get("arch")), ""),
    )
