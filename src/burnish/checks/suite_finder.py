"""Finds a project's tests where nobody named them, as pytest and its users lay them out."""

import configparser
import fnmatch
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from burnish.checks.python_files import python_files
from burnish.checks.settings import tool_table

PATTERNS = ("test_*.py", "*_test.py")
FOLDERS = ("tests", "test")
UNITTEST = "test*.py"
"""How unittest names its files; code may be called so too, so what it holds decides."""
ANY = "*.py"
_HOLDS = re.compile(r"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+test|class[ \t]+(?:Test|\w+\(.*TestCase))", re.MULTILINE)
CONFIGS = (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))


def find_tests(root: Path, named: Sequence[Path], named_tests: Sequence[Path]) -> tuple[Path, ...]:
    """Files and folders with tests, relative to the root: the named ones, else the first place that has some."""
    places: tuple[Callable[[], list[Path]], ...] = (
        lambda: list(named_tests),
        lambda: _beside(named),
        lambda: _configured(root),
        lambda: _usual_folders(root, named),
        lambda: _loose(root, named),
    )
    for place in places:
        if found := place():
            return _without_nested([path.relative_to(root) for path in found])
    return ()


def is_test(file: Path, top: Path) -> bool:
    """True for a file that looks like a test from below the folder `top`: by its name, or by a folder above it."""
    return is_named_as_test(file) or any(part in FOLDERS for part in file.relative_to(top).parts[:-1])


def is_named_as_test(file: Path) -> bool:
    """True for names that pytest collects by itself."""
    return any(fnmatch.fnmatch(file.name, pattern) for pattern in PATTERNS)


def is_collected(file: Path, root: Path) -> bool:
    """True for a file that the project's own settings, or unittest's names, make a test."""
    places = _configured(root)
    inside = not places or any(file.is_relative_to(place) for place in places)
    patterns = _words(root, "python_files") if inside else []
    if file.name == "tests.py" or any(_matches(file, root, pattern) for pattern in patterns if pattern != ANY):
        return True
    return (ANY in patterns or fnmatch.fnmatch(file.name, UNITTEST)) and bool(_HOLDS.search(_read(file)))


def _matches(file: Path, root: Path, pattern: str) -> bool:
    """As pytest does it: a pattern with a slash is about the path."""
    whole = file.relative_to(root).as_posix() if "/" in pattern and file.is_relative_to(root) else file.name
    return fnmatch.fnmatch(whole, pattern) or ("/" in pattern and fnmatch.fnmatch(whole, f"*/{pattern}"))


def _read(file: Path) -> str:
    try:
        return file.read_text("latin-1")  # the words looked for are the same in every encoding that Python reads
    except OSError:
        return ""


def is_package(folder: Path, named_tests: Sequence[Path]) -> bool:
    """True for a package that has its tests inside, so that not all of it is tests."""
    return folder not in named_tests and folder.name not in FOLDERS and (folder / "__init__.py").exists()


def _beside(named: Sequence[Path]) -> list[Path]:
    """When only files are named: the test files of the same name next to them, and tests that were named as code."""
    if any(path.is_dir() for path in named):
        return []
    wanted = [path.parent / name for path in named for name in (f"test_{path.stem}.py", f"{path.stem}_test.py")]
    return [path for path in [*named, *wanted] if path.is_file() and is_named_as_test(path)]


def _configured(root: Path) -> list[Path]:
    """What the project's own pytest settings name."""
    words = _words(root, "testpaths")
    inside = [word for word in words if not word.startswith(("/", ".."))]
    return sorted({path for word in inside for path in root.glob(word.rstrip("/") or "*") if path != root})


def _words(root: Path, option: str) -> list[str]:
    """What an option of pytest's is set to in the project, in any of the files that pytest reads."""
    table = tool_table(root).get("pytest", {})
    names = table.get("ini_options", {}).get(option, []) if isinstance(table, dict) else []
    words = names.split() if isinstance(names, str) else [str(name) for name in names]
    for file, section in CONFIGS:
        if not (root / file).is_file():  # reading a pipe would never end
            continue
        config = configparser.ConfigParser(interpolation=None)
        try:
            config.read(root / file, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        words += config.get(section, option, fallback="").split()
    return words


def _usual_folders(root: Path, named: Sequence[Path]) -> list[Path]:
    """`tests/` and `test/` next to what is named or in the root."""
    near = [root, *(path.parent if path.is_file() else path for path in named)]
    places = [folder / name for folder in near for name in FOLDERS]
    return sorted({path for path in places if path.is_dir() and any(path.rglob("*.py"))})


def _loose(root: Path, named: Sequence[Path]) -> list[Path]:
    """Test files next to the sources, below them, or in the root."""
    found = {path for path in root.glob("*.py") if is_named_as_test(path)}
    for path in named:
        files = path.parent.glob("*.py") if path.is_file() else python_files(path)
        found |= {file for file in files if is_named_as_test(file)}
    return sorted(found)


def _without_nested(paths: list[Path]) -> tuple[Path, ...]:
    """Each path once, and none that lies below another."""
    unique = list(dict.fromkeys(paths))
    return tuple(path for path in unique if not any(path != other and path.is_relative_to(other) for other in unique))
