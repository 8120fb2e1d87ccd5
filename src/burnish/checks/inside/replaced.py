"""Another text for one file of the project, whatever name it is imported by. The file itself stays as it is.

A process that the tests start as `python …` reads the other text too; one that opens the file reads what is there.
"""

from __future__ import annotations

import io
import linecache
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

START = "sitecustomize"


class Replaced(MetaPathFinder):
    """Goes before every other finder, and speaks only for its file."""

    def __init__(self, path: str, text: str) -> None:
        self.path = os.path.realpath(path)
        self.text = text
        lines = io.StringIO(text, newline="").readlines()  # `splitlines` would break at form feeds too
        linecache.cache[path] = linecache.cache[self.path] = (len(text), None, lines, path)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own spec with another text, or nothing."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or os.path.realpath(spec.origin) != self.path:
            return None
        spec.loader = Loader(fullname, spec.origin, self.text)
        return spec

    def be_first(self) -> None:
        """Before pytest's own finder too."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        sys.meta_path.insert(0, self)


class Loader(SourceFileLoader):
    """A module from a text that lies nowhere."""

    def __init__(self, fullname: str, path: str, text: str) -> None:
        super().__init__(fullname, path)
        self.text = text

    def get_code(self, fullname: str) -> CodeType:
        """Compiled anew, never from a cache."""
        code: CodeType = compile(self.text, self.path, "exec", dont_inherit=True)
        return code

    def get_source(self, fullname: str) -> str:
        """What tracebacks show."""
        return self.text


def replace(job: dict[str, Any], folder: Path) -> Replaced | None:
    """Begin to speak for the job's file, here and in the processes that the tests start."""
    known = job.get("replaced")
    if not known:
        return None
    path = os.path.join(job["root"], known["file"])  # noqa: PTH118
    home = folder / "burnish_start"
    home.mkdir()
    with (home / "text").open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(known["text"])
    (home / f"{START}.py").write_text(
        f"import os, sys\nsys.path.insert(0, {str(folder)!r})\n"
        f"from {__name__} import again\nsys.path.remove({str(folder)!r})\nagain({path!r}, {str(home)!r})\n"
    )
    os.environ["PYTHONPATH"] = os.pathsep.join([str(home), *job["paths"]])
    found = Replaced(path, known["text"])
    found.be_first()
    return found


def again(path: str, home: str) -> None:
    """In a process that a test started."""
    with open(os.path.join(home, "text"), encoding="utf-8", errors="surrogatepass", newline="") as file:  # noqa: PTH118, PTH123
        Replaced(path, file.read()).be_first()
