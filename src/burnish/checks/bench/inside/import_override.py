"""Another text, or other code, for files of the project, whatever name they are imported by. The files stay the same.

A process that the tests start as `python …` reads the other text too; one that opens the file reads what is there.
"""

# ruff: noqa: PTH102, PTH118, PTH123

from __future__ import annotations

import io
import linecache
import os
import sys
from collections.abc import Collection, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

real_path = cache(os.path.realpath)


class FileFinder:
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


class Loader(SourceFileLoader):
    """Loads what its finder gives in the place of a file, a text or a tree, never from a cache."""

    def __init__(self, fullname: str, path: str, finder: Any) -> None:
        super().__init__(fullname, path)
        self.finder = finder

    def get_code(self, fullname: str) -> CodeType:
        """Compiled anew."""
        code: CodeType = compile(self.finder.read_source(self), self.path, "exec", dont_inherit=True)
        return code


class TextOverride(FileFinder):
    """Answers for one file with a text that lies nowhere."""

    def __init__(self, path: str, text: str) -> None:
        self.path = os.path.realpath(path)
        self.paths = (self.path,)
        self.text = text
        lines = io.StringIO(text, newline="").readlines()  # `splitlines` would break at form feeds too
        linecache.cache[path] = linecache.cache[self.path] = (len(text), None, lines, path)

    def read_source(self, loader: Loader) -> str:
        """Our text; tracebacks and `inspect` find it among the known lines."""
        return self.text


def start_override(job: dict[str, Any], folder: str) -> TextOverride | None:
    """Begin to answer for the job's file, here and in the processes that the tests start."""
    known = job.get("replaced")
    if not known:
        return None
    path, home = os.path.join(job["root"], known["file"]), os.path.join(folder, "burnish_start")
    os.mkdir(home)
    with open(os.path.join(home, "sitecustomize.py"), "w", encoding="ascii") as file:
        file.write(
            f"import sys\nsys.path.insert(0, {folder!a})\n"
            f"from {__name__} import TextOverride\nsys.path.remove({folder!a})\n"
            f"TextOverride({path!a}, {known['text']!a}).be_first()\n"
        )
    os.environ["PYTHONPATH"] = os.pathsep.join([home, *job["paths"]])
    override = TextOverride(path, known["text"])
    override.be_first()
    return override
