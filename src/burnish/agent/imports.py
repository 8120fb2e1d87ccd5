"""Imports that an answer forgot: small models use `re` and `List` without saying where they come from."""

import ast
import builtins

from burnish.tasks.assemble import names_of
from burnish.tasks.syntax import parsed

MODULES = (
    "bisect collections copy csv datetime decimal fractions functools heapq itertools json math operator os random re "
    "statistics string sys textwrap time typing"
)
HOMES = {
    "typing": "Any Callable Dict Generator Iterable Iterator List Optional Sequence Set Tuple Union",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "functools": "cache cmp_to_key lru_cache partial reduce",
    "itertools": "accumulate chain combinations groupby permutations product zip_longest",
    "heapq": "heapify heappop heappush nlargest nsmallest",
    "math": "ceil floor sqrt",
    "fractions": "Fraction",
    "decimal": "Decimal",
    "dataclasses": "dataclass field",
    "copy": "deepcopy",
}
KNOWN = {module: f"import {module}" for module in MODULES.split()} | {
    name: f"from {home} import {name}" for home, names in HOMES.items() for name in names.split()
}


def with_imports(code: str, offered: tuple[str, ...] = ()) -> str:
    """The code, below the imports of the standard library that it uses and nobody makes; `offered` names are there."""
    module = parsed(code)
    missing = [KNOWN[name] for name in sorted(_unbound(module) - {*offered}) if name in KNOWN] if module else []
    if not missing:
        return code
    future = [line for line in code.split("\n") if line.startswith("from __future__ import ")]
    rest = "\n".join(line for line in code.split("\n") if line not in future)
    lines = "\n".join([*future, *missing])
    below = f"\n{rest}" if rest.lstrip().startswith(("import ", "from ")) else f"\n\n\n{rest.lstrip()}"
    return lines + below if parsed(lines + below) else code


def _unbound(module: ast.Module) -> set[str]:
    """Names that are read somewhere and bound nowhere in the code."""
    names = [part for part in ast.walk(module) if isinstance(part, ast.Name)]
    read = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    bound = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
    bound |= {part.arg for part in ast.walk(module) if isinstance(part, ast.arg)}
    bound |= {name for part in ast.walk(module) if isinstance(part, ast.stmt) for name in _defined(part)}
    bound |= {part.name for part in ast.walk(module) if isinstance(part, ast.ExceptHandler) and part.name}
    return read - bound - {*dir(builtins)}


def _defined(node: ast.stmt) -> set[str]:
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return names_of(node) if isinstance(node, kinds) else set()
