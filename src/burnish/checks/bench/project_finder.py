"""Finds the project behind a few named paths: its root, its code, its tests, its interpreter, its settings.

Tests that nobody named are looked for as pytest and its users lay them out.
"""

import configparser
import fnmatch
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from burnish.checks.bench.interpreter import holds_home
from burnish.checks.project import Project, read_settings, tool_table
from burnish.errors import SetupProblem
from burnish.parsing import ForeignSource, find_flaw

MARKS = ("pyproject.toml", "setup.cfg", "setup.py", ".git")
NOT_CODE = {"setup.py", "conftest.py", "noxfile.py"}
"""Files that serve the project rather than being it; judged only when named."""
LEFT_OUT = {"node_modules", "build", "dist", "__pycache__", "site-packages"}
MOST_FILES = 10_000
PATTERNS = ("test_*.py", "*_test.py")
FOLDERS = ("tests", "test")
UNITTEST = "test*.py"
"""How unittest names its files; code may be called so too, so what it holds decides."""
ANY = "*.py"
_HOLDS = re.compile(r"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+test|class[ \t]+(?:Test|\w+\(.*TestCase))", re.MULTILINE)
CLONE = Path(__file__).parents[4]
"""The clone of Burnish that this file is in, where it is in one."""
OF_CLONE = {"src", "tests", "benchmarks", "experiments", "docs", "bootstrap.py"}
CONFIGS = (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))


def find_project(
    paths: Sequence[str | Path],
    tests: Sequence[str | Path] = (),
    python: str | Path | None = None,
    test_command: str | Sequence[str] | None = None,
    generated: bool = False,
) -> Project:
    """The project that the paths belong to. Raises SetupProblem for anything that is missing or cannot be right."""
    named, named_tests = _resolve_existing(paths), _resolve_existing(tests)
    if not named:
        raise SetupProblem("Nothing was named to check. Name a file or a folder: burnish check src/")
    root = find_root([*named, *named_tests])
    found = find_tests(root, named, named_tests)
    tests_only = [root / test for test in found if root / test in named_tests or not holds_package(root / test)]
    files = set(_find_candidates(named, tests_only))
    flaws = {file: flaw for file in files if (flaw := find_flaw_in(file))}
    sources = sorted(files - flaws.keys())
    refused = [path for path in named if path in flaws] or ([] if sources else sorted(flaws))
    if refused:
        raise SetupProblem(_describe_flaw(refused[0], flaws[refused[0]]))
    if not sources:
        names = ", ".join(repr(path.name) for path in named)
        if any(path.is_file() or any(python_files(path)) for path in named):
            raise SetupProblem(
                f"Only tests were found in {names}. Name the code too: burnish check src/ --tests tests/"
            )
        raise SetupProblem(f"There is no Python file in {names}. Name one, or a folder with some: burnish check src/")
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


def holds_package(folder: Path) -> bool:
    """Whether a place of tests is a package with its tests inside, or holds packages: then not all of it is tests."""
    marks = (folder / "__init__.py", *folder.glob("*/__init__.py"))
    return not folder.name.startswith("test") and any(mark.exists() for mark in marks)


def find_root(paths: Sequence[Path]) -> Path:
    """The nearest folder above all paths that holds a project's mark, else the folder they share.

    A home folder is nobody's project, though settings in it may be kept with git: a cell would see all that is private.
    Nor is a clone of Burnish the project of what its user puts there: its tests and settings are not theirs.
    """
    shared = Path(os.path.commonpath([path if path.is_dir() else path.parent for path in paths]))
    if holds_home(shared):
        raise SetupProblem(
            f"The project would be {str(shared)!r}, where your own files are, and its code would see all of them. "
            "Put the code into a folder of its own and name that: burnish check FOLDER"
        )
    of_user = [path for path in paths if CLONE in path.parents and path.relative_to(CLONE).parts[0] not in OF_CLONE]
    for path in of_user:
        if path.parent == CLONE and path.is_file():
            name = shlex.quote(path.name)
            raise SetupProblem(
                f"{path.name!r} lies in the folder of Burnish itself, whose tests and settings are not meant for it. "
                f"Put your code into a folder of its own and name it there: mkdir mine && mv {name} mine/"
            )
    for folder in (shared, *shared.parents):
        if folder == CLONE and of_user:
            break
        if not holds_home(folder) and any((folder / mark).exists() for mark in MARKS):
            return folder
    if shared == Path(shared.anchor):
        raise SetupProblem("The code and the tests share no folder. Put them below one folder and name that.")
    return shared


