"""The kinds of job a cell knows. Each runs in a fresh process and never returns to the server."""

# ruff: noqa: PTH100, PTH101, PTH102, PTH103, PTH108, PTH112, PTH120, PTH123, PTH208

import json
import os
import sys
from collections.abc import Callable
from typing import Any


def read_all(fd: int) -> bytes:
    """Everything in a file of the job, which is closed after."""
    with os.fdopen(fd, "rb") as file:
        return file.read()


def run(job: dict[str, Any], fds: list[int], settings: dict[str, Any]) -> None:
    """Put the files in the folder and become the command."""
    content, output = fds
    given = json.loads(read_all(content))
    for name, text in given["files"].items():
        write(name, text)
    argv = given["argv"]
    program = sys.executable if argv[0] in ("python", "python3") else argv[0]
    nowhere = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((nowhere, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.environ["PYTHONPATH"] = settings["packages"]
    os.closerange(3, 65536)
    try:
        os.execvp(program, argv)
    except (OSError, ValueError) as error:
        os.write(2, f"cannot run {argv[0]!r}: {error}\n".encode())
        os._exit(127)


def write(name: str, text: str) -> None:
    """One file of the job, below its folder and nowhere else."""
    path = os.path.normpath(name)
    if path.startswith(("/", "..")):
        raise ValueError(f"{name!r} is not below the job's folder")
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)


def grade(job: dict[str, Any], fds: list[int], settings: dict[str, Any]) -> None:
    """Judge code by tests."""
    from burnish.sandbox.inside import judge  # judge reads its files with our read_all

    judge.main(job, fds)


WORK: dict[str, Callable[[dict[str, Any], list[int], dict[str, Any]], None]] = {"run": run, "grade": grade}
