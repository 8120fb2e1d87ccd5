"""The command line that makes a container: what it sees, what it may not do, and who it is.

It must come to the same as `bubblewrap.command`; the attack battery runs over both.
"""

import csv
import io
import os
import resource
from collections.abc import Iterator, Mapping
from pathlib import Path

from burnish.errors import SandboxError
from burnish.sandbox import bubblewrap, cgroups
from burnish.sandbox.docker import image
from burnish.sandbox.docker.engine import Engine
from burnish.sandbox.inside import bounds as server
from burnish.sandbox.limits import Limits

CONTROL = "/control"
"""Where a container sees the one socket it may call, once."""
EMPTY_FILES = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")
"""What engines put into every container and no cell needs."""
EMPTY_FOLDERS = ("/sys", "/sys/fs/cgroup", "/dev/mqueue", "/run", "/var/tmp")
"""What engines show of the kernel, and what Podman would make writable beside what is asked for."""
WRITABLE = ("/tmp", "/dev/shm", "/work")
MOUNTS = Path("/proc/self/mountinfo")
ENV = "/usr/bin/env"
MANY = "nproc=32768:32768"
"""Podman sets a limit of its own otherwise, and fails where that is more than it may have itself."""


def command(
    engine: Engine, limits: Limits, name: str, socket: str, folders: Mapping[str, str], filtered: bool = True
) -> list[str]:
    """Everything before the image's name and what runs in it. The engine's own socket is never among what is seen."""
    words = [*engine.command, "run", "--rm", "--pull", "never", "--name", name]
    return [
        *words,
        *alone(engine, filtered),
        *bounds(engine, limits),
        *places(engine, limits),
        *shown(engine, socket, folders),
    ]


def alone(engine: Engine, filtered: bool) -> list[str]:
    """Namespaces of its own, no network, no capabilities, nobody, and nothing of it in any log."""
    who = ["--user", "{}:{}".format(*user(engine)), "--hostname", "cell", "--workdir", "/work"]
    who += ["--userns", "keep-id", "--passwd=false"] if engine.maps_us else []  # else it would tell our user's name
    spaces = ["--network", "none", "--ipc", "private", "--cgroupns", "private"]
    powers = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    powers += [] if filtered else ["--security-opt", "seccomp=unconfined"]
    powers += ["--security-opt", "label=disable"] if engine.selinux else []  # else SELinux forbids the control socket
    return [
        *who,
        *spaces,
        *powers,
        "--read-only",
        "--init=false",
        "--no-healthcheck",
        "--log-driver",
        "none",
        "--entrypoint",
        ENV,
    ]


def user(engine: Engine) -> tuple[int, int]:
    """Who the code is: a user that owns nothing if we are root, else ourselves where that can be, as in bubblewrap."""
    is_stranger = os.getuid() == 0 or (engine.rootless and not engine.maps_us)
    return (bubblewrap.CELL_UID, bubblewrap.CELL_UID) if is_stranger else (os.getuid(), os.getgid())


def bounds(engine: Engine, limits: Limits) -> list[str]:
    """The limits on the whole container that this engine can set."""
    memory = str(limits.memory_bytes + cgroups.OWN_BYTES)
    words = ["--memory", memory, "--memory-swap", memory] if engine.memory else []
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # a rootless engine has no more either
    files = server.SERVER_FILES if allowed == resource.RLIM_INFINITY else min(server.SERVER_FILES, allowed)
    words += ["--ulimit", f"nofile={files}:{files}"]  # of process 1; a job has less
    words += ["--ulimit", MANY] if engine.name == "podman" else []
    return words + (["--pids-limit", str(limits.processes + cgroups.OWN_PROCESSES)] if engine.processes else [])


def places(engine: Engine, limits: Limits) -> list[str]:
    """The three places that can be written, each with a size, and emptiness over what engines add."""
    whose = "uid={},gid={},".format(*user(engine)) if engine.name == "docker" else ""  # podman takes no owner
    own = [f"{folder}:rw,exec,nosuid,nodev,mode=1777,{whose}size={limits.folder_bytes}" for folder in WRITABLE]
    empty = [f"{folder}:ro,noexec,nosuid,nodev,mode=0555,size=4k" for folder in EMPTY_FOLDERS]
    return [word for place in (*own, *empty) for word in ("--tmpfs", place)]


def shown(engine: Engine, socket: str, folders: Mapping[str, str]) -> list[str]:
    """Read-only binds: the system as bubblewrap shows it (or our own files only, with an image of the user's)."""
    pairs = [*(system() if not image.own() else [(str(bubblewrap.INSIDE), bubblewrap.CELL_INSIDE)])]
    pairs += [pair for one in folders.items() for pair in with_mounts_below(*one)]
    must_be_open(engine, [source for source, _ in pairs])
    pairs += [("/dev/null", name) for name in EMPTY_FILES]
    return [word for pair in [*pairs, (socket, CONTROL)] for word in ("--mount", bind(*pair))]


def system() -> Iterator[tuple[str, str]]:
    """The system's folders and files, the interpreter, its packages and our own files, and where they are seen."""
    for folder in bubblewrap.SYSTEM:
        if Path(folder).is_dir() and not Path(folder).is_symlink():
            yield from with_mounts_below(folder, folder)
    yield from ((name, name) for name in bubblewrap.SYSTEM_FILES if Path(name).exists())
    for source, place in bubblewrap.visible().items():
        yield from with_mounts_below(source, place)


def with_mounts_below(source: str, place: str, mounts: Path = MOUNTS) -> Iterator[tuple[str, str]]:
    """A folder and what is mounted below it, each bound by itself: older engines make only the top read-only."""
    yield source, place
    points = [line.split()[4].replace("\\040", " ") for line in mounts.read_text().splitlines()]
    for point in sorted(set(points)):
        if Path(point) != Path(source) and Path(point).is_relative_to(source) and Path(point).is_dir():
            yield point, str(Path(place) / Path(point).relative_to(source))


def must_be_open(engine: Engine, sources: list[str]) -> None:
    """SandboxError for a folder of ours that the container's user may not enter. As root, closed ones are copied."""
    if os.getuid() in (0, user(engine)[0]):
        return
    for source in map(Path, sources):
        if source.is_dir() and source.stat().st_mode & 0o005 != 0o005:
            raise SandboxError(f"{source} is closed to others, and in {engine.title} the code is another user")


def bind(source: str, place: str) -> str:
    """One read-only bind, as the engine's command reads it: a row of comma-separated values."""
    row = io.StringIO()
    csv.writer(row, lineterminator="").writerow(["type=bind", f"source={source}", f"target={place}", "readonly"])
    return row.getvalue()


def inner(settings: str) -> list[str]:
    """What runs in the container: our server, in an empty environment but for what a program needs."""
    python = "python3" if image.own() else str(bubblewrap.interpreter())
    words = [f"{name}={value}" for name, value in environment(Path(python).parent).items()]
    return ["-i", *words, python, "-sSB", f"{bubblewrap.CELL_INSIDE}/start.py", settings]


def environment(folder: Path) -> dict[str, str]:
    """The variables of a cell."""
    given = bubblewrap.environment()[1:]
    words = dict(zip(given[1::3], given[2::3], strict=True))
    return words if folder.is_absolute() else words | {"PATH": "/usr/local/bin:/usr/bin:/bin"}
