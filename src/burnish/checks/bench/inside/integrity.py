"""Whether what judges is still what it was before the code was imported: pytest, coverage, what tests compare with, and
what answers are written with.

It makes cheating harder and no more: code that shares this process could change what looks as well.
"""

from __future__ import annotations

import builtins
import math
import os
import sys
from types import BuiltinFunctionType, FunctionType
from typing import Any

JUDGES = ("pytest", "_pytest", "pluggy", "coverage", "json", __name__.partition(".")[0])
OFTEN_REPLACED = ("print", "input", "open", "__import__", "breakpoint")
"""Builtins that honest programs put others in the place of."""
WRITERS = ((os, "write"), (os, "_exit"), (sys, "exit"))
Known = dict[tuple[str, str, str], tuple[Any, Any]]


def record_judges() -> Known:
    """The functions and methods of what judges, each with its code."""
    found: Known = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in JUDGES:
            for word, value in list(vars(module).items()):
                if isinstance(value, FunctionType):
                    found[name, "", word] = (value, code_of(value))
                elif isinstance(value, type) and value.__module__ == name:
                    methods = {key: one for key, one in vars(value).items() if code_of(one) is not None}
                    found.update({(name, word, key): (one, code_of(one)) for key, one in methods.items()})
    for module in (builtins, math):
        for word, value in vars(module).items():
            if isinstance(value, (BuiltinFunctionType, type)) and word not in OFTEN_REPLACED:
                found[module.__name__, "", word] = (value, None)
    return found | {(module.__name__, "", word): (getattr(module, word), None) for module, word in WRITERS}


def find_changes(known: Known, root: str) -> list[str]:
    """Names of what was replaced by something that is not an installed plugin's."""
    changed = []
    for (module, owner, word), (value, code) in known.items():
        holder = vars(sys.modules[module]).get(owner) if owner and module in sys.modules else sys.modules.get(module)
        now = getattr(holder, "__dict__", {}).get(word)
        if (now is not value or code_of(now) is not code) and not is_installed(now, root):
            changed.append(".".join(filter(None, (module, owner, word))))
    return changed


def code_of(value: Any) -> Any:
    """The code of a function, or of the function in a method, a class method or a property; else None."""
    inner = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
    return getattr(inner, "__code__", None)


def is_installed(value: Any, root: str) -> bool:
    """True for a function from a file outside of the project, or of its environment."""
    file = getattr(code_of(value), "co_filename", "")
    return file.startswith("/") and (not file.startswith(f"{root}/") or "/site-packages/" in file)
