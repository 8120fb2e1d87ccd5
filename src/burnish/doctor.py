"""Would `write` work here? Each thing it needs is tried for real, and what is missing comes with the line to type."""

import os
import platform
import shutil
import sys
from pathlib import Path

from burnish import places
from burnish.errors import BurnishError
from burnish.events import Frozen
from burnish.models.catalog import CATALOG, DEFAULT_MODEL
from burnish.models.weights import is_checked, place

LEAST_FREE_BYTES = 200_000_000
CODE = "def answer():\n    return 42\n"
TEST = "from solution import answer\n\ndef test_answer():\n    assert answer() == 42\n"


class Finding(Frozen):
    """One thing that was looked at."""

    thing: str
    fine: bool
    says: str
    type_this: str = ""
    """The line that puts it right; empty when nothing is wrong."""
    needed: bool = True
    """False for what is only good to have."""


def examine() -> list[Finding]:
    """Look at everything. Never raises for what it finds."""
    return [
        _python(),
        _sandbox(),
        *(_weights(name) for name in CATALOG),
        _disk(places.cache()),
        _folder("home", places.home(), "BURNISH_HOME"),
        _folder("cache", places.cache(), "BURNISH_CACHE"),
    ]


def is_healthy(findings: list[Finding]) -> bool:
    """True when `write` would work."""
    return all(finding.fine for finding in findings if finding.needed)


def _python() -> Finding:
    says = f"{platform.python_version()} at {sys.executable}"
    return Finding(thing="python", fine=sys.version_info >= (3, 11), says=says)


def _sandbox() -> Finding:
    """A cell is opened and code runs in it: nothing less shows that one can be."""
    from burnish.sandbox import open_sandbox

    try:
        with open_sandbox(cells=1) as sandbox:
            graded = sandbox.grade(CODE, TEST)
            says = f"{sandbox.kind}: {sandbox.level}"
    except BurnishError as error:
        return Finding(thing="sandbox", fine=False, says=str(error), type_this=_bubblewrap())
    if graded.all_passed:
        return Finding(thing="sandbox", fine=True, says=says)
    return Finding(
        thing="sandbox", fine=False, says=f"{says}; {graded.problem or graded.cases}", type_this=_bubblewrap()
    )


def _bubblewrap() -> str:
    return f"{'' if os.geteuid() == 0 else 'sudo '}apt-get install bubblewrap"


def _weights(name: str) -> Finding:
    weights, default = CATALOG[name], name == DEFAULT_MODEL
    thing = name + (" (default)" if default else "")
    if is_checked(place(weights), weights):
        return Finding(thing=thing, fine=True, says=str(place(weights)), needed=default)
    says = f"not on disk ({weights.bytes / 1e6:,.0f} MB)"
    return Finding(thing=thing, fine=False, says=says, type_this=f"./burnish models pull {name}", needed=default)


def _disk(folder: Path) -> Finding:
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    fine = free >= LEAST_FREE_BYTES
    type_this = "" if fine else "export BURNISH_CACHE=/a/folder/with/room"
    return Finding(thing="disk", fine=fine, says=f"{free / 1e9:.1f} GB free in {there}", type_this=type_this)


def _folder(thing: str, folder: Path, variable: str) -> Finding:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        says = f"{folder} cannot be written: {error.strerror}"
        return Finding(thing=thing, fine=False, says=says, type_this=f"export {variable}=/a/folder/of/yours")
    return Finding(thing=thing, fine=True, says=str(folder))
