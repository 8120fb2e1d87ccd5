"""Which names a delivered module may have: none by which Python, pytest or another tool would take it for its own."""

import sys
import unicodedata
from collections.abc import Collection

STARTED = frozenset({"conftest", "sitecustomize", "usercustomize", "setup", "noxfile", "tasks", "dodo", "fabfile"})
"""Files that Python or a tool runs because of their name."""
TOOLS = frozenset(
    [
        *("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli"),
        *("xdist", "hypothesis", "coverage", "pip", "setuptools", "pkg_resources", "wheel", "build", "virtualenv"),
        *("uv", "pipx", "ruff", "mypy", "bandit", "radon", "pip_audit", "black", "isort", "flake8", "pylint"),
        *("ipython", "notebook", "jupyter", "nox", "tox", "invoke", "poetry", "hatch", "burnish"),
    ]
)
"""What people start with `python -m`, or pytest imports: in the delivered folder its file would come first."""


def why_no_module(module: str, packages: Collection[str] = ()) -> str:
    """Why a module must not be called so where it is delivered, together with `packages`; "" when it may."""
    parts = module.split(".")
    if module != unicodedata.normalize("NFKC", module):
        return "has a name that Python reads as another"
    if any(part.startswith("__") for part in parts):
        return "has a name that means something of its own to Python"
    if parts[0] in STARTED:
        return "is started by tools because of its name"
    theirs = {name.replace("-", "_") for name in packages}
    if parts[0] in sys.stdlib_module_names or parts[0].lower() in TOOLS | theirs:
        return f"would be imported in the place of {parts[0]}"
    return ""
