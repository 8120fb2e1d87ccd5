"""How a test file gets at the names that its tests use: as the tests beside it do, else by where they are defined."""

import ast
import builtins
from collections.abc import Collection, Iterable, Sequence

from burnish.parsing import parse
from burnish.tasks.assemble import names_of
from burnish.tasks.syntax import parsed

STANDARD = ("collections", "datetime", "decimal", "fractions", "functools", "itertools", "math", "re", "string")


def used_names(bodies: Iterable[str]) -> set[str]:
    """The names in tests that neither they themselves nor Python provide."""
    found: set[str] = set()
    for body in bodies:
        names = [node for node in ast.walk(parse(body)) if isinstance(node, ast.Name)]
        bound = {name.id for name in names if isinstance(name.ctx, ast.Store)}
        bound |= {node.arg for node in ast.walk(parse(body)) if isinstance(node, ast.arg)}
        found |= {name.id for name in names} - bound
    return {name for name in found if not hasattr(builtins, name)}


def imports_for(names: Collection[str], module: str, text: str, tests: Sequence[str]) -> list[str]:
    """Import lines for names of a module, which is called so and has this text; `tests` are the files beside.

    What the module itself has from elsewhere is imported from there; `pytest` from nowhere else.
    """
    lines: list[str] = []
    own: dict[str, list[str]] = {}
    elsewhere = _imported(text)
    for name in sorted(names):
        if name == "pytest" or (name in STANDARD and name not in elsewhere):
            lines.append(f"import {name}")
        elif name in elsewhere:
            lines.append(elsewhere[name])
        else:
            own.setdefault(_home(name, module, tests), []).append(name)
    lines += [f"from {home} import {', '.join(sorted(found))}" for home, found in own.items()]
    return sorted(dict.fromkeys(lines), key=lambda line: (line.startswith("from "), line))


def _imported(text: str) -> dict[str, str]:
    """For each name that a module has from an absolute import: that import, for the name alone."""
    tree = parsed(text)
    found: dict[str, str] = {}
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
            for alias in node.names:
                alone = type(node)(**{**{key: getattr(node, key) for key in node._fields}, "names": [alias]})
                found |= dict.fromkeys(names_of(alone), ast.unparse(alone))
    return found


def _home(name: str, module: str, tests: Sequence[str]) -> str:
    """Where the tests beside import the name from, if that is the module or a package around it; else the module."""
    for text in tests:
        tree = parsed(text)
        for node in tree.body if tree else []:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                around = module == node.module or module.startswith(f"{node.module}.")
                if around and any(alias.name == name and not alias.asname for alias in node.names):
                    return node.module
    return module
