"""Where things are kept on this machine: what must last in `home`, what can be fetched again in `cache`.

What a user asked and what came of it is nobody else's business: such files and folders are for their owner alone.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path


def home() -> Path:
    """The folder of runs and their index; `BURNISH_HOME` moves it. It may not exist yet."""
    return _folder("BURNISH_HOME", "user_data_dir")


def cache() -> Path:
    """The folder of weights and other things that can be fetched again; `BURNISH_CACHE` moves it."""
    return _folder("BURNISH_CACHE", "user_cache_dir")


def models() -> Path:
    """The folder of weights."""
    return cache() / "models"


def cores_lock() -> Path:
    """The file whose lock says which process generates. Nothing moves it: all of a user's processes must share it."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("burnish", appauthor=False)) / "cores.lock"


def hub() -> str:
    """The address of the Hugging Face hub; `HF_ENDPOINT` names a mirror of it, as it does for every hub client."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def _folder(variable: str, usual: str) -> Path:
    named = os.environ.get(variable)
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs

    return Path(getattr(platformdirs, usual)("burnish", appauthor=False))


def make_private(folder: Path, exist_ok: bool = True) -> None:
    """Make a folder that only its owner may enter; one of ours that is there already is closed to everybody else."""
    try:
        folder.mkdir(mode=0o700, parents=True)
        folder.chmod(0o700)  # whatever the umask is
    except FileExistsError:
        if not exist_ok or not folder.is_dir():
            raise
        close_to_others(folder)


def close_to_others(path: Path) -> None:
    """Take all rights from everybody but the owner; a place that knows no rights, or is somebody else's, stays."""
    with suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            path.chmod(mode & ~0o077)


def open_private(path: Path, flags: int) -> int:
    """The descriptor of a file that only its owner may read, from the moment when it is made. No link is followed."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with suppress(OSError):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):  # a device would be changed for everybody
            os.fchmod(descriptor, 0o600)
    return descriptor