def find_python(root: Path, named: str | Path | None) -> Path:
    """The project's interpreter: the named one, or the named environment's; else the active one, the root's, ours."""
    if named is None:
        environment = find_environment(root)
        return full_path(environment / "bin" / "python") if environment else Path(sys.executable)
    path = full_path(Path(named))
    if path.is_dir():
        path = path / "bin" / "python"
    if path.is_file() and os.access(path, os.X_OK):
        return path
    raise SetupProblem(f"There is no interpreter at {str(named)!r}. Name one: --python .venv/bin/python")


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


def full_path(path: Path) -> Path:
    """From the top, without following links: an environment's interpreter is a link, and means where the link is."""
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100


def _resolve_existing(paths: Sequence[str | Path]) -> list[Path]:
    """The paths in full; SetupProblem for one that is not there."""
    found = [full_path(Path(path)) for path in paths]
    for path, name in zip(found, paths, strict=True):
        if not path.exists():
            raise SetupProblem(f"There is no file or folder {str(name)!r}. Look at the path and try again.")
    return found


def _find_candidates(named: Sequence[Path], tests: Sequence[Path]) -> Iterator[Path]:
    """The files that are judged if they are Python code: those that are named, and those in named folders."""
    count = 0
    for path in named:
        if path.is_file() and path not in tests:
            if path.suffix != ".py":
                raise SetupProblem(
                    f"{path.name} is not Python code: its name does not end in .py. Name a file with Python code."
                )
            yield path
        others = [test for test in tests if not path.is_relative_to(test)]
        for file in python_files(path):
            if file.name in NOT_CODE or is_test(file, path) or any(file.is_relative_to(test) for test in others):
                continue
            count += 1
            if count > MOST_FILES:
                raise SetupProblem(
                    f"There are more than {MOST_FILES:,} Python files below {str(path)!r}. "
                    f"Name a smaller folder: burnish check {path.name}/PACKAGE"
                )
            yield file


def _describe_flaw(file: Path, flaw: SyntaxError | OSError) -> str:
    """What to say of a file that is not judged, with what to do about it."""
    why = flaw.msg if isinstance(flaw, SyntaxError) else flaw.strerror
    if isinstance(flaw, ForeignSource):
        return (
            f"{file.name} is not judged: {why}. Write it in UTF-8, without that line: "
            f"iconv -f latin-1 -t utf-8 {file.name}"
        )
    return f"{file.name} is not Python code: {why}. Name a file with Python code."


