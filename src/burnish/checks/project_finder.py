"""Finds the project behind a few named paths: its root, its code, its tests, its interpreter, its settings."""

import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from burnish.checks.interpreter import holds_home
from burnish.checks.project import Project
from burnish.checks.python_files import flaw_of, python_files
from burnish.checks.settings import read_settings
from burnish.checks.suite_finder import find_tests, is_package, is_test
from burnish.errors import SetupProblem
from burnish.parsing import ForeignSource

MARKS = ("pyproject.toml", "setup.cfg", "setup.py", ".git")
NOT_CODE = {"setup.py", "conftest.py", "noxfile.py"}
"""Files that serve the project rather than being it; judged only when named."""
MOST_FILES = 10_000


def find_project(
    paths: Sequence[str | Path],
    tests: Sequence[str | Path] = (),
    python: str | Path | None = None,
    test_command: str | Sequence[str] | None = None,
    generated: bool = False,
) -> Project:
    """The project that the paths belong to. Raises SetupProblem for anything that is missing or cannot be right."""
    named, named_tests = _existing(paths), _existing(tests)
    if not named:
        raise SetupProblem("Nothing was named to check. Name a file or a folder: burnish check src/")
    root = find_root([*named, *named_tests])
    flaws: dict[Path, SyntaxError | OSError] = {}
    found = find_tests(root, named, named_tests)
    all_tests = [root / test for test in found]
    sources = sorted(_sources(named, [test for test in all_tests if not is_package(test, named_tests)], flaws))
    if not sources:
        raise SetupProblem(_not_taken(min(flaws), flaws[min(flaws)]) if flaws else _nothing(named))
    foreign = {path for path, flaw in flaws.items() if isinstance(flaw, ForeignSource)}
    return Project(
        root=root,
        sources=tuple(source.relative_to(root) for source in sources),
        tests=found,
        python=find_python(root, python),
        has_environment=python is not None or find_environment(root) is not None,
        test_command=("sh", "-c", test_command) if isinstance(test_command, str) else tuple(test_command or ()),
        generated=generated,
        settings=read_settings(root),
        skipped=tuple(sorted(path.relative_to(root) for path in flaws.keys() - foreign)),
        foreign=tuple(sorted(path.relative_to(root) for path in foreign)),
    )


def find_root(paths: Sequence[Path]) -> Path:
    """The nearest folder above all paths that holds a project's mark, else the folder they share.

    A home folder is nobody's project, though settings in it may be kept with git: a cell would see all that is private.
    """
    shared = Path(os.path.commonpath([path if path.is_dir() else path.parent for path in paths]))
    if holds_home(shared):
        raise SetupProblem(
            f"The project would be {str(shared)!r}, where your own files are, and its code would see all of them. "
            "Put the code into a folder of its own and name that: burnish check FOLDER"
        )
    for folder in (shared, *shared.parents):
        if not holds_home(folder) and any((folder / mark).exists() for mark in MARKS):
            return folder
    if shared == Path(shared.anchor):
        raise SetupProblem("The code and the tests share no folder. Put them below one folder and name that.")
    return shared


def find_python(root: Path, named: str | Path | None) -> Path:
    """The interpreter of the project: the named one, the active environment's, the root's, else our own."""
    if named is not None:
        return _usable(Path(named))
    environment = find_environment(root)
    return _full(environment / "bin" / "python") if environment else Path(sys.executable)


def find_environment(root: Path) -> Path | None:
    """The environment that is active, else the root's; None where there is neither.

    SetupProblem where the root's lies elsewhere: a link of a stranger's may lead to anything that is private.
    """
    active = os.environ.get("VIRTUAL_ENV")
    places = ([Path(active)] if active else []) + [root / ".venv", root / "venv"]
    found = next((place for place in places if (place / "bin" / "python").exists()), None)
    if found and found.parent == root and str(found) != active and not found.resolve().is_relative_to(root.resolve()):
        raise SetupProblem(
            f"{found.name} in the project is a link that leads out of it, to {str(found.resolve())!r}. "
            f"If that environment is yours, name it: --python {shlex.quote(str(found.resolve() / 'bin' / 'python'))}"
        )
    return found


def _usable(named: Path) -> Path:
    """The named interpreter, or the one in the named environment."""
    path = _full(named)
    if path.is_dir():
        path = path / "bin" / "python"
    if path.is_file() and os.access(path, os.X_OK):
        return path
    raise SetupProblem(f"There is no interpreter at {str(named)!r}. Name one: --python .venv/bin/python")


def _full(path: Path) -> Path:
    """From the top, without following links: an environment's interpreter is a link, and means where the link is."""
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100


def _existing(paths: Sequence[str | Path]) -> list[Path]:
    """The paths in full; SetupProblem for one that is not there."""
    found = [_full(Path(path)) for path in paths]
    for path, name in zip(found, paths, strict=True):
        if not path.exists():
            raise SetupProblem(f"There is no file or folder {str(name)!r}. Look at the path and try again.")
    return found


def _sources(named: Iterable[Path], tests: Sequence[Path], flaws: dict[Path, SyntaxError | OSError]) -> set[Path]:
    """The Python files that are judged; what keeps others from being judged goes to `flaws`."""
    found: set[Path] = set()
    for path in named:
        if path.is_file():
            if any(path == test for test in tests):
                continue
            if path.suffix != ".py":
                raise SetupProblem(
                    f"{path.name} is not Python code: its name does not end in .py. Name a file with Python code."
                )
            if flaw := flaw_of(path):
                raise SetupProblem(_not_taken(path, flaw))
            found.add(path)
            continue
        others = [test for test in tests if not path.is_relative_to(test)]
        for file in python_files(path):
            if file.name in NOT_CODE or is_test(file, path) or any(file.is_relative_to(test) for test in others):
                continue
            if len(found) + len(flaws) >= MOST_FILES:
                raise SetupProblem(
                    f"There are more than {MOST_FILES:,} Python files below {str(path)!r}. "
                    f"Name a smaller folder: burnish check {path.name}/PACKAGE"
                )
            if flaw := flaw_of(file):
                flaws[file] = flaw
            else:
                found.add(file)
    return found


def _not_taken(file: Path, flaw: SyntaxError | OSError) -> str:
    """What to say of a file that is not judged, with what to do about it."""
    why = flaw.msg if isinstance(flaw, SyntaxError) else flaw.strerror
    if isinstance(flaw, ForeignSource):
        return (
            f"{file.name} is not judged: {why}. Write it in UTF-8, without that line: "
            f"iconv -f latin-1 -t utf-8 {file.name}"
        )
    return f"{file.name} is not Python code: {why}. Name a file with Python code."


def _nothing(named: Sequence[Path]) -> str:
    names = ", ".join(repr(path.name) for path in named)
    if any(path.is_file() or any(python_files(path)) for path in named):
        return f"Only tests were found in {names}. Name the code too: burnish check src/ --tests tests/"
    return f"There is no Python file in {names}. Name one, or a folder with some: burnish check src/"
