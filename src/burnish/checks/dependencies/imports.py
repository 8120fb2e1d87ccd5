"""What the sources import that is neither theirs nor Python's own. Read from the text, wherever an import stands.

An import that the code can do without (tried and caught, for type checkers only, for another Python or system) is
marked as optional.
"""

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import cache, partial
from pathlib import Path

from packaging.utils import canonicalize_name

from burnish.checks.dependencies.installed import Installed
from burnish.checks.dependencies.package import Gap, Use
from burnish.checks.project import Project
from burnish.packages.distribution import PYTHONS_OWN, usual_name
from burnish.parsing import parse

_CAUGHT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_CONDITIONS = {"TYPE_CHECKING", "version_info", "platform", "PY2", "PY3", "os_name", "implementation"}
_IMPORTERS = {"import_module", "__import__"}


def imported(project: Project, installed: Installed, stated: Collection[str] = ()) -> Iterator[Use | Gap]:
    """Every package that a source imports; a source that cannot be read is a gap.

    Where nothing is installed the name is a guess, and a requirement that fits (`stated`) makes it a better one.
    """
    is_own = cache(partial(_is_own, project.root))
    for source in project.sources:
        try:
            tree = parse(project.text(source))
            found = list(_imports(tree.body, optional=False))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
            yield Gap(file=str(source), what=f"the imports of {source} cannot be read: {type(error).__name__}")
            continue
        for module, line, optional in found:
            top = module.split(".")[0]
            if top not in PYTHONS_OWN and not is_own(project.root / source.parent, top):
                for name in installed.owners(module) or (_guess(module, stated),):
                    yield Use(name=name, file=str(source), line=line, optional=optional)


def _guess(module: str, stated: Collection[str]) -> str:
    """The likely package of a module that is not installed."""
    top = module.split(".")[0]
    plain, usual = canonicalize_name(top), usual_name(module)
    if plain in stated or not usual:
        return plain
    usual = canonicalize_name(usual)
    return next((name for name in sorted(stated) if name.startswith(f"{usual}-") and usual not in stated), usual)


def _is_own(root: Path, folder: Path, top: str) -> bool:
    """Whether a module lies where a source in this folder would find it: in the root, in `src`, or beside the source.

    Inside a package an absolute import does not see its siblings, so folders with an `__init__.py` do not count.
    """
    around = [one for one in (folder, *folder.parents) if one.is_relative_to(root)]
    bases = {root, root / "src", *(one for one in around if not (one / "__init__.py").exists())}
    return any(_is_module(base, top) for base in bases)


def _is_module(base: Path, top: str) -> bool:
    if (base / f"{top}.py").is_file() or any(base.glob(f"{top}.*.so")):
        return True
    return next((base / top).rglob("*.py"), None) is not None


def _imports(nodes: Iterable[ast.AST], optional: bool) -> Iterator[tuple[str, int, bool]]:
    """Dotted names with their lines; a stack in place of recursion, so that deep code is no danger."""
    waiting = [(node, optional) for node in nodes]
    while waiting:
        node, maybe = waiting.pop()
        for module in _named(node):
            yield module, getattr(node, "lineno", 0), maybe
        maybe = maybe or _is_conditional(node)
        waiting.extend((child, maybe) for child in ast.iter_child_nodes(node))


def _named(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), names=names, level=0):
            return [f"{module}.{alias.name}" for alias in names]
        case ast.Call(
            func=ast.Name(id=called) | ast.Attribute(attr=called), args=[ast.Constant(value=str(module)), *_]
        ):
            return [module] if called in _IMPORTERS and _is_dotted(module) else []
    return []


def _is_dotted(module: str) -> bool:
    return all(part.isidentifier() for part in module.split("."))


def _is_conditional(node: ast.AST) -> bool:
    if isinstance(node, ast.Try | ast.TryStar):
        return any(_catches_missing(handler) for handler in node.handlers)
    return isinstance(node, ast.If) and not _CONDITIONS.isdisjoint(_words(node.test))


def _catches_missing(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or not _CAUGHT.isdisjoint(_words(handler.type))


def _words(node: ast.AST) -> set[str]:
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
