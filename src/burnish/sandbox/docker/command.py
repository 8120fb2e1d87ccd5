"""What makes a container: its image, and the command line that says what it sees, what it may not do, and who it is.

The command must come to the same as `bubblewrap.build_command`; the attack battery runs over both.

The image is almost nothing, made here without any registry. It holds empty folders, the links of this system (`/bin`
to `usr/bin`) and those to pytest and what it needs; the system itself, the interpreter and its packages are bound
into each container read-only, just as bubblewrap does it. So the image has a few kilobytes, is made in a tenth of a
second and can never be behind the packages. Whoever would rather have a system of its own in the container builds one
from the Dockerfile beside this file and names it in BURNISH_DOCKER_IMAGE.
"""

import base64
import csv
import hashlib
import io
import json
import os
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from burnish.errors import SandboxError
from burnish.sandbox import bubblewrap, cgroups, seccomp, start
from burnish.sandbox.docker.engine import BUILD_IMAGE, ContainerProblem, Engine
from burnish.sandbox.inside.bounds import SERVER_FILES
from burnish.sandbox.sandbox import JobLimits
from burnish.system import MOUNTS, SYSCTL, count_allowed_files, get_user

NAME = "burnish-cell"
PYTHON_IMAGE, VERSION = "burnish-python", "{}.{}".format(*sys.version_info)
"""What the image is called that engines with another kernel have from the Dockerfile beside this file."""
FOLDER = Path(__file__).parent
NAMED_BY = "BURNISH_DOCKER_IMAGE"
FOLDERS = ("dev", "etc", "proc", "sys", "tmp", "work", "cell", "packages", "installed", "layer")
OPEN = ("tmp", "work")
"""Engines give what they mount there the mode of the folder below."""
CONTROL = "/control"
"""Where a container sees the one socket it may call, once."""
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY")
"""What an engine's command may put into containers, with passwords."""
NOBODY = "192.0.2.1"
"""An address that no machine has, for a container that may not know whom others ask for names."""
EMPTY_FILES = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")
"""What engines put into every container and no cell needs."""
EMPTY_FOLDERS = ("/sys", "/sys/fs/cgroup", "/dev/mqueue", "/run", "/var/tmp")
"""What engines show of the kernel, and what Podman would make writable beside what is asked for."""
WRITABLE = ("/tmp", "/dev/shm", "/work")
IPV6 = SYSCTL / "net/ipv6/conf/lo"
ENV = "/usr/bin/env"
MANY = "nproc=32768:32768"
"""Podman sets a limit of its own otherwise, and fails where that is more than it may have itself."""


def find_own_image() -> str:
    """The image the user named; "" for ours."""
    return os.environ.get(NAMED_BY, "")


def has_own_python(engine: Engine) -> bool:
    """Whether containers have a Python of their image's, and see nothing of this machine's."""
    return bool(find_own_image() or engine.elsewhere)


def ensure_image(engine: Engine) -> str:
    """The name of an image the engine has: the user's, or ours, made now if this layout was never made before.

    SandboxError for an image with volumes, or one that the engine does not have; nothing is ever fetched.
    """
    name = find_own_image()
    if not name and engine.elsewhere:
        name = f"{PYTHON_IMAGE}:{VERSION}"
        try:
            engine.ask("image", "inspect", "--format", "{{.Id}}", name)
        except SandboxError as error:
            words = f"{engine.title} sees no Python of this machine, and has no image {name} with one of its own"
            build = f"{Path(engine.command[0]).name} build --tag {name} --build-arg BASE=python:{VERSION}-slim {FOLDER}"
            raise ContainerProblem(words, build) from error
    elif not name:
        content = build_image()
        name = f"{NAME}:{hashlib.sha256(content).hexdigest()[:12]}"
        try:
            engine.ask("image", "inspect", "--format", "{{.Id}}", name)
        except SandboxError:
            engine.ask("import", "-", name, given=content)
    volumes = json.loads(engine.ask("image", "inspect", "--format", "{{json .Config.Volumes}}", name)) or {}
    if volumes:
        # A volume is on this machine's disk and has no size: jobs could fill it, and the next would find it there.
        words = f"the image {name} has a volume ({', '.join(volumes)}), where jobs could leave something"
        raise ContainerProblem(words, BUILD_IMAGE)
    return name


