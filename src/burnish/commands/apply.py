"""`burnish.apply`: put the repair of a finished `fix` run in place. The diff is in the run's folder either way."""

import difflib
import glob
import hashlib
from pathlib import Path

from burnish.commands.target import SIGNED, keep_beside, put_in_place, read_target
from burnish.errors import SetupProblem
from burnish.events import Applied, FixFacts
from burnish.parsing import explain_refusal
from burnish.paths import PRIVATE_MODE, write_atomically
from burnish.runs import Run, Store, Watch
from burnish.tasks.source import split_lines

DIFF = "fix.diff"
GOOD = ("proven", "plausible")


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
    _must_be_good(opened, bool(diff), store)
    path = Path(facts.file)
    try:
        read_target(path)
        backup = _find_backup(opened) if is_in_place(opened) else put_in_place(path, facts.sha256, _encode(opened))
    except SetupProblem as problem:
        raise SetupProblem(f"{problem} The repair is kept as a diff: {store.runs / opened.id / DIFF}") from problem
    except OSError as error:
        raise SetupProblem(
            f"{str(path)!r} could not be written ({error.strerror}). The repair is kept as a diff: "
            f"{store.runs / opened.id / DIFF}"
        ) from error
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
        *head, body = diff.split("\n", 2)
        names = "".join(f"{line}\n" for line in head).encode("utf-8", "surrogateescape")
        write_atomically(store.runs / run.id / DIFF, names + body.encode("utf-8", "replace"), PRIVATE_MODE)
    return diff


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


def _must_be_good(run: Run, changes: bool, store: Store) -> None:
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
