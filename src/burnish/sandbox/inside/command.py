"""A job that is a command: puts its files in the folder and becomes it."""

# ruff: noqa: PTH100, PTH101, PTH102, PTH103, PTH108, PTH112, PTH120, PTH123, PTH208

import json
import os
import sys
from typing import Any

from burnish.sandbox.inside import bounds

PYTHONS = ("python", "python3")


def become(fds: list[int], settings: dict[str, Any]) -> None:
    """Write the files, connect the output, and turn into the command. Returns only if that fails."""
    content, output = fds
    given = json.loads(read_all(content))
    nowhere = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((nowhere, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    bounds.close_all_but()
    argv = given["argv"]
    os.environ["PYTHONPATH"] = settings["commands"]
    os.environ["PYTHONNOUSERSITE"] = "1"  # else a `usercustomize` in a layer would run at every start
    os.environ["CELL_PACKAGES"] = os.pathsep.join(filter(None, (settings["layer"], settings["packages"])))
    try:
        for name, text in given["files"].items():
            write(name, text)
        os.execvp(sys.executable if argv[0] in PYTHONS else argv[0], argv)
    except (OSError, ValueError) as error:
        os.write(2, f"cannot run {argv[0]!r}: {error}\n".encode(errors="replace"))
        os._exit(127)


def read_all(fd: int) -> bytes:
    """Everything in a file of the job, which is closed after."""
    with os.fdopen(fd, "rb") as file:
        return file.read()


def write(name: str, text: str) -> None:
    """One file of the job, below its folder and nowhere else."""
    path = os.path.normpath(name)
    if path.startswith(("/", "..")):
        raise ValueError(f"{name!r} is not below the job's folder")
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)
