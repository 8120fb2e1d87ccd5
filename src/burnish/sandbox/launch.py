"""Starts bubblewrap. A small program of its own: `python -IS launch.py '{"argv": …}'`.

Process limits do not bind root, not even in a user namespace. So as root this program first gives the folders
the cell will see a place that everybody may read (bind mounts that only this process and its children have), and then
becomes a user that owns nothing. Its one rule: standard library only, nothing of Burnish.
"""

# ruff: noqa: PTH100, PTH101, PTH102, PTH103, PTH108, PTH112, PTH120, PTH123, PTH208

import contextlib
import ctypes
import json
import os
import sys

CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
STAGES = ("/mnt", "/tmp", "/run")
SOURCES = ("--ro-bind",)
"""A word of the command that names a folder of this machine comes after one of these."""

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Join the control groups, stand back, become nobody if root, and turn into bubblewrap."""
    plan = json.loads(sys.argv[1])
    for tasks in plan["cgroups"]:
        with open(tasks, "w") as file:
            file.write(str(os.getpid()))
    # On kernels that weigh each session as one (`autogroup`) others go first; in a cell /proc is read-only.
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as file:
        file.write(str(plan["niceness"]))
    argv = plan["argv"]
    if os.getuid() == 0:
        moved = stage(plan["folders"])
        # Moved folders are named where they are now; bubblewrap itself may lie in one of them.
        program = next((argv[0].replace(old, new, 1) for old, new in moved.items() if argv[0].startswith(old)), argv[0])
        pairs = zip(argv, argv[1:], strict=False)
        argv = [program, *(moved.get(word, word) if before in SOURCES else word for before, word in pairs)]
        os.setgroups([])
        os.setresgid(plan["uid"], plan["uid"], plan["uid"])
        os.setresuid(plan["uid"], plan["uid"], plan["uid"])
    os.execve(argv[0], argv, {})


def stage(folders: list[str]) -> dict[str, str]:
    """Bind each folder to a place any user can reach, in a mount namespace of our own; says which went where."""
    check(libc.unshare(CLONE_NEWNS), "unshare")
    opened = [os.open(folder, os.O_PATH) for folder in folders]
    mount(None, "/", MS_REC | MS_PRIVATE)
    top = next(place for place in STAGES if os.path.isdir(place))
    mount("tmpfs", top, 0, "tmpfs")
    os.chmod(top, 0o755)
    moved = {}
    for number, (folder, handle) in enumerate(zip(folders, opened, strict=True)):
        place = f"{top}/{number}"
        os.mkdir(place, 0o755)
        mount(f"/proc/self/fd/{handle}", place, MS_BIND)
        os.close(handle)
        moved[folder] = place
    return moved


def mount(source: str | None, target: str, flags: int, kind: str | None = None) -> None:
    """Mount something, or raise."""
    words = [word.encode() if word is not None else None for word in (source, target, kind)]
    check(libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), None), f"mount {target}")


def check(result: int, doing: str) -> None:
    """Raise what the C library meant by -1."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{doing}: {os.strerror(number)}")


if __name__ == "__main__":
    main()