def python_files(folder: Path) -> Iterator[Path]:
    """Every .py file below a folder, in order, but for those that are nobody's own code."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_left_out(Path(here, name)))
        yield from (Path(here, name) for name in sorted(files) if name.endswith(".py") and Path(here, name).is_file())


def is_left_out(folder: Path) -> bool:
    """Hidden folders, environments, and what tools have made."""
    name = folder.name
    return name.startswith(".") or name in LEFT_OUT or name.endswith(".egg-info") or (folder / "pyvenv.cfg").exists()


def find_flaw_in(file: Path) -> SyntaxError | OSError | None:
    """What keeps a file from being judged as Python source; None when nothing does."""
    try:
        return find_flaw(file.read_bytes())
    except OSError as error:
        return error


def find_tests(root: Path, named: Sequence[Path], named_tests: Sequence[Path]) -> tuple[Path, ...]:
    """Files and folders with tests, relative to the root: the named ones, else the first place that has some."""
    for place in _places_of_tests(root, named, named_tests):
        if found := list(dict.fromkeys(place)):
            nested = {path for path in found for other in found if path != other and path.is_relative_to(other)}
            return tuple(path.relative_to(root) for path in found if path not in nested)
    return ()


def _places_of_tests(root: Path, named: Sequence[Path], named_tests: Sequence[Path]) -> Iterator[Iterable[Path]]:
    """What is found in each place, one place after the other."""
    yield named_tests
    # When only files are named: the test files of the same name next to them, and tests that were named as code.
    if not any(path.is_dir() for path in named):
        wanted = [path.parent / name for path in named for name in (f"test_{path.stem}.py", f"{path.stem}_test.py")]
        yield (path for path in [*named, *wanted] if path.is_file() and is_named_as_test(path))
    yield _find_configured(root)
    near = [root, *(path.parent if path.is_file() else path for path in named)]
    folders = {folder / name for folder in near for name in FOLDERS}
    yield sorted(path for path in folders if path.is_dir() and any(path.rglob("*.py")))
    # Test files next to the sources, below them, or in the root.
    loose = {path for path in root.glob("*.py") if is_named_as_test(path)}
    for path in named:
        files = path.parent.glob("*.py") if path.is_file() else python_files(path)
        loose |= {file for file in files if is_named_as_test(file)}
    yield sorted(loose)
    yield sorted(path for path in root.glob("*.py") if is_collected(path, root))


def is_test(file: Path, top: Path) -> bool:
    """True for a file that looks like a test from below the folder `top`: by its name, or by a folder above it."""
    return is_named_as_test(file) or any(part in FOLDERS for part in file.relative_to(top).parts[:-1])


def is_named_as_test(file: Path) -> bool:
    """True for names that pytest collects by itself."""
    return any(fnmatch.fnmatch(file.name, pattern) for pattern in PATTERNS)


def is_collected(file: Path, root: Path) -> bool:
    """True for a file that the project's own settings, or unittest's names, make a test."""
    places = _find_configured(root)
    inside = not places or any(file.is_relative_to(place) for place in places)
    patterns = read_pytest_option(root, "python_files") if inside else []
    if file.name == "tests.py" or any(_matches(file, root, pattern) for pattern in patterns if pattern != ANY):
        return True
    if ANY not in patterns and not fnmatch.fnmatch(file.name, UNITTEST):
        return False
    with suppress(OSError):  # the words looked for are the same in every encoding that Python reads
        return bool(_HOLDS.search(file.read_text("latin-1")))
    return False


def _matches(file: Path, root: Path, pattern: str) -> bool:
    """As pytest does it: a pattern with a slash is about the path."""
    whole = file.relative_to(root).as_posix() if "/" in pattern and file.is_relative_to(root) else file.name
    return fnmatch.fnmatch(whole, pattern) or ("/" in pattern and fnmatch.fnmatch(whole, f"*/{pattern}"))


def _find_configured(root: Path) -> list[Path]:
    """What the project's own pytest settings name."""
    words = read_pytest_option(root, "testpaths")
    inside = [word for word in words if not word.startswith(("/", ".."))]
    return sorted({path for word in inside for path in root.glob(word.rstrip("/") or "*") if path != root})


def read_pytest_option(root: Path, option: str) -> list[str]:
    """What an option of pytest's is set to in the project, in any of the files that pytest reads."""
    table = tool_table(root).get("pytest", {})
    names = {**table, **table.get("ini_options", {})}.get(option, []) if isinstance(table, dict) else []
    words = names.split() if isinstance(names, str) else [str(name) for name in names]
    for file, section in CONFIGS:
        config = configparser.ConfigParser(interpolation=None)
        with suppress(configparser.Error, UnicodeDecodeError):
            if (root / file).is_file():  # reading a pipe would never end
                config.read(root / file, encoding="utf-8")
            words += config.get(section, option, fallback="").split()
    return words
