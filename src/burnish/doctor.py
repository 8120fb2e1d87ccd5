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

KERNEL = Path("/proc/sys/kernel")
PROFILE = "/etc/apparmor.d/burnish-bwrap"
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
        sandbox(),
        _containers(),
        *(_weights(name) for name in CATALOG),
        _disk(places.cache()),
        _folder("home", places.home(), "BURNISH_HOME"),
        _folder("cache", places.cache(), "BURNISH_CACHE"),
    ]


def is_healthy(findings: list[Finding]) -> bool:
    """True when `write` would work."""
    return all(finding.fine for finding in findings if finding.needed)


def paragraph(finding: Finding) -> str:
    """A finding that is not fine, as one paragraph that ends with the line to type."""
    return f"{finding.says[:1].upper()}{finding.says[1:]}. Type: {finding.type_this}"


def _python() -> Finding:
    says = f"{platform.python_version()} at {sys.executable}"
    return Finding(thing="python", fine=sys.version_info >= (3, 11), says=says)


def sandbox(kernel: Path = KERNEL) -> Finding:
    """A cell is opened and code runs in it: nothing less shows that one can be."""
    from burnish.sandbox import open_sandbox

    try:
        with open_sandbox(cells=1) as cell:
            graded = cell.grade(CODE, TEST)
            says = cell.level
    except BurnishError as error:
        return _no_sandbox(str(error), kernel)
    if graded.all_passed:
        return Finding(thing="sandbox", fine=True, says=says)
    return _no_sandbox(graded.problem or str(graded.cases), kernel)


def _containers() -> Finding:
    """The engine that stands in where bubblewrap cannot work: which it is, and whether it needs root."""
    from burnish.sandbox.docker.engine import find

    try:
        says, fine = find().title, True
    except BurnishError as error:
        says, fine = f"none to stand in for bubblewrap: {error}", False
    return Finding(thing="containers", fine=fine, says=says, needed=False)


def _no_sandbox(reason: str, kernel: Path) -> Finding:
    why, type_this = _remedy(reason, kernel)
    says = f"generated code must run in a sandbox, and bubblewrap cannot open one here: {why}"
    return Finding(thing="sandbox", fine=False, says=says, type_this=type_this)


def _remedy(reason: str, kernel: Path) -> tuple[str, str]:
    """Why there is no cell, and the line that changes it."""
    from burnish.sandbox.bubblewrap import find_bwrap

    bwrap, sudo = find_bwrap(), "" if os.geteuid() == 0 else "sudo "
    if bwrap is None:
        return "it is not installed", f"{sudo}apt-get install bubblewrap"
    if _reads(kernel / "apparmor_restrict_unprivileged_userns", "1"):
        profile = f"abi <abi/4.0>,\\nprofile burnish-bwrap {bwrap} flags=(unconfined) {{ userns, }}\\n"
        load = f"{sudo}tee {PROFILE} && {sudo}apparmor_parser -r {PROFILE}"
        return "AppArmor forbids user namespaces; allow them for this one program", f"printf '{profile}' | {load}"
    if _reads(kernel / "unprivileged_userns_clone", "0"):
        return "the kernel forbids user namespaces", f"{sudo}sysctl -w kernel.unprivileged_userns_clone=1"
    why = f"{reason}; a container must be started so that namespaces are allowed in it"
    return why, f"{bwrap} --unshare-user --ro-bind / / true"


def _reads(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text().strip() == text


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
