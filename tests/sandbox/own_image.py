"""An image with a system of its own: this machine's Python and pytest, copied to places where this machine has none."""

import io
import os
import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

from burnish.sandbox import bubblewrap
from burnish.sandbox.docker.engine import Engine

NAME = "burnish-test-own:1"
HOME = "usr/own"
PYTHON = f"/{HOME}/bin/python3"
FOLDERS = ("cell", "tmp", "work", "dev", "etc", "proc", "sys", "usr", "usr/local", "usr/local/bin")
TOOLS = (
    "cat",
    "chmod",
    "echo",
    "grep",
    "id",
    "kill",
    "ln",
    "ls",
    "mkdir",
    "mv",
    "nice",
    "rm",
    "sleep",
    "touch",
    "true",
)
LEFT_OUT = {"test", "site-packages", "idlelib", "tkinter", "ensurepip", "lib2to3", "__pycache__"}


def import_own_image(engine: Engine, name: str = NAME) -> str:
    """Its name, once the engine has it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as tar:
        files = dict(_files())
        above = {str(folder) for place in files.values() for folder in Path(place).parents if folder.parts}
        for folder in sorted({*above, *FOLDERS}):
            _folder(tar, folder)
        for source, place in files.items():
            tar.add(source, place, filter=_wanted)
        for link in ("usr/local/bin/python3", "usr/local/bin/python", "usr/bin/python3"):
            _link(tar, link, PYTHON)
    engine.ask("import", "-", name, given=buffer.getvalue(), seconds=200)
    return name


def _files() -> Iterator[tuple[str, str]]:
    """What is copied, and where to."""
    python, stdlib = bubblewrap.find_interpreter(), os.path.dirname(os.__file__)  # noqa: PTH120
    yield str(python), PYTHON[1:]
    yield stdlib, f"{HOME}/lib/{Path(stdlib).name}"
    packages = bubblewrap.find_packages()
    for name in (*bubblewrap.list_links(), "coverage"):
        for path in (packages / name, *packages.glob(f"{name}-*.dist-info")):
            yield str(path), f"packages/{path.name}"
    tools = ["/usr/bin/env", "/bin/sh", *(f"/bin/{tool}" for tool in TOOLS)]
    yield from ((tool, tool[1:]) for tool in tools)
    extensions = [str(file) for file in Path(stdlib, "lib-dynload").glob("*.so")]
    said = subprocess.run(["ldd", str(python), *tools, *extensions], capture_output=True, text=True).stdout
    for library in sorted(set(re.findall(r"(/\S+\.so\S*) \(0x", said))):
        yield library, library[1:]


def _wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = Path(entry.name).name
    entry.mode |= 0o555 if entry.isdir() else 0o444
    return None if name in LEFT_OUT or name.startswith("config-") else entry


def _folder(tar: tarfile.TarFile, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name in ("tmp", "work") else 0o755
    tar.addfile(entry)


def _link(tar: tarfile.TarFile, name: str, target: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    tar.addfile(entry)
