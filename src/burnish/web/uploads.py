"""What people upload: in a private folder of its own below the store's, and nowhere else.

It is unpacked and read as text, and nothing of it is ever run here: code of it runs in the sandbox, by way of the
commands. Folders that are no longer needed go whenever a new one is made.
"""

import ast
import io
import re
import secrets
import shutil
import stat
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from burnish.checks.bench.project_finder import MARKS, is_named_as_test
from burnish.errors import SetupProblem
from burnish.parsing import PARSE_ERRORS, decode_source, parse
from burnish.paths import PRIVATE_MODE, make_private_folder, write_atomically
from burnish.runs import Store
from burnish.runs.store import RUNNING
from burnish.tasks.repair import function_names
from burnish.text import one_line, slug, strip_controls

MOST_BYTES = 24 << 20
"""Of an uploaded file, as it comes."""
MOST_ENTRIES, MOST_UNPACKED, MOST_RATIO, MOST_DEPTH = 5_000, 50_000_000, 100, 20
"""Of a zip; about what a project may have to be copied for the checks on a repair."""
FEW_BYTES = 1 << 20
"""Up to here it does not matter how well something is packed."""
LONGEST = 200
"""Bytes in a name."""
KEPT_SECONDS = 30 * 24 * 3600
LEFT_OUT = frozenset(
    (".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", "__pycache__", "node_modules", "__MACOSX", ".DS_Store")
)
"""What no check reads, or belongs to the machine that it was made on."""
UPLOADS, RUN = "uploads", "run"
ENTRY_MARK, ENTRY_HEAD = b"PK\x01\x02", 30
"""What each line of a zip's directory begins with, and the least that stands before the bytes of a file."""


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
    if data.count(ENTRY_MARK) > MOST_ENTRIES:  # counted before any is read
        raise SetupProblem(f"The zip holds more than {MOST_ENTRIES:,} files. Send a smaller folder.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _refuse_overlap(archive)
            entries = [entry for entry in archive.infolist() if LEFT_OUT.isdisjoint(entry.orig_filename.split("/"))]
            for entry in entries:
                if why := _explain_refusal(entry):
                    said = one_line(entry.orig_filename, 80)
                    raise SetupProblem(f"The zip holds {why}: {said!r}. Take that out, and zip the folder again.")
            _write_entries(archive, entries, top, len(data))
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise SetupProblem("The zip holds several things under one name. Zip the folder again.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise SetupProblem(f"{one_line(name, 80)!r} is no zip, or it is damaged. Zip the folder again.") from error
    inside = list(top.iterdir())
    is_wrapped = len(inside) == 1 and inside[0].is_dir() and not (inside[0] / "__init__.py").exists()
    return mark_project(inside[0] if is_wrapped else top)


def _refuse_overlap(archive: zipfile.ZipFile) -> None:
    """Raises SetupProblem where files share their bytes: that is how little becomes very much."""
    ends_before = archive.start_dir
    for entry in sorted(archive.infolist(), key=lambda entry: -entry.header_offset):
        if entry.header_offset + ENTRY_HEAD + entry.compress_size > ends_before:
            raise SetupProblem("The zip holds files within files, as no usual program makes it. Zip the folder again.")
        ends_before = entry.header_offset


def _explain_refusal(entry: zipfile.ZipInfo) -> str:
    """Why a file of a zip is not taken; empty where it is."""
    name = entry.orig_filename  # `filename` ends where a zero byte stands
    parts = name.split("/")
    if strip_controls(name) != name or "\n" in name or "\t" in name:
        return "a name with characters that cannot be seen"
    if name.startswith("/") or "\\" in name or ".." in parts or re.match("[A-Za-z]:", name):
        return "a name that leads out of the folder"
    if len(parts) > MOST_DEPTH or any(len(part.encode()) > LONGEST for part in parts):
        return "a name that is too long, or too many folders in folders"
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "a link or a device where a file should be"
    if entry.flag_bits & 1:
        return "a file that is locked with a password"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "a file that is packed in an unusual way"
    return ""


def _write_entries(archive: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo], top: Path, packed: int) -> None:
    """Write files and folders below `top`; what they unpack to is counted while they do."""
    count = 0
    for entry in entries:
        path = top.joinpath(*(part for part in entry.filename.split("/") if part not in ("", ".")))
        (path if entry.is_dir() else path.parent).mkdir(parents=True, exist_ok=True)
        if entry.is_dir():
            continue
        with archive.open(entry) as source, path.open("xb") as target:
            while piece := source.read(1 << 16):
                count += len(piece)
                if count > min(MOST_UNPACKED, max(FEW_BYTES, MOST_RATIO * packed)):
                    raise SetupProblem("The zip unpacks to far more than it seems to hold. Send a smaller folder.")
                target.write(piece)
    if not any(path.is_file() for path in top.rglob("*")):
        raise SetupProblem("The zip is empty. Zip the folder with your code in it.")


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
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
        raise SetupProblem(f"The tests are not valid Python{line}, so nothing can be tested with them.") from error
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
