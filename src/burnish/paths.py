"""Where things are kept on this machine, and how files are written there.

What must last is in `home`, what can be fetched again in `cache`. What a user asked and what came of it is
private: such files and folders are for their owner alone.
"""

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PRIVATE_MODE = 0o600
"""For files that only their owner may read."""


def home() -> Path:
    """The folder of runs and their index; `BURNISH_HOME` moves it. It may not exist yet."""
    return _folder("BURNISH_HOME", "user_data_dir")


def cache() -> Path:
    """The folder of weights and other things that can be fetched again; `BURNISH_CACHE` moves it."""
    return _folder("BURNISH_CACHE", "user_cache_dir")


def _folder(variable: str, default: str) -> Path:
    if named := os.environ.get(variable):
        return Path(named).expanduser().absolute()
    import platformdirs

    return Path(getattr(platformdirs, default)("burnish", appauthor=False))


def hub_address() -> str:
    """The address of the Hugging Face hub; `HF_ENDPOINT` names a mirror of it, as it does for every hub client."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def make_private_folder(folder: Path, exist_ok: bool = True) -> None:
    """Make a folder that only its owner may enter; one of ours that is there already is closed to everybody else."""
    try:
        folder.mkdir(mode=0o700, parents=True)
        folder.chmod(0o700)  # whatever the umask is
    except FileExistsError:
        if not exist_ok or not folder.is_dir():
            raise
        close_to_others(folder)


def close_to_others(path: Path) -> None:
    """Take all rights from everybody but the owner, if this user and the file system can do that."""
    with suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            path.chmod(mode & ~0o077)


def open_private_file(path: Path, flags: int) -> int:
    """The descriptor of a file that only its owner may read, from the moment when it is made. No link is followed."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_MODE)
    with suppress(OSError):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):  # a device would be changed for everybody
            os.fchmod(descriptor, PRIVATE_MODE)
    return descriptor


def write_atomically(
    path: Path, content: bytes, mode: int = 0o666, prepare: Callable[[Path], None] | None = None
) -> None:
    """Write beside the file, make it last, then give it its name: a reader sees the old content or the new, whole.

    `prepare` is given the file beside just before it gets its name, and may raise to leave all as it is.
    The folder may come from a stranger, who can guess names: the file beside has a random one, and a link that
    lies under the final name is replaced, not followed.
    """
    beside = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if prepare:
            prepare(beside)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read_commit(source: Path = Path(__file__)) -> str:
    """The commit of the clone that a source file lies in, by its `.git` alone; empty where there is no clone."""
    git = source.resolve().parents[2] / ".git"
    with suppress(OSError, ValueError, StopIteration):
        if git.is_file():  # a worktree: HEAD is its own, the refs are those of the clone
            git = (git.parent / git.read_text("utf-8").removeprefix("gitdir:").strip()).resolve()
        head = (git / "HEAD").read_text("utf-8").strip()
        if not head.startswith("ref: "):
            return head
        shared = git / "commondir"
        common = git / shared.read_text("utf-8").strip() if shared.is_file() else git
        name = head.removeprefix("ref: ")
        if (common / name).is_file():
            return (common / name).read_text("utf-8").strip()
        packed = (common / "packed-refs").read_text("utf-8").splitlines()
        return next(line.split()[0] for line in packed if line.endswith(f" {name}"))
    return ""


def describe_origin() -> dict[str, str]:
    """What every results file says of how it came to be: commit, date and machine. No name of user or host is in it."""
    import platform
    from datetime import UTC, datetime

    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    return {"commit": read_commit(), "date": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine}
