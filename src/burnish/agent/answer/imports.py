"""Imports that an answer forgot: small models use `re`, `List` and `pd` without saying where they come from."""

import ast
import builtins
from collections.abc import Sequence

from burnish.packages.names import PACKAGE_OF, module_provider, usual_package
from burnish.parsing import try_parse
from burnish.tasks.source import DEFINITIONS, find_bound_names

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
ALIASES = {
    "np": "numpy",
    "nx": "networkx",
    "pd": "pandas",
    "pl": "polars",
    "plt": "matplotlib.pyplot",
    "px": "plotly.express",
    "sns": "seaborn",
    "tf": "tensorflow",
    "xr": "xarray",
}
"""Short names under which everybody imports these modules."""
CLASSES = {"pandas": "DataFrame Series Timestamp", "numpy": "ndarray", "bs4": "BeautifulSoup"}


def add_missing_imports(code: str, offered: tuple[str, ...] = (), packages: Sequence[str] = ()) -> str:
    """The code, below the imports that it uses and nobody makes: of the standard library, and of `packages`, which are
    there. `offered` names are there already.
    """
    module = try_parse(code)
    missing = sorted(_unbound_names(module) - {*offered}) if module else []
    lines = [line for line in (_import_line(name, packages) for name in missing) if line]
    if not lines:
        return code
    # Python wants these above all other imports.
    future = [line for line in code.split("\n") if line.startswith("from __future__ import ")]
    rest = "\n".join(line for line in code.split("\n") if line not in future)
    below = f"\n{rest}" if rest.lstrip().startswith(("import ", "from ")) else f"\n\n\n{rest.lstrip()}"
    made = "\n".join([*future, *lines]) + below
    return made if try_parse(made) else code


def _import_line(name: str, packages: Sequence[str]) -> str:
    """The line that brings a name; empty where none is known."""
    if name in KNOWN or not packages:
        return KNOWN.get(name, "")
    there = module_provider(packages)
    if name in ALIASES:
        return f"import {ALIASES[name]} as {name}" if there(ALIASES[name]) else ""
    for home, classes in CLASSES.items():
        if name in classes.split() and there(home):
            return f"from {home} import {name}"
    is_module = bool(usual_package(name)) or (name.islower() and name not in PACKAGE_OF.values())
    return f"import {name}" if is_module and there(name) else ""


def _unbound_names(module: ast.Module) -> set[str]:
    """Names that are read somewhere and bound nowhere in the code."""
    read: set[str] = set()
    bound = {*dir(builtins)}
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom, *DEFINITIONS)):
            bound |= find_bound_names(node)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return read - bound
