"""Which names of the code tests see without importing them one by one: in a script of asserts, or by `import *`.

The code's names come first, before any statement of the tests, so whatever the tests import or define wins.
"""

import ast
import builtins
import dis
import importlib
import math
import re
import types
from collections.abc import Iterable
from typing import Any

from burnish.sandbox.inside import known
from burnish.sandbox.inside.remote import Solution

COMPARING = {"isclose": math.isclose}
"""Functions by which tests compare: a script that does not import one means this one."""
KNOWN_CLASSES = {name: kind for name, kind in known.TYPES.items() if not hasattr(builtins, name)}
"""Classes such as Decimal. Where the task says what it asks for, and not for one of these, tests mean Python's own."""
FRAMEWORKS = known.words("pytest approx unittest")
"""Names that never come from the code."""
READERS = known.words("eval exec globals locals vars")
"""Builtins that find a name by a text."""
STAR = re.compile(r"\bimport[\s\\]*\*")
LOADS = ("LOAD_NAME", "LOAD_GLOBAL")


def names_for(solution: types.ModuleType, used: set[str]) -> dict[str, Any]:
    """Those of the code's names that the tests use. `abs`, `math` or `isclose` is the real one."""
    if isinstance(solution, Solution):
        names, own = solution._names, solution._own.keys()
    else:
        names = vars(solution).keys()
        own = {name for name, value in vars(solution).items() if getattr(value, "__module__", "") == "solution"}
    wanted = {name for name in used & names if name[:2] != "__"} - FRAMEWORKS
    kinds = solution._asked.kinds if isinstance(solution, Solution) else {}
    foreign = {name for name in wanted & KNOWN_CLASSES.keys() if kinds and name not in kinds}
    given = choose_own(wanted - foreign, own)
    others = wanted - given - foreign
    return {
        **{name: getattr(solution, name) for name in given},
        **{name: KNOWN_CLASSES[name] for name in foreign},
        **{name: find_module(solution, name) for name in others & known.MODULES},
        **{name: COMPARING[name] for name in others & COMPARING.keys()},
    }


def choose_own(names: set[str], own: Iterable[str]) -> set[str]:
    """Names that mean what the code says. One that means something to everybody is among them only where it is the
    one function of the code that the tests use.
    """
    common = {name for name in names if hasattr(builtins, name) or name in known.MODULES or name in COMPARING}
    asked = common.intersection(own)
    return names - common or (asked if len(asked) == 1 else set())


def find_module(solution: types.ModuleType, name: str) -> Any:
    """What the code imported under the name of a module: that module, or its member of the same name."""
    value, module = getattr(solution, name), importlib.import_module(name)
    return value if value is getattr(module, name, None) else module


def used_names(parts: Iterable[types.CodeType]) -> set[str]:
    """The names that code looks up outside of its functions; where it runs texts, all words in them too."""
    parts = list(parts)
    used = {one.argval for part in parts for one in dis.get_instructions(part) if one.opname in LOADS}
    if used.isdisjoint(READERS):
        return used
    texts = (text for part in parts for text in part.co_consts if isinstance(text, str))
    return used.union(*(re.findall(r"\w+", text) for text in texts))


class WithoutStars(ast.NodeTransformer):
    """Takes `from solution import *` out of tests, which have the code's names already."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        """An import of single names stays."""
        is_star = node.module == "solution" and not node.level and node.names[0].name == "*"
        return ast.copy_location(ast.Pass(), node) if is_star else node
