"""The image of a container: almost nothing, made here without any registry.

It holds empty folders, the links of this system (`/bin` to `usr/bin`) and those to pytest and what it needs; the
system itself, the interpreter and its packages are bound into each container read-only, just as bubblewrap does it. So
the image has a few kilobytes, is made in a tenth of a second and can never be behind the packages. Whoever would rather
have a system of its own in the container builds one from the Dockerfile beside this file and names it in
BURNISH_DOCKER_IMAGE.
"""

import hashlib
import io
import json
import os
import tarfile
from pathlib import Path

from burnish.errors import SandboxError
from burnish.sandbox import bubblewrap
from burnish.sandbox.docker.engine import Engine

NAME = "burnish-cell"
NAMED_BY = "BURNISH_DOCKER_IMAGE"
FOLDERS = ("dev", "etc", "proc", "sys", "tmp", "work", "cell", "packages", "installed", "layer")
OPEN = ("tmp", "work")
"""Engines give what they mount there the mode of the folder below."""


def own() -> str:
    """The image the user named; "" for ours."""
    return os.environ.get(NAMED_BY, "")


def ensure(engine: Engine) -> str:
    """The name of an image the engine has: the user's, or ours, made now if this layout was never made before."""
    if own():
        must_have_no_volumes(engine, own())
        return own()
    content = layout()
    name = f"{NAME}:{hashlib.sha256(content).hexdigest()[:12]}"
    try:
        engine.ask("image", "inspect", "--format", "{{.Id}}", name)
    except SandboxError:
        engine.ask("import", "-", name, given=content)
    must_have_no_volumes(engine, name)
    return name


def must_have_no_volumes(engine: Engine, name: str) -> None:
    """SandboxError for an image with volumes, or one that the engine does not have; nothing is ever fetched.

    A volume is on this machine's disk and has no size; jobs could fill it, and the next would find what one left there.
    """
    volumes = json.loads(engine.ask("image", "inspect", "--format", "{{json .Config.Volumes}}", name)) or {}
    if volumes:
        raise SandboxError(f"the image {name} has a volume ({', '.join(volumes)}), where jobs could leave something")


def layout(root: Path = Path("/")) -> bytes:
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
        for name, target in bubblewrap.links().items():
            link = tarfile.TarInfo(f"packages/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
    return buffer.getvalue()
