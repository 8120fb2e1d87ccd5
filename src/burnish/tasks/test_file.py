"""Test files: the user's own, read and made ready for a sandbox, and the imports that a file of new tests needs.

The rule: of the user's text only the import of the module to be written changes, and no line moves.
"""

import ast
import builtins
import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.parsing import decode_source, parse, try_parse
from burnish.tasks.source import DEFINITIONS, IMPORTS, Function, find_bound_names, find_local_names, line_span

STANDARD = ("collections", "datetime", "decimal", "fractions", "functools", "itertools", "math", "re", "string")
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
_MARK = re.compile(r"# ([\w:]+), from your file\n")


class TestFile(Frozen):
    """What a file of tests asks for."""

    __test__ = False
    text: str
    """The file, with `solution` in the place of the module."""
    module: str
    """What the file calls the module."""
    names: tuple[str, ...]
    """What it uses of the module, in order of appearance."""
    tests: tuple[str, ...]
    """Each test of the file as a given test, under the name it has there."""


def name_in_file(test: str) -> str:
    """The name of a given test that lies in the user's file; empty for any other."""
    found = _MARK.match(test)
    return found[1] if found else ""


def read_test_file(path: Path, packaged: Callable[[str], bool] = lambda module: False) -> TestFile:
    """The tests in a file. Raises SetupProblem for a file that cannot decide anything.

    `packaged` says of a module whether it comes with a package that the code may use.
    """
    try:
        text = decode_source(path.read_bytes()).replace("\r\n", "\n")
    except OSError as error:
        raise SetupProblem(
            f"The tests in {str(path)!r} cannot be read ({error.strerror}). Name a file with tests: --with-tests FILE"
        ) from error
    except SyntaxError as error:
        raise _useless_file(path, f"cannot be taken ({error.msg})") from error
    tree = try_parse(text)
    if tree is None:
        raise _useless_file(path, "is not Python that can be read")
    if not _collect_tests(tree) and any(isinstance(node, ast.Assert) for node in tree.body):
        text = _wrap_asserts(text, tree)
        tree = try_parse(text) or tree
    found = _collect_tests(tree)
    if not found:
        raise _useless_file(path, "holds no test, neither a function test… nor an assert")
    module = _find_module(path, tree, packaged)
    if why := why_no_module(module):
        raise _useless_file(path, f"imports {module!r}, and a file of that name {why}")
    names = _find_names_of_module(tree, module)
    if not names:
        raise _useless_file(path, f"imports {module!r} but uses nothing of it")
    tests: list[str] = []
    for node, name in found:
        first, last = line_span(node)
        lines = text.split("\n")[first:last]
        depth = len(lines[0]) - len(lines[0].lstrip())
        tests.append("\n".join([f"# {name}, from your file", *(line[depth:] for line in lines)]))
    return TestFile(text=_import_solution(path, text, tree, module), module=module, names=names, tests=tuple(tests))


def why_no_module(module: str, packages: Collection[str] = ()) -> str:
    """Why a module must not be called so where it is delivered, together with `packages`; "" when it may.

    Python, pytest or another tool would take a file of such a name for its own.
    """
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


def find_used_names(bodies: Iterable[str]) -> set[str]:
    """The names in tests that neither they themselves nor Python provide."""
    found: set[str] = set()
    for tree in map(parse, bodies):
        found |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - find_local_names(tree)
    return {name for name in found if not hasattr(builtins, name)}


def write_imports(names: Collection[str], module: str, text: str, tests: Sequence[str]) -> list[str]:
    """Import lines for names of a module, which is called so and has this text; `tests` are the files beside.

    What the module itself has from elsewhere is imported from there; `pytest` from nowhere else. Other names come from
    where the tests beside import them, if that is a package around the module, else from the module.
    """
    lines: list[str] = []
    own: dict[str, list[str]] = {}
    elsewhere = _absolute_imports(text)
    for name in sorted(names):
        if name == "pytest" or (name in STANDARD and name not in elsewhere):
            lines.append(f"import {name}")
        elif name in elsewhere:
            lines.append(elsewhere[name])
        else:
            own.setdefault(_home_of(name, module, tests), []).append(name)
    lines += [f"from {home} import {', '.join(sorted(found))}" for home, found in own.items()]
    return sorted(dict.fromkeys(lines), key=lambda line: (line.startswith("from "), line))


def _absolute_imports(text: str) -> dict[str, str]:
    """For each name that a module has from an absolute import: that import, for the name alone."""
    tree = try_parse(text)
    found: dict[str, str] = {}
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, IMPORTS) and not getattr(node, "level", 0):
            for alias in node.names:
                alone = type(node)(**{**{key: getattr(node, key) for key in node._fields}, "names": [alias]})
                found |= dict.fromkeys(find_bound_names(alone), ast.unparse(alone))
    return found


