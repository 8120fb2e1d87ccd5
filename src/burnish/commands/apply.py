"""`burnish.apply`: put the repair of a finished `fix` run in place. The diff is in the run's folder either way.

The file that is repaired is read once and written once, and nothing of it is lost on the way.
"""

import codecs
import contextlib
import difflib
import glob
import hashlib
import itertools
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from burnish.checks.bench.project_finder import FOLDERS, find_root, is_collected, is_named_as_test, is_test
from burnish.errors import SetupProblem
from burnish.events import Applied, FixFacts
from burnish.parsing import decode_source, explain_refusal
from burnish.paths import PRIVATE_MODE, write_atomically
from burnish.runs import Run, Store, Watch
from burnish.tasks.sentence import LANGUAGES
from burnish.tasks.source import split_lines
from burnish.text import one_line

DIFF = "fix.diff"
GOOD = ("proven", "plausible")
SIGNED = "utf-8-sig"


def apply(run: str | Run, *, store: Store | None = None, watch: Watch | None = None) -> Run:
    """Write what the run made over the file it was made from; its old content is kept beside it.

    Raises SetupProblem for a run that made nothing to apply, and for a file that has changed since the run began.
    A file that holds the repair already, from a call that was cut off, is only put on record. Of a run of `strengthen`
    the new files of tests are written.
    """
    store = store or Store()
    opened = store.open(run) if isinstance(run, str) else run
    if opened.started.verb == "strengthen":
        from burnish.commands.strengthen import write_new_tests

        return write_new_tests(opened, store)
    facts = fix_facts(opened)
    diff = save_diff(opened, store)
    _refuse_bad_repair(opened, bool(diff), store)
    path = Path(facts.file)
    try:
        read_target(path)
        backup = _find_backup(opened) if is_in_place(opened) else put_in_place(path, facts.sha256, _encode(opened))
    except (SetupProblem, OSError) as error:
        why = f"{str(path)!r} could not be written ({error.strerror})." if isinstance(error, OSError) else error
        raise SetupProblem(f"{why} The repair is kept as a diff: {store.runs / opened.id / DIFF}") from error
    return store.add(opened, Applied(file=str(path), backup=str(backup)), watch)


def is_in_place(run: Run) -> bool:
    """Whether the file holds what the run made of it, and that is good; it may not be on record yet."""
    facts, repair = fix_facts(run), hashlib.sha256(_encode(run)).hexdigest()
    return run.verdict in GOOD and repair != facts.sha256 and _hash(Path(facts.file)) == repair


