"""Another text, or other code, for files of the project, whatever name they are imported by. The files stay the same.

A process that the tests start as `python …` reads the other text too; one that opens the file reads what is there.
"""

from __future__ import annotations

import io
import linecache
import os
import sys
from collections.abc import Collection, Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

START = "sitecustomize"
real_path = cache(os.path.realpath)


class FileFinder(MetaPathFinder):
    """Goes before every other finder, and answers only for its files."""

    paths: Collection[str] = ()
    """With links resolved."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own spec with our loader, or nothing."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or real_path(spec.origin) not in self.paths:
            return None
        spec.loader = Loader(fullname, spec.origin, self)
        return spec

    def be_first(self) -> None:
        """Before pytest's own finder too."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        sys.meta_path.insert(0, self)

    def read_source(self, loader: Loader) -> str | bytes:
        """The text of a file, as tracebacks show it."""
        return loader.get_data(loader.path)

    def compile_file(self, loader: Loader) -> CodeType:
        """The code of a file."""
        code: CodeType = compile(self.read_source(loader), loader.path, "exec", dont_inherit=True)
        return code


class Loader(SourceFileLoader):
    """Loads a file as its finder says, never from a cache."""

    def __init__(self, fullname: str, path: str, finder: FileFinder) -> None:
        super().__init__(fullname, path)
        self.finder = finder

    def get_code(self, fullname: str) -> CodeType:
        """Compiled anew."""
        return self.finder.compile_file(self)

    def get_source(self, fullname: str) -> str | None:
        """What tracebacks show."""
        text = self.finder.read_source(self)
        return text if isinstance(text, str) else super().get_source(fullname)


class TextOverride(FileFinder):
    """Answers for one file with a text that lies nowhere."""

    def __init__(self, path: str, text: str) -> None:
        self.path = os.path.realpath(path)
        self.paths = (self.path,)
        self.text = text
        lines = io.StringIO(text, newline="").readlines()  # `splitlines` would break at form feeds too
        linecache.cache[path] = linecache.cache[self.path] = (len(text), None, lines, path)

    def read_source(self, loader: Loader) -> str:
        """Our text."""
        return self.text


def start_override(job: dict[str, Any], folder: Path) -> TextOverride | None:
    """Begin to answer for the job's file, here and in the processes that the tests start."""
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
        f"from {__name__} import resume_override\nsys.path.remove({str(folder)!r})\n"
        f"resume_override({path!r}, {str(home)!r})\n"
    )
    os.environ["PYTHONPATH"] = os.pathsep.join([str(home), *job["paths"]])
    override = TextOverride(path, known["text"])
    override.be_first()
    return override


def resume_override(path: str, home: str) -> None:
    """In a process that a test started."""
    with open(os.path.join(home, "text"), encoding="utf-8", errors="surrogatepass", newline="") as file:  # noqa: PTH118, PTH123
        TextOverride(path, file.read()).be_first()
