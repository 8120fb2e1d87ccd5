"""A small index of our own: tiny wheels made by hand (a wheel is a zip) in a folder that pip is pointed to."""

import base64
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path


class Shelf:
    """A folder of packages, as `PIP_FIND_LINKS` takes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def wheel(
        self,
        name: str,
        version: str = "1.0",
        needs: Sequence[str] = (),
        files: Mapping[str, str] | None = None,
        tag: str = "py3-none-any",
    ) -> Path:
        """A wheel with one module that knows its version, or with these files."""
        module = name.replace("-", "_")
        info = f"{module}-{version}.dist-info"
        held = dict(files or {f"{module}.py": f"VERSION = {version!r}\n"})
        wants = "".join(f"Requires-Dist: {need}\n" for need in needs)
        held[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{wants}"
        held[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: shelf\nRoot-Is-Purelib: true\nTag: {tag}\n"
        held[f"{info}/RECORD"] = "".join(map(_recorded, held.items())) + f"{info}/RECORD,,\n"
        file = self.folder / f"{module}-{version}-{tag}.whl"
        with zipfile.ZipFile(file, "w") as packed:
            for path, text in held.items():
                packed.writestr(path, text)
        return file

    def sdist(self, name: str, version: str, setup: str) -> Path:
        """Sources that run `setup` as soon as anybody asks what they need."""
        file = self.folder / f"{name}-{version}.tar.gz"
        with tarfile.open(file, "w:gz") as packed:
            for path, text in {"setup.py": setup, "PKG-INFO": f"Name: {name}\nVersion: {version}\n"}.items():
                member = tarfile.TarInfo(f"{name}-{version}/{path}")
                member.size = len(text.encode())
                packed.addfile(member, io.BytesIO(text.encode()))
        return file


def _recorded(held: tuple[str, str]) -> str:
    path, data = held[0], held[1].encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"
