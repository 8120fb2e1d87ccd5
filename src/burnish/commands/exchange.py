"""`burnish export` and `burnish import`: runs, and evaluations of pages with theirs, as one file for another machine.

The file is a zip. `runs/ID` and `evals/NAME` in it are the folders as they lie here: the record, thoughts that were
kept, pictures, recordings. What comes in is read before it is put beside what is there, and never in its place.
"""

import re
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.evals.eval_store import PAGES_FILE, evals_home, find_evaluation
from burnish.evals.pages import PagesFolder
from burnish.paths import make_private_folder
from burnish.runs import Store
from burnish.runs.record import is_running
from burnish.runs.store import open_run
from burnish.text import one_line
from burnish.zips import ZipLimits, unpack_zip

MOST_BYTES = 512 << 20
LIMITS = ZipLimits(
    entries=50_000,
    unpacked_bytes=2 << 30,
    ratio=1000,  # records say the same again and again
    advice="Have it made again where it comes from: burnish export RUN -o runs.zip",
)
NAME = re.compile(r"\w[\w.-]{0,99}", re.ASCII)
"""Of a run or an evaluation. Without a dash before it: it is typed in a command."""


def export_runs(names: Sequence[str], file: Path | str, store: Store | None = None) -> list[str]:
    """Write runs into a new file, and evaluations of pages with all of their runs; what is in it comes back."""
    store, file = store or Store(), Path(file)
    if file.exists():
        raise SetupProblem(f"{str(file)!r} is there already. Name another file: burnish export RUN -o FILE")
    folders = {f"{kind}/{path.name}": path for name in names for kind, path in _find(name, store)}
    working = [path.name for path in folders.values() if is_running(path)]
    if working:
        raise SetupProblem(f"Run {working[0]!r} is still at work. Wait for its end: burnish show {working[0]} --follow")
    kept = [
        (f"{place}/{found.relative_to(path).as_posix()}", found)
        for place, path in folders.items()
        for found in sorted(path.rglob("*"))
        if found.is_file() and not found.is_symlink()
    ]
    if len(kept) > LIMITS.entries or sum(found.stat().st_size for _, found in kept) > LIMITS.unpacked_bytes:
        raise SetupProblem("These are more than one file may hold. Export some of them at a time: burnish export RUN")
    beside = file.with_name(f".{file.name}.tmp")
    try:
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
            for name, found in kept:
                archive.write(found, name)
        beside.rename(file)
    except OSError as error:
        raise SetupProblem(f"{str(file)!r} cannot be written ({error.strerror}). Name another file with -o") from error
    finally:
        beside.unlink(missing_ok=True)
    return [path.name for path in folders.values()]


def _find(name: str, store: Store) -> list[tuple[str, Path]]:
    """The folder of a run, or those of an evaluation and its runs, each after its kind."""
    try:
        return [("runs", store.find(name))]
    except SetupProblem:
        try:
            path = find_evaluation(name, PAGES_FILE)
        except SetupProblem:
            path = None
        if path is None:  # what was to be said of the run
            raise
    known = PagesFolder.open(path).attempts().values()
    runs = [store.runs / one.run_id for one in known]
    return [("evals", path), *(("runs", run) for run in runs if run.is_dir())]


def import_runs(file: Path | str, store: Store | None = None) -> list[str]:
    """Take in what `export_runs` has written: all of it, or nothing where something is wrong or there already."""
    store, file = store or Store(), Path(file)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise SetupProblem(
                f"{str(file)!r} is larger than {MOST_BYTES >> 20} MiB. Have fewer runs exported at once."
            )
        data = file.read_bytes()
    except OSError as error:
        raise SetupProblem(f"{str(file)!r} cannot be read ({error.strerror}). Type: burnish import FILE") from error
    try:
        make_private_folder(store.folder)
        with tempfile.TemporaryDirectory(prefix=".import-", dir=store.folder) as place:
            unpack_zip(file.name, data, Path(place), LIMITS)
            return _put_beside(Path(place), store)
    except OSError as error:
        raise SetupProblem(
            f"Runs cannot be kept in {str(store.folder)!r} ({error.strerror}). Make room, or choose another place: "
            "export BURNISH_HOME=/path/to/a/folder"
        ) from error


def _put_beside(place: Path, store: Store) -> list[str]:
    homes = {"runs": store.runs, "evals": evals_home()}
    found = [path for top in place.iterdir() for path in (top.iterdir() if top.is_dir() else [top])]
    for path in found:
        said, is_run = one_line(str(path.relative_to(place)), 80), path.parent.name == "runs"
        if (
            path.parent.parent != place
            or path.parent.name not in homes
            or not (path.is_dir() and NAME.fullmatch(path.name))
        ):
            raise SetupProblem(f"The zip holds {said!r}, which is no run of Burnish. {LIMITS.advice}")
        try:
            _ = open_run(path) if is_run else PagesFolder.open(path).attempts()
        except (SetupProblem, OSError) as problem:
            why = "it is of another version of Burnish, or was altered"
            raise SetupProblem(f"The zip holds {said!r}, which cannot be read: {why}. {LIMITS.advice}") from problem
        if (homes[path.parent.name] / path.name).exists():
            todo = f"Delete that one first: burnish rm {path.name}" if is_run else "Move that one away first"
            raise SetupProblem(f"There is {path.name!r} already, so nothing was imported. {todo}")
    for path in sorted(found, key=lambda path: path.name):
        make_private_folder(homes[path.parent.name])
        path.chmod(0o700)
        shutil.move(path, homes[path.parent.name] / path.name)
    return sorted(path.name for path in found)
