"""What people upload: in a private folder of its own below the store's, and nowhere else.

It is unpacked and read as text, and nothing of it is ever run here: code of it runs in the sandbox, by way of the
commands. Folders that are no longer needed go whenever a new one is made.
"""

import ast
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from burnish.checks.bench.project_finder import MARKS, is_named_as_test
from burnish.errors import SetupProblem
from burnish.parsing import PARSE_ERRORS, decode_source, parse
from burnish.paths import PRIVATE_MODE, make_private_folder, write_atomically
from burnish.runs import Store
from burnish.runs.store import RUNNING
from burnish.tasks.repair import function_names
from burnish.text import one_line, slug
from burnish.zips import LONGEST, ZipLimits, unpack_zip

MOST_BYTES = 24 << 20
"""Of an uploaded file, as it comes."""
LIMITS = ZipLimits(
    entries=5_000,
    unpacked_bytes=50_000_000,
    ratio=100,
    advice="Zip the folder again, without what does not belong there.",
)
"""Of a zip; about what a project may have to be copied for the checks on a repair."""
KEPT_SECONDS = 30 * 24 * 3600
LEFT_OUT = frozenset(
    (".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", "__pycache__", "node_modules", "__MACOSX", ".DS_Store")
)
"""What no check reads, or belongs to the machine that it was made on."""
UPLOADS, RUN = "uploads", "run"


@contextmanager
def make_folder(store: Store) -> Iterator[Path]:
    """A new folder that only its owner may enter. It goes again where what was to be done with it does not begin."""
    remove_unneeded(store)
    folder = store.folder / UPLOADS / secrets.token_hex(8)
    try:
        for place in (store.folder, folder.parent, folder):
            if not place.exists():
                make_private_folder(place)
        yield folder
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise SetupProblem(f"What you sent cannot be kept in {store.folder} ({error.strerror}).") from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def note_run(folder: Path, run_id: str) -> None:
    """Say which run needs what was uploaded."""
    write_atomically(folder / RUN, run_id.encode(), PRIVATE_MODE)


def remove_unneeded(store: Store) -> None:
    """Delete uploads whose run was deleted, and old ones but for those of unfinished runs."""
    places = list((store.folder / UPLOADS).glob("*"))
    unfinished = {row.id for row in store.list() if row.state in ("unfinished", RUNNING)} if places else set()
    for folder in places:
        with suppress(OSError):
            run_id = (folder / RUN).read_text("utf-8") if (folder / RUN).is_file() else ""
            is_old = time.time() - folder.stat().st_mtime > KEPT_SECONDS and run_id not in unfinished
            if is_old or (run_id and not (store.runs / run_id).is_dir()):
                shutil.rmtree(folder, ignore_errors=True)


def unpack(name: str, data: bytes, folder: Path) -> Path:
    """The project in a zip: the only folder at its top, else all of it. Raises SetupProblem for what could do harm."""
    top = folder / slug(Path(name).stem)
    top.mkdir()
    unpack_zip(name, data, top, LIMITS, LEFT_OUT)
    inside = list(top.iterdir())
    is_wrapped = len(inside) == 1 and inside[0].is_dir() and not (inside[0] / "__init__.py").exists()
    return mark_project(inside[0] if is_wrapped else top)


def mark_project(root: Path) -> Path:
    """Have a folder be a project of its own, whatever lies in the folders above it."""
    if not any((root / mark).exists() for mark in MARKS):
        (root / "pyproject.toml").touch()
    return root


def read_python(name: str, data: bytes) -> str:
    """An uploaded file of Python as text. Raises SetupProblem for anything else."""
    if "/" in name or "\\" in name or not name.isprintable() or name.startswith(".") or len(name.encode()) > LONGEST:
        raise SetupProblem(f"{one_line(name, 80)!r} is no name for a file here. Rename the file, and choose it again.")
    if not name.lower().endswith(".py"):
        raise SetupProblem(f"{name!r} is no file of Python: its name does not end in .py")
    try:
        text = decode_source(data)
    except SyntaxError as error:
        raise SetupProblem(f"{name!r} is not Python as text: {error.msg}.") from error
    if not text.strip():
        raise SetupProblem(f"{name!r} is empty.")
    return text


def holds_tests(tests: str) -> bool:
    """Whether a text has functions that test. Raises SetupProblem for one that is no Python, but only has some."""
    names = [name.rpartition(".")[2] for name in function_names(tests)]
    if not any(name.lower().startswith("test") for name in names):
        return False
    try:
        parse(tests)
    except PARSE_ERRORS as error:
        flaw = f"line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else type(error).__name__
        raise SetupProblem(f"The tests are not valid Python ({flaw}), so nothing can be tested with them.") from error
    return True


def put_code(folder: Path, code: str, name: str = "", tests: str = "", tests_name: str = "") -> tuple[Path, list[Path]]:
    """A project of one file, and the file of its tests if there are any: their paths."""
    imported = list_imports(tests)
    place = _choose_place(Path(name).stem, imported, code)
    root = folder / "project"
    file = root / place
    file.parent.mkdir(parents=True)
    file.write_text(code, "utf-8", newline="")
    mark_project(root)
    if not tests:
        return file, []
    module = ".".join(place.with_suffix("").parts)
    head = "" if module in imported else f"from {module} import *\n\n"
    test = root / (tests_name if is_named_as_test(Path(tests_name)) else f"test_{file.stem}.py")
    test.write_text(head + tests, "utf-8", newline="")
    return file, [test]


def list_imports(tests: str) -> dict[str, set[str]]:
    """The modules that tests import, besides Python's own and pytest, and which names they take from each."""
    found: dict[str, set[str]] = {}
    nodes: list[ast.AST] = []
    with suppress(*PARSE_ERRORS):
        nodes = list(ast.walk(parse(tests)))
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.setdefault(node.module, set()).update(alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            found |= {alias.name: set() for alias in node.names if alias.name not in found}
    usual = {*sys.stdlib_module_names, "pytest"}
    return {module: names for module, names in found.items() if module.partition(".")[0] not in usual}


def _choose_place(stem: str, imported: dict[str, set[str]], code: str) -> Path:
    """Where the code has to lie so that its tests find it: as they import it, else under its own name."""
    known = {*function_names(code), "*"}
    taken = [module for module, names in imported.items() if names & known]
    same = [module for module in imported if module.rpartition(".")[2] == stem]
    own = [stem] if stem.isidentifier() else list(imported)
    module = next(iter((*taken, *same, *own, "solution")))
    return Path(*module.split(".")).with_suffix(".py")
