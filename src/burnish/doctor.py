"""Would `write` work here? Each thing it needs is tried for real, and what is missing comes with the line to type."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from burnish import places
from burnish.errors import BurnishError, SetupProblem
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
        *_models(),
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


def _models() -> Iterator[Finding]:
    """Who answers by default, whoever that is; weights that nobody needs then are only good to have."""
    from burnish.models.names import AUTO, default_names, split_names

    try:
        chosen = split_names(default_names())
    except SetupProblem as problem:
        yield _problem("settings", problem)
        chosen = []
    for name in CATALOG:
        yield _weights(name, needed=name in chosen or (AUTO in chosen and name == DEFAULT_MODEL))
    for name in chosen:
        if name not in (*CATALOG, AUTO):
            yield _named(name)


def _weights(name: str, needed: bool) -> Finding:
    weights = CATALOG[name]
    thing = name + (" (default)" if needed else "")
    if is_checked(place(weights), weights):
        return Finding(thing=thing, fine=True, says=str(place(weights)), needed=needed)
    says = f"not on disk ({weights.bytes / 1e6:,.0f} MB)"
    return Finding(thing=thing, fine=False, says=says, type_this=f"./burnish models pull {name}", needed=needed)


def _named(name: str) -> Finding:
    """A model of the user's choice: opening it looks whether it is there, and loads nothing yet."""
    from burnish.models.names import open_model

    thing, weights = (
        f"{name} (default)",
        CATALOG.get(f"local:{name.removeprefix('huggingface:').removeprefix('local:')}"),
    )
    if weights and not is_checked(place(weights), weights):  # opening it would fetch them
        return _weights(weights.name, needed=True)
    try:
        open_model(name).close()
    except SetupProblem as problem:
        return _problem(thing, problem)
    return _of_server(thing, name) or Finding(thing=thing, fine=True, says="is here")


def _of_server(thing: str, name: str) -> Finding | None:
    """Whether the server that answers to the name has the model; None where no server does."""
    from burnish.models.listing import shelf_of
    from burnish.models.providers import server_of

    server = server_of(name)
    if server is None:
        return None
    shelf = shelf_of(server)
    names = [model.name for model in shelf.models]
    look = "burnish models"
    if not shelf.answers and not server.is_here:
        key = f", or refuses the key in {server.key_env}" if server.key else ""
        return Finding(thing=thing, fine=False, says=f"{server.address} does not answer{key}", type_this=look)
    if shelf.answers and names and not {name, f"{name}:latest"} & {*names}:
        has = ", ".join(get_close_matches(name, names, n=2, cutoff=0.0))
        return Finding(thing=thing, fine=False, says=f"{server.address} does not have it; it has {has}", type_this=look)
    return Finding(thing=thing, fine=True, says=f"{server.address} answers")


def _problem(thing: str, problem: SetupProblem) -> Finding:
    """A paragraph that ends with the line to type, in its two parts."""
    says, colon, type_this = str(problem).rpartition(": ")
    return Finding(thing=thing, fine=False, says=says if colon else str(problem), type_this=type_this if colon else "")


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
