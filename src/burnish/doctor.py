"""Would `write` work here? Each thing it needs is tried for real, and what is missing comes with the line to type."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from burnish import paths
from burnish.errors import BurnishError, SetupProblem
from burnish.events import Frozen
from burnish.models.catalog import CATALOG, DEFAULT_MODEL, Weights
from burnish.models.weights import is_checked, weights_path
from burnish.sandbox.diagnosis import Machine
from burnish.system import has_cells, is_root

PROFILE = "/etc/apparmor.d/burnish-bwrap"
LEAST_FREE_BYTES = 200_000_000
CODE = "def answer():\n    return 42\n"
TEST = "from solution import answer\n\ndef test_answer():\n    assert answer() == 42\n"


class DoctorFinding(Frozen):
    """One thing that was looked at."""

    thing: str
    fine: bool
    says: str
    type_this: str = ""
    """The line that puts it right; empty when nothing is wrong."""
    needed: bool = True
    """False for what is only good to have."""


def examine() -> list[DoctorFinding]:
    """Look at everything. Never raises for what it finds."""
    version = f"{platform.python_version()} at {sys.executable}"
    return [
        DoctorFinding(thing="python", fine=sys.version_info >= (3, 11), says=version),
        check_sandbox(),
        check_containers(),
        check_browser(),
        *_check_models(),
        _check_engine(),
        _check_disk(paths.cache()),
        _check_folder("home", paths.home(), "BURNISH_HOME"),
        _check_folder("cache", paths.cache(), "BURNISH_CACHE"),
    ]


def is_healthy(findings: list[DoctorFinding]) -> bool:
    """True when `write` would work."""
    return all(finding.fine for finding in findings if finding.needed)


def check_sandbox(machine: Machine | None = None) -> DoctorFinding:
    """A cell is opened and code runs in it: nothing less shows that one can be."""
    from burnish.checks.tests import grade_script
    from burnish.sandbox import open_sandbox

    try:
        with open_sandbox(cells=1) as cell:
            graded = grade_script(CODE, TEST, cell, timeout_seconds=10.0)
            if graded.all_passed:
                return DoctorFinding(thing="sandbox", fine=True, says=cell.level)
        reason = graded.problem or str(graded.cases)
    except SetupProblem as problem:
        if not has_cells():
            return _from_problem("sandbox", problem)
        reason = str(problem)
    except BurnishError as error:
        reason = str(error)
    why, type_this = _find_remedy(reason, machine or Machine())
    says = f"generated code must run in a sandbox, and bubblewrap cannot open one here: {why}"
    return DoctorFinding(thing="sandbox", fine=False, says=says, type_this=type_this)


def explain_sandbox() -> str:
    """Why no cell can be opened, as one paragraph that ends with the line to type; empty where one can."""
    finding = check_sandbox()
    return "" if finding.fine else f"{finding.says[:1].upper()}{finding.says[1:]}. Type: {finding.type_this}"


def _find_remedy(reason: str, machine: Machine) -> tuple[str, str]:
    """Why there is no cell, and the line that changes it."""
    from burnish.sandbox.bubblewrap import find_bwrap

    bwrap, sudo = find_bwrap(), "" if is_root() else "sudo "
    if bwrap is None:
        return "it is not installed", f"{sudo}apt-get install bubblewrap"
    if machine.setting("kernel.apparmor_restrict_unprivileged_userns") == "1":
        profile = f"abi <abi/4.0>,\\nprofile burnish-bwrap {bwrap} flags=(unconfined) {{ userns, }}\\n"
        load = f"{sudo}tee {PROFILE} && {sudo}apparmor_parser -r {PROFILE}"
        return "AppArmor forbids user namespaces; allow them for this one program", f"printf '{profile}' | {load}"
    if machine.setting("kernel.unprivileged_userns_clone") == "0":
        return "the kernel forbids user namespaces", f"{sudo}sysctl -w kernel.unprivileged_userns_clone=1"
    why = f"{reason}; a container must be started so that namespaces are allowed in it"
    return why, f"{bwrap} --unshare-user --ro-bind / / true"


def check_containers() -> DoctorFinding:
    """The engine that stands in where bubblewrap cannot work: which it is, and whether it needs root."""
    from burnish.sandbox.docker.engine import find_engine

    try:
        return DoctorFinding(thing="containers", fine=True, says=find_engine().title, needed=False)
    except BurnishError as error:
        says = f"none to stand in for bubblewrap: {error}"
        return DoctorFinding(thing="containers", fine=False, says=says, needed=False)


def check_browser() -> DoctorFinding:
    """What pages run in, without a window."""
    from burnish.sandbox.browser import find_chromium

    try:
        return DoctorFinding(thing="browser", fine=True, says=str(find_chromium()), needed=False)
    except SetupProblem as problem:
        finding = _from_problem("browser", problem)
        return finding.model_copy(update={"says": finding.says.removesuffix(" Type"), "needed": False})


def _check_models() -> Iterator[DoctorFinding]:
    """The default models; weights that they do not need are only good to have."""
    from burnish.models.names import AUTO, default_names, split_names

    try:
        chosen = split_names(default_names())
    except SetupProblem as problem:
        yield _from_problem("settings", problem)
        chosen = []
    for name, weights in CATALOG.items():
        yield _check_weights(weights, needed=name in chosen or (AUTO in chosen and name == DEFAULT_MODEL))
    for name in chosen:
        if name not in (*CATALOG, AUTO):
            yield _check_model(name)


def _check_engine() -> DoctorFinding:
    """What the embedded model computes on, and with how much context."""
    from burnish import config
    from burnish.models.local import CONTEXT_TOKENS_PER_SLOT, list_gpus

    try:
        settings = config.load()
    except SetupProblem:  # told of with the models
        settings = config.Config()
    context = settings.context.get("local", CONTEXT_TOKENS_PER_SLOT)
    try:
        layers, gpus = settings.gpu_layers, list_gpus()
    except SetupProblem as problem:
        needed = not settings.model or settings.model == config.AUTO or "local:" in settings.model
        finding = _from_problem("embedded engine", problem)
        return finding.model_copy(update={"says": finding.says.removesuffix(". Type"), "needed": needed})
    says = f"context of {context:,} tokens; gpu_layers {layers}: "
    if layers == 0:
        says += "the processor computes"
    else:
        says += ", ".join(gpus) if gpus else "this build of llama.cpp has no GPU backend, so the processor computes"
    fine = bool(gpus) or layers in (0, config.AUTO)
    type_this = "" if fine else "burnish config set gpu_layers auto"
    return DoctorFinding(thing="embedded engine", fine=fine, says=says, type_this=type_this, needed=False)


def _check_weights(weights: Weights, needed: bool) -> DoctorFinding:
    thing = weights.name + (" (default)" if needed else "")
    if is_checked(weights):
        return DoctorFinding(thing=thing, fine=True, says=str(weights_path(weights)), needed=needed)
    says, type_this = f"not on disk ({weights.bytes / 1e6:,.0f} MB)", f"burnish models pull {weights.name}"
    return DoctorFinding(thing=thing, fine=False, says=says, type_this=type_this, needed=needed)


def _check_model(name: str) -> DoctorFinding:
    """A model of the user's choice: opening it looks whether it is there, and loads nothing yet."""
    from burnish.models.discovery import list_models
    from burnish.models.names import open_model
    from burnish.models.providers import find_server

    thing = f"{name} (default)"
    weights = CATALOG.get(f"local:{name.removeprefix('huggingface:').removeprefix('local:')}")
    if weights and not is_checked(weights):  # opening it would fetch them
        return _check_weights(weights, needed=True)
    try:
        open_model(name).close()
    except SetupProblem as problem:
        return _from_problem(thing, problem)
    server = find_server(name)
    if server is None:
        return DoctorFinding(thing=thing, fine=True, says="is here")
    listed = list_models(server)
    names = [model.name for model in listed.models]
    says, fine = f"{server.address} answers", True
    if not listed.answers and not server.is_here:
        key = f", or refuses the key in {server.key_env}" if server.key else ""
        says, fine = f"{server.address} does not answer{key}", False
    elif listed.answers and names and not {name, f"{name}:latest"} & {*names}:
        has = ", ".join(get_close_matches(name, names, n=2, cutoff=0.0))
        says, fine = f"{server.address} does not have it; it has {has}", False
    return DoctorFinding(thing=thing, fine=fine, says=says, type_this="" if fine else "burnish models")


def _from_problem(thing: str, problem: SetupProblem) -> DoctorFinding:
    return DoctorFinding(thing=thing, fine=False, says=problem.said, type_this=problem.type_this)


def _check_disk(folder: Path) -> DoctorFinding:
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    fine = free >= LEAST_FREE_BYTES
    type_this = "" if fine else "export BURNISH_CACHE=/a/folder/with/room"
    return DoctorFinding(thing="disk", fine=fine, says=f"{free / 1e9:.1f} GB free in {there}", type_this=type_this)


def _check_folder(thing: str, folder: Path, variable: str) -> DoctorFinding:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        says, type_this = f"{folder} cannot be written: {error.strerror}", f"export {variable}=/a/folder/of/yours"
        return DoctorFinding(thing=thing, fine=False, says=says, type_this=type_this)
    return DoctorFinding(thing=thing, fine=True, says=str(folder))
