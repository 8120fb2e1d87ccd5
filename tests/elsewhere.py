"""Burnish as it is on a system without what only Linux has: `python -P elsewhere.py darwin|bare write "…"`.

Our own modules see another `os` and `sys`, and no `fcntl` and `resource`; nobody can read /proc. "bare" still lets
processes be cells, so that the plain process sandbox works; "darwin" does not, and says that it is macOS.
Libraries of others are left alone: each of them knows its systems itself.
"""

import builtins
import os
import runpy
import sys
import types
from typing import Any

MISSING = {"sched_getaffinity", "sched_setaffinity", "geteuid", "pipe2", "waitid", "fork"}
OF_CELLS = {"memfd_create", "MFD_CLOEXEC", "pidfd_open", "O_PATH"}
REFUSED = {"fcntl", "resource"}


class Without(types.ModuleType):
    """A module that has what the real one has, but for some names."""

    def __init__(self, real: types.ModuleType, missing: set[str], **other: Any) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(other)
        self._real, self._missing = real, missing

    def __getattr__(self, name: str) -> Any:
        if name in self._missing:
            raise AttributeError(name)
        return getattr(self._real, name)


def leave_linux(kind: str) -> None:
    """From now on what is imported of Burnish finds no Linux."""
    darwin = kind == "darwin"
    ours = {"os": Without(os, MISSING | (OF_CELLS if darwin else set()))}
    ours |= {"sys": Without(sys, set(), platform="darwin")} if darwin else {}
    find, stat = builtins.__import__, os.stat

    def find_other(name: str, *given: Any, **named: Any) -> types.ModuleType:
        who = str(((given[0] if given else named.get("globals")) or {}).get("__name__"))
        if who.startswith("burnish.") and (darwin or ".inside." not in who):
            if name in REFUSED:
                raise ImportError(f"no {name} here")
            if name in ours:
                return ours[name]
        return find(name, *given, **named)

    def refuse(path: Any) -> None:
        if isinstance(path, str | os.PathLike) and str(path).startswith("/proc"):
            raise FileNotFoundError(2, "No such file or directory", str(path))

    def stat_other(path: Any, **options: Any) -> os.stat_result:
        refuse(path)
        return stat(path, **options)

    builtins.__import__ = find_other
    os.stat = stat_other  # type: ignore[assignment]
    sys.addaudithook(lambda event, given: refuse(given[0]) if event == "open" else None)


if __name__ == "__main__":
    kind, *words = sys.argv[1:]
    leave_linux(kind)
    sys.argv = ["burnish", *words]
    if words[0] == "-c":
        exec(words[1])
    else:
        runpy.run_module("burnish", run_name="__main__")
