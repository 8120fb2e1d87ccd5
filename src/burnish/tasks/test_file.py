"""The user's own pytest file: which tests it holds, which module it wants, and the same file for a sandbox.

The rule: of its text only the import of that module changes, and no line moves.
"""

import ast
import builtins
import re
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.parsing import decode_source
from burnish.tasks.module_names import why_no_module
from burnish.tasks.syntax import parsed

_MARK = re.compile(r"# ([\w:]+), from your file\n")
_PREPARING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef


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
        raise _useless(path, f"cannot be taken ({error.msg})") from error
    tree = parsed(text)
    if tree is None:
        raise _useless(path, "is not Python that can be read")
    if not _tests(tree) and any(isinstance(node, ast.Assert) for node in tree.body):
        text = _as_tests(text, tree)
        tree = parsed(text) or tree
    if not _tests(tree):
        raise _useless(path, "holds no test, neither a function test… nor an assert")
    module = _module(path, tree, packaged)
    if why := why_no_module(module):
        raise _useless(path, f"imports {module!r}, and a file of that name {why}")
    names = _names(tree, module)
    if not names:
        raise _useless(path, f"imports {module!r} but uses nothing of it")
    tests = tuple(_marked(text, node, name) for node, name in _tests(tree))
    return TestFile(text=_for_sandbox(path, text, tree, module), module=module, names=names, tests=tests)


def _as_tests(text: str, tree: ast.Module) -> str:
    """A script of asserts as a pytest file: each assert a test, or all of it one where they build on each other."""
    first = next(place for place, node in enumerate(tree.body) if not isinstance(node, _PREPARING))
    if not all(isinstance(node, ast.Assert) for node in tree.body[first:]):
        start = tree.body[first].lineno - 1
        lines = text.split("\n")
        return "\n".join([*lines[:start], "def test_script():", *(f"    {line}" for line in lines[start:])])
    lines = text.split("\n")
    for node in tree.body[first:]:
        lines[node.lineno - 1] = f"def test_line_{node.lineno}(): {lines[node.lineno - 1]}"
    return "\n".join(lines)


def _tests(tree: ast.Module) -> list[tuple[Function, str]]:
    """Every test that pytest would collect, with its name as pytest says it."""
    found: list[tuple[Function, str]] = []
    for node in tree.body:
        if isinstance(node, Function) and node.name.startswith("test"):
            found.append((node, node.name))
        elif isinstance(node, ast.ClassDef) and _collects(node):
            inner = [part for part in node.body if isinstance(part, Function) and part.name.startswith("test")]
            found += [(part, f"{node.name}::{part.name}") for part in inner]
    return found


def _collects(node: ast.ClassDef) -> bool:
    return node.name.startswith("Test") or any("TestCase" in ast.unparse(base) for base in node.bases)


def _marked(text: str, node: Function, name: str) -> str:
    first = min([node.lineno, *(item.lineno for item in node.decorator_list)]) - 1
    lines = text.split("\n")[first : node.end_lineno]
    depth = len(lines[0]) - len(lines[0].lstrip())
    return f"# {name}, from your file\n" + "\n".join(line[depth:] for line in lines)


def _module(path: Path, tree: ast.Module, packaged: Callable[[str], bool]) -> str:
    """The one module that the file imports and nobody has."""
    wanted = [name for name in _imported(tree) if not _exists(name) and not packaged(name)]
    if len(set(wanted)) == 1:
        return wanted[0]
    if wanted:
        several = " and ".join(dict.fromkeys(wanted))
        raise _useless(path, f"imports {several}, which do not exist, and only one module can be written")
    raise _useless(path, "imports nothing that is still to be written")


def _imported(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [node.module] if node.module else [alias.name for alias in node.names]
    return found


def _exists(module: str) -> bool:
    """Whether it comes with Python or is installed; what merely lies in some folder is the user's own."""
    root = module.split(".")[0]
    if root in sys.stdlib_module_names:
        return True
    installed = [place for place in sys.path if Path(place).name in {"site-packages", "dist-packages"}]
    return root != "solution" and PathFinder.find_spec(root, installed) is not None


def _names(tree: ast.Module, module: str) -> tuple[str, ...]:
    """What the file uses of the module."""
    found: list[str] = []
    aliases: set[str] = set()
    star = False
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            star = star or node.names[0].name == "*"
            found += [alias.name for alias in node.names if alias.name != "*"]
        elif isinstance(node, ast.ImportFrom) and node.module is None or isinstance(node, ast.Import):
            aliases |= {alias.asname or alias.name for alias in node.names if alias.name == module}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            found.append(node.attr)
    return tuple(dict.fromkeys(found + (_unbound(tree) if star else [])))


def _unbound(tree: ast.Module) -> list[str]:
    """Names that are called but come from nowhere in the file."""
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, Function | ast.ClassDef)}
    bound |= {(node.asname or node.name).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.alias)}
    calls = [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return [name for name in calls if name not in bound and not hasattr(builtins, name)]


def _for_sandbox(path: Path, text: str, tree: ast.Module, module: str) -> str:
    """The text with `solution` imported in the place of the module."""
    lines = text.split("\n")
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        old = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        new = _imports_solution(path, node, old, module)
        lines[node.lineno - 1 : node.end_lineno] = new.split("\n")
    return "\n".join(lines)


def _imports_solution(path: Path, node: ast.Import | ast.ImportFrom, line: str, module: str) -> str:
    if isinstance(node, ast.ImportFrom):
        if node.module == module:
            return re.sub(rf"from\s+\.*{re.escape(module)}\s+import", "from solution import", line, count=1)
        if node.module is None and any(alias.name == module for alias in node.names):
            return re.sub(rf"from\s+\.+\s+import\s+{module}(\s+as\s+\w+)?", _aliased(module), line, count=1)
        return line
    named = next((alias for alias in node.names if alias.name == module), None)
    if named is None:
        return line
    if "." in module and not named.asname:
        raise _useless(path, f"says `import {module}`; write it as `from {module} import …`, then it")
    return re.sub(rf"\b{re.escape(module)}\b(\s+as\s+\w+)?", _aliased(module, "{}"), line, count=1)


def _aliased(module: str, form: str = "import {}") -> Callable[[re.Match[str]], str]:
    def put(match: re.Match[str]) -> str:
        return form.format("solution" + (match[1] or f" as {module}"))

    return put


def _useless(path: Path, why: str) -> SetupProblem:
    return SetupProblem(
        f"The file {str(path)!r} {why}, so it cannot decide. Give a pytest file that imports the module to be written, "
        "e.g. `from roman import roman`: --with-tests FILE"
    )
