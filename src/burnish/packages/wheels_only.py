"""Runs pip as a process that starts no other. A program, not a module: python wheels_only.py PIP'S_RUNNER ARGUMENT…

`--only-binary` speaks of what an index has. A wheel may still name sources at an address as something that it needs;
pip would fetch and build those, which runs their code. Building is always done in another process, so none may start.
"""

import os
import resource
import runpy
import sys

MOST_MEMORY = 2 << 30
"""pip reads what a wheel says of itself as a whole, and a packed megabyte may be a gigabyte of that."""
REFUSED = "Burnish lets pip start no other program"
"""What pip's words then hold."""
STARTS = {
    "subprocess.Popen",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "pty.spawn",
}


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse to start a program; but `keyring`, which knows the user's password for the index, may answer."""
    if event in STARTS and not (event == "subprocess.Popen" and _is_keyring(arguments[1])):
        raise PermissionError(REFUSED)


def _is_keyring(command: object) -> bool:
    return isinstance(command, list) and os.path.basename(str(command[0])) == "keyring"  # noqa: PTH119


if __name__ == "__main__":
    sys.addaudithook(watch)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