def _home_of(name: str, module: str, tests: Sequence[str]) -> str:
    for tree in filter(None, map(try_parse, tests)):
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                around = f"{module}.".startswith(f"{node.module}.")
                if around and any(alias.name == name and not alias.asname for alias in node.names):
                    return node.module
    return module


def _wrap_asserts(text: str, tree: ast.Module) -> str:
    """A script of asserts as a pytest file: each assert a test, or all of it one where they build on each other."""
    first = next(place for place, node in enumerate(tree.body) if not isinstance(node, (*IMPORTS, *DEFINITIONS)))
    lines = text.split("\n")
    if all(isinstance(node, ast.Assert) for node in tree.body[first:]):
        for node in tree.body[first:]:
            lines[node.lineno - 1] = f"def test_line_{node.lineno}(): {lines[node.lineno - 1]}"
        return "\n".join(lines)
    start = tree.body[first].lineno - 1
    return "\n".join([*lines[:start], "def test_script():", *(f"    {line}" for line in lines[start:])])


def _collect_tests(tree: ast.Module) -> list[tuple[Function, str]]:
    """Every test that pytest would collect, with its name as pytest says it."""
    found: list[tuple[Function, str]] = []
    for node in tree.body:
        prefix, members = "", [node]
        if isinstance(node, ast.ClassDef):
            case = node.name.startswith("Test") or any("TestCase" in ast.unparse(base) for base in node.bases)
            prefix, members = f"{node.name}::", node.body if case else []
        tests = [one for one in members if isinstance(one, Function) and one.name.startswith("test")]
        found += [(one, f"{prefix}{one.name}") for one in tests]
    return found


def _find_module(path: Path, tree: ast.Module, packaged: Callable[[str], bool]) -> str:
    """The one module that the file imports and nobody has."""
    found = [name for node in ast.walk(tree) for name in _imported_modules(node)]
    missing = list(dict.fromkeys(name for name in found if not _exists(name) and not packaged(name)))
    if len(missing) == 1:
        return missing[0]
    if missing:
        several = " and ".join(missing)
        raise _useless_file(path, f"imports {several}, which do not exist, and only one module can be written")
    raise _useless_file(path, "imports nothing that is still to be written")


def _imported_modules(node: ast.AST) -> list[str]:
    """The modules that a statement names; `from . import roman` names one too."""
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module]
    return [alias.name for alias in node.names] if isinstance(node, IMPORTS) else []


def _exists(module: str) -> bool:
    """Whether it comes with Python or is installed; what merely lies in some folder is the user's own."""
    root = module.split(".")[0]
    if root in sys.stdlib_module_names:
        return True
    installed = [place for place in sys.path if Path(place).name in {"site-packages", "dist-packages"}]
    return root != "solution" and PathFinder.find_spec(root, installed) is not None


def _find_names_of_module(tree: ast.Module, module: str) -> tuple[str, ...]:
    """What the file uses of the module; after `import *` that is every name that is called and comes from nowhere."""
    found: list[str] = []
    aliases: set[str] = set()
    nodes = list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == module:
            found += [alias.name for alias in node.names]
        elif isinstance(node, IMPORTS) and not getattr(node, "module", ""):
            aliases |= {alias.asname or alias.name for alias in node.names if alias.name == module}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            found.append(node.attr)
    if "*" in found:
        known = find_local_names(tree).union(
            *(find_bound_names(node) for node in nodes if isinstance(node, (*DEFINITIONS, *IMPORTS)))
        )
        calls = [node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        found += [name for name in calls if name not in known and not hasattr(builtins, name)]
    return tuple(name for name in dict.fromkeys(found) if name != "*")


def _import_solution(path: Path, text: str, tree: ast.Module, module: str) -> str:
    """The text with `solution` imported in the place of the module."""
    lines = text.split("\n")
    for node in ast.walk(tree):
        if not isinstance(node, IMPORTS) or module not in _imported_modules(node):
            continue
        old, new, alias = rf"\b{re.escape(module)}\b(\s+as\s+\w+)?", "solution", f" as {module}"
        if isinstance(node, ast.ImportFrom) and node.module:
            old, new, alias = rf"from\s+\.*{re.escape(module)}\s+import()", "from solution import", ""
        elif isinstance(node, ast.ImportFrom):
            old, new = rf"from\s+\.+\s+import\s+{module}(\s+as\s+\w+)?", "import solution"
        elif "." in module and not next(one.asname for one in node.names if one.name == module):
            raise _useless_file(path, f"says `import {module}`; write it as `from {module} import …`, then it")
        first, last = line_span(node)
        line = "\n".join(lines[first:last])
        if match := re.search(old, line):
            line = f"{line[: match.start()]}{new}{match[1] or alias}{line[match.end() :]}"
        lines[first:last] = line.split("\n")
    return "\n".join(lines)


def _useless_file(path: Path, why: str) -> SetupProblem:
    return SetupProblem(
        f"The file {str(path)!r} {why}, so it cannot decide. Give a pytest file that imports the module to be written, "
        "e.g. `from roman import roman`: --with-tests FILE"
    )