def build_image(root: Path = Path("/")) -> bytes:
    """The image as a tar file, the same bytes each time for the same layout of the system."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for folder in (*bubblewrap.SYSTEM, *FOLDERS):
            path = root / folder.lstrip("/")
            entry = tarfile.TarInfo(folder.lstrip("/"))
            entry.mode = 0o1777 if folder in OPEN else 0o755
            if folder in bubblewrap.SYSTEM and path.is_symlink():
                entry.type, entry.linkname = tarfile.SYMTYPE, str(path.readlink())
            elif folder in bubblewrap.SYSTEM and not path.is_dir():
                continue
            else:
                entry.type = tarfile.DIRTYPE
            tar.addfile(entry)
        for name, target in bubblewrap.list_links().items():
            link = tarfile.TarInfo(f"packages/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
    return buffer.getvalue()


def build_command(
    engine: Engine, limits: JobLimits, name: str, mounts: Sequence[str], filtered: bool = True
) -> list[str]:
    """Everything before the image's name and what runs in it. The engine's own socket is never among what is seen."""
    return [
        *(*engine.command, "run", "--rm", "--pull", "never", "--name", name),
        *list_isolation_options(engine, filtered),
        *list_limit_options(engine, limits),
        *list_tmpfs_options(engine, limits),
        *mounts,
    ]


def list_isolation_options(engine: Engine, filtered: bool) -> list[str]:
    """Namespaces of its own, no network, no capabilities, nobody, and nothing of it in any log."""
    who = ["--user", "{}:{}".format(*choose_user(engine)), "--hostname", "cell", "--workdir", "/work"]
    who += ["--userns", "keep-id", "--passwd=false"] if engine.maps_us else []  # else it would tell our user's name
    spaces = ["--network", "none", "--ipc", "private", "--cgroupns", "private"]
    powers = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    powers += [] if filtered else ["--security-opt", "seccomp=unconfined"]
    if engine.elsewhere:
        spaces += ["--interactive", "--dns", NOBODY, "--dns-search", "."]
        spaces += [word for proxy in PROXIES for name in (proxy, proxy.lower()) for word in ("--env", f"{name}=")]
    elif engine.selinux:
        powers += ["--security-opt", "label=disable"]  # else SELinux forbids the control socket
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


def choose_user(engine: Engine) -> tuple[int, int]:
    """Who the code is: a user that owns nothing if we are root, else ourselves where that can be, as in bubblewrap."""
    is_stranger = engine.elsewhere or get_user()[0] == 0 or (engine.rootless and not engine.maps_us)
    return (bubblewrap.CELL_UID, bubblewrap.CELL_UID) if is_stranger else get_user()


def list_limit_options(engine: Engine, limits: JobLimits) -> list[str]:
    """The limits on the whole container that this engine can set."""
    memory = str(limits.memory_bytes + cgroups.OWN_BYTES)
    words = ["--memory", memory, "--memory-swap", memory] if engine.memory else []
    # A rootless engine of this machine has no more than we have.
    files = SERVER_FILES if engine.elsewhere else min(SERVER_FILES, count_allowed_files() or SERVER_FILES)
    words += ["--ulimit", f"nofile={files}:{files}"]  # of process 1; a job has less
    words += ["--ulimit", MANY] if engine.name == "podman" else []
    if limits.loopback and not engine.elsewhere and IPV6.exists():
        words += ["--sysctl", "net.ipv6.conf.lo.disable_ipv6=0"]  # engines without a network switch ::1 off
    return words + (["--pids-limit", str(limits.processes + cgroups.OWN_PROCESSES)] if engine.processes else [])


def list_tmpfs_options(engine: Engine, limits: JobLimits) -> list[str]:
    """The three places that can be written, each with a size, and emptiness over what engines add."""
    whose = "uid={},gid={},".format(*choose_user(engine)) if engine.name == "docker" else ""  # podman takes no owner
    own = [f"{folder}:rw,exec,nosuid,nodev,mode=1777,{whose}size={limits.folder_bytes}" for folder in WRITABLE]
    empty = [f"{folder}:ro,noexec,nosuid,nodev,mode=0555,size=4k" for folder in EMPTY_FOLDERS]
    return [word for place in (*own, *empty) for word in ("--tmpfs", place)]


def list_mount_options(engine: Engine, limits: JobLimits, socket: str, folders: Mapping[str, str]) -> list[str]:
    """Read-only binds: the system as bubblewrap shows it (or our own files only, with an image of the user's)."""
    pairs = [*(list_system_mounts() if not find_own_image() else [(str(bubblewrap.INSIDE), bubblewrap.CELL_INSIDE)])]
    pairs += [pair for one in folders.items() for pair in list_mounts_below(*one)]
    refuse_closed_folders(engine, [source for source, _ in pairs])
    own = {f"/etc/{name}": f"{bubblewrap.INSIDE}/loopback/{name}" for name in bubblewrap.list_name_files(limits)}
    pairs += [(source, name) for name, source in {**dict.fromkeys(EMPTY_FILES, "/dev/null"), **own}.items()]
    return [word for pair in [*pairs, (socket, CONTROL)] for word in ("--mount", format_bind(*pair))]


def list_system_mounts() -> Iterator[tuple[str, str]]:
    """The system's folders and files, the interpreter, its packages and our own files, and where they are seen."""
    for folder in bubblewrap.SYSTEM:
        if Path(folder).is_dir() and not Path(folder).is_symlink():
            yield from list_mounts_below(folder, folder)
    yield from ((name, name) for name in bubblewrap.SYSTEM_FILES if Path(name).exists())
    for source, place in bubblewrap.list_visible_folders().items():
        yield from list_mounts_below(source, place)


def list_mounts_below(source: str, place: str, mounts: Path = MOUNTS) -> Iterator[tuple[str, str]]:
    """A folder and what is mounted below it, each bound by itself: older engines make only the top read-only."""
    yield source, place
    points = [line.split()[4].replace("\\040", " ") for line in mounts.read_text().splitlines()]
    for point in sorted(set(points)):
        if Path(point) != Path(source) and Path(point).is_relative_to(source) and Path(point).is_dir():
            yield point, str(Path(place) / Path(point).relative_to(source))


def refuse_closed_folders(engine: Engine, sources: list[str]) -> None:
    """SandboxError for a folder of ours that the container's user may not enter. As root, closed ones are copied."""
    if get_user()[0] in (0, choose_user(engine)[0]):
        return
    for source in map(Path, sources):
        if source.is_dir() and source.stat().st_mode & 0o005 != 0o005:
            words = f"{source} is closed to others, and in {engine.title} the code is another user"
            raise ContainerProblem(words, "chmod o+rx FOLDER")


def format_bind(source: str, place: str) -> str:
    """One read-only bind, as the engine's command reads it: a row of comma-separated values."""
    row = io.StringIO()
    csv.writer(row, lineterminator="").writerow(["type=bind", f"source={source}", f"target={place}", "readonly"])
    return row.getvalue()


def build_inner_command(file: str, settings: str, own: bool) -> list[str]:
    """What runs in the container: a file of ours, in an empty environment but for what a program needs."""
    variables = bubblewrap.make_environment() | ({"PATH": "/usr/local/bin:/usr/bin:/bin"} if own else {})
    python = "python3" if own else str(bubblewrap.find_interpreter())
    words = [f"{name}={value}" for name, value in variables.items()]
    return ["-i", *words, python, "-sSB", f"{bubblewrap.CELL_INSIDE}/{file}", settings]


def make_settings(engine: Engine, limits: JobLimits, layer: Path | None, call: str, filtered: bool = True) -> str:
    """What the server in a container must know; whom to call, or "" if it is to use its standard input and output."""
    # Processes are counted by the engine where it can, else by the kernel for each user.
    counted = limits.model_copy(update={"processes": 0}) if engine.processes else limits
    machine = engine.machine if engine.elsewhere else None
    program = (seccomp.build_program(machine, loopback=limits.loopback) if filtered else None) or b""
    settings = start.make_isolated_settings(counted, -1, layer, engine.kernel if engine.elsewhere else "")
    return json.dumps(settings | {"call": call, "filter": base64.b64encode(program).decode()})
