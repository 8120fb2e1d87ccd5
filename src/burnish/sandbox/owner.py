"""Whose a container or a folder is, said by its name, so that the next Burnish can remove what a killed one left."""

import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from burnish.system import get_user, identify_machine, read_start_time

SHORT_TOP = "/tmp"
"""Where a folder is made whose path must be short, if the user's own place for such things has a long one."""


def make_name(prefix: str) -> str:
    """A new name: it says whose it is."""
    return f"{prefix}{identify_machine()}-{os.getpid()}-{read_start_time(os.getpid())}-{secrets.token_hex(4)}"


def is_left_over(name: str, prefix: str, is_shared: bool = False) -> bool:
    """True when the owner lived here and is no more, or the machine was started anew since.

    In a place that is shared with other machines, another start of this one cannot be told from one of those.
    """
    here = identify_machine()
    match name.removeprefix(prefix).split("-"):
        case [boot, namespace, pid, started, _] if name.startswith(prefix) and pid.isdigit():
            is_owner_gone = here == f"{boot}-{namespace}" and read_start_time(int(pid)) != started
            is_same_kind = (namespace == "0") == here.endswith("-0")  # what cannot read its start knows of no other
            return is_owner_gone or (not is_shared and is_same_kind and not here.startswith(f"{boot}-"))
    return False


def make_folder(prefix: str, longest: int = 4096) -> Path:
    """A new folder that only this user can enter, with a path of at most so many bytes if that can be had."""
    name = make_name(prefix)
    folder = Path(tempfile.gettempdir()) / name
    if len(os.fsencode(folder)) > longest:
        folder = Path(SHORT_TOP) / name
    folder.mkdir(mode=0o700)
    return folder


def remove_left_folders(prefix: str) -> None:
    """Remove the folders of a Burnish of this user's that is no more; what cannot be removed stays.

    Root could remove anybody's, and another's processes may be hidden from us: a name is not enough.
    """
    for top in {tempfile.gettempdir(), SHORT_TOP}:
        for folder in Path(top).glob(f"{prefix}*"):
            with suppress(FileNotFoundError):  # another Burnish that starts now has removed it
                if is_left_over(folder.name, prefix) and folder.lstat().st_uid == get_user()[0]:
                    shutil.rmtree(folder, ignore_errors=True)