def diff_of(run: Run) -> str:
    """What the run would change in its file, as a unified diff that `patch` and `git apply` read; empty if nothing."""
    facts, base = fix_facts(run), _base(run)
    if not run.code or run.code == base:
        return ""
    name, mark = facts.name, "\ufeff" if facts.encoding == SIGNED else ""
    lines = difflib.unified_diff(split_lines(mark + base), split_lines(mark + run.code), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n" for line in lines)


def save_diff(run: Run, store: Store) -> str:
    """The diff, put into the run's folder as well: in the bytes of the file that it is about."""
    diff = diff_of(run)
    if diff:
        write_atomically(store.runs / run.id / DIFF, encode_diff(diff), PRIVATE_MODE)
    return diff


def encode_diff(diff: str) -> bytes:
    """A diff in the bytes of the file that it is about, whose name may be no text."""
    *head, body = diff.split("\n", 2)
    names = "".join(f"{line}\n" for line in head).encode("utf-8", "surrogateescape")
    return names + body.encode("utf-8", "replace")


def fix_facts(run: Run) -> FixFacts:
    """What a `fix` run knows of its file. Raises SetupProblem for other runs.

    A record may come from a stranger. It is refused unless the file ends in the name that its diff shows, and the text
    that the diff begins from is the content that `sha256` is of.
    """
    facts = run.settings.fix
    if facts is None:
        raise SetupProblem(
            f"Run {run.id!r} repaired no file (it is a run of {run.started.verb!r}). "
            f"Choose one of `burnish fix` from: burnish runs"
        )
    file, name = Path(facts.file), Path(facts.name)
    is_whole = file.is_absolute() and name.parts and file.parts[-len(name.parts) :] == name.parts
    if not is_whole or hashlib.sha256(_encode(run, _base(run))).hexdigest() != facts.sha256:
        raise SetupProblem(
            f"The record of run {run.id!r} has been altered: what it says of its file does not fit together. "
            f"Begin anew: burnish fix FILE.py"
        )
    return facts


def _encode(run: Run, text: str | None = None) -> bytes:
    """What the file is to hold, or another text for it, with the byte order mark that it had."""
    encoding = SIGNED if run.settings.fix and run.settings.fix.encoding == SIGNED else "utf-8"
    return (run.code if text is None else text).encode(encoding, "replace")


def _base(run: Run) -> str:
    return str(run.settings.task.get("base_code", ""))


def _hash(file: Path) -> str:
    """Of a file; empty for what is none: a pipe would keep us waiting."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
    except OSError:
        return ""


def _find_backup(run: Run) -> Path:
    """The file's old content as an earlier call left it; put there once more if it is gone."""
    facts = fix_facts(run)
    real = Path(facts.file).resolve()
    kept = [file for file in real.parent.glob(f"{glob.escape(real.name)}.orig*") if _hash(file) == facts.sha256]
    return kept[0] if kept else keep_beside(real, _encode(run, _base(run)))


def _refuse_bad_repair(run: Run, changes: bool, store: Store) -> None:
    if run.last(Applied):
        raise SetupProblem(f"Run {run.id!r} has been applied already. See what it did with: burnish show {run.id}")
    if run.verdict not in GOOD:
        kept = f" Its best version is kept as a diff: {store.runs / run.id / DIFF}." if changes else ""
        raise SetupProblem(
            f"Run {run.id!r} is {run.state}, and only a repair that passes its tests is put in place.{kept} "
            f"Try again: burnish fix {fix_facts(run).name}"
        )
    if why := explain_refusal(run.code):
        raise SetupProblem(
            f"What run {run.id!r} made is not put in place: {why}. Begin anew: burnish fix {fix_facts(run).name}"
        )
    if not changes:
        raise SetupProblem(f"Run {run.id!r} changed nothing, so there is nothing to apply. See: burnish show {run.id}")


@dataclass(frozen=True)
class Target:
    """A Python file as it lay on disk when the run began."""

    path: Path
    """As named; a link is followed only when the file is written."""
    text: str
    """Without a byte order mark; line ends as they are."""
    encoding: str
    """UTF-8, with a byte order mark (`SIGNED`) or without."""
    sha256: str


def read_target(path: Path | str) -> Target:
    """The file, or a SetupProblem that says what to name instead."""
    named = Path(path).expanduser()
    full = Path(os.path.abspath(named))  # noqa: PTH100
    _check_is_code(named, full)
    try:
        data = full.read_bytes()
        text = decode_source(data)
    except OSError as error:
        raise SetupProblem(f"{_quote(named)} cannot be read ({error.strerror}). Name a file that can.") from error
    except SyntaxError as error:
        raise SetupProblem(
            f"{_quote(named)} is not Python in UTF-8: {error.msg}. "
            f"Convert it first, without a line that names another encoding: iconv -f latin-1 -t utf-8 {named.name}"
        ) from error
    if not text.strip():
        raise SetupProblem(
            f'{_quote(named)} is empty, so there is nothing to repair. To have code written, type: burnish write "…"'
        )
    encoding = SIGNED if data.startswith(codecs.BOM_UTF8) else "utf-8"
    return Target(full, text, encoding, hashlib.sha256(data).hexdigest())


def _check_is_code(named: Path, full: Path) -> None:
    if full.is_dir():
        inside = sorted(file.name for file in full.glob("*.py") if not is_named_as_test(file))
        example = named / (inside[0] if inside else "FILE.py")
        raise SetupProblem(f"{_quote(named)} is a folder, and one file is repaired at a time: burnish fix {example}")
    if not full.exists():
        raise SetupProblem(f"There is no file {_quote(named)}. Look at the path and try again.")
    if language := next((name for name, (_, ends) in LANGUAGES.items() if full.suffix[1:].lower() in ends.split()), ""):
        raise SetupProblem(
            f"{_quote(named)} is {language}, and Burnish repairs Python. Name a file of Python: burnish fix FILE.py"
        )
    if not full.is_file() or full.suffix != ".py":
        raise SetupProblem(f"{_quote(named)} is not Python code: its name does not end in .py. Name a file that does.")
    if not str(full).isprintable():  # a line end in it would be a line of the diff
        raise SetupProblem(f"The path {_quote(named)} holds characters that cannot be printed. Rename the file first.")
    if not full.resolve().is_relative_to(find_root([full]).resolve()):
        raise SetupProblem(
            f"{_quote(named)} is a link that leads out of its project. If that file is meant, name it itself: "
            f"burnish fix {shlex.quote(str(full.resolve()))}"
        )
    for file in {full, full.resolve()}:
        # By its name, or by a folder of tests that it lies in; what the project itself lies in does not matter.
        root = find_root([file])
        beside = file.parent.name in FOLDERS and any(is_named_as_test(other) for other in file.parent.glob("*.py"))
        if is_test(file, root) or file.name == "conftest.py" or beside or is_collected(file, root):
            code = full.name.removeprefix("test_").removesuffix(".py").removesuffix("_test")
            raise SetupProblem(
                f"{_quote(named)} is a test, and Burnish never changes a test. "
                f"Name the code that it tests: burnish fix {code}.py --tests {named}"
            )


def check_writable(target: Target) -> None:
    """Refuse, before any work is done, a file that could not be put in place."""
    real = target.path.resolve()
    for place, wanted in ((real, os.W_OK), (real.parent, os.W_OK | os.X_OK)):
        if not os.access(place, wanted):
            raise SetupProblem(
                f"{str(place)!r} cannot be written, so a repair could not be put in place. "
                f"Make it writable, or leave out --apply: chmod u+w {place}"
            )


def put_in_place(path: Path, sha256: str, data: bytes) -> Path:
    """Write a file all at once, its old content beside it; returns where that is. Raises SetupProblem, OSError.

    Nothing is written when the file is not what it was: `sha256` is of the content that the repair was made from.
    """
    real = path.resolve()
    backup = keep_beside(real, _read_unchanged(real, sha256))

    def take_its_place(beside: Path) -> None:
        shutil.copymode(real, beside)
        with contextlib.suppress(OSError):
            state = real.stat()
            os.chown(beside, state.st_uid, state.st_gid)
        _read_unchanged(real, sha256)  # somebody may have saved it meanwhile

    try:
        write_atomically(real, data, PRIVATE_MODE, take_its_place)
    except BaseException:
        backup.unlink(missing_ok=True)
        raise
    return backup


def _read_unchanged(real: Path, sha256: str) -> bytes:
    data = real.read_bytes() if real.is_file() else b""
    if hashlib.sha256(data).hexdigest() != sha256:
        raise SetupProblem(f"{real.name} has changed on disk since the run began, so it was left as it is.")
    return data


def keep_beside(real: Path, data: bytes) -> Path:
    """Put what a file held beside it, under the first name that is free; returns where that is."""
    for number in itertools.count(1):
        place = real.with_name(f"{real.name}.orig" if number == 1 else f"{real.name}.orig.{number}")
        with contextlib.suppress(FileExistsError):
            handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            break
    try:  # nobody else may read it until it has the mode of the file
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            shutil.copymode(real, place)
    except BaseException:  # no backup is better than half of one
        place.unlink(missing_ok=True)
        raise
    return place


def _quote(path: Path) -> str:
    return repr(one_line(str(path), 200))
