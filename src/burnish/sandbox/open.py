"""Opens a sandbox by the name of its kind."""

from collections.abc import Mapping

from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import bubblewrap, cgroups, diagnosis, start
from burnish.sandbox.box import Box
from burnish.sandbox.limits import Limits
from burnish.sandbox.sandbox import Sandbox

KINDS = ("auto", "bubblewrap", "process")
NO_ISOLATION = (
    "NO ISOLATION: generated code ran as you, with your files and your network; only its time and size were limited"
)


def open_sandbox(
    kind: str = "auto",
    cells: int | None = None,
    limits: Limits | None = None,
    folders: Mapping[str, str] = bubblewrap.NO_FOLDERS,
) -> Sandbox:
    """A place where untrusted code may run, with up to `cells` jobs at once (as many as there are processors).

    "auto" means bubblewrap. "process" isolates nothing, so it is never chosen unless named. `folders` of this machine
    are seen read-only at the places they are given to; under "process" they are where they are.
    """
    limits = limits or Limits()
    if kind == "process":
        return Box(kind, NO_ISOLATION, lambda: start.process_cell(limits), limits, cells)
    if kind not in KINDS:
        raise SetupProblem(f"There is no sandbox {kind!r}. Choose one of: {', '.join(KINDS)}.")
    return open_bubblewrap(limits, cells, folders)


def open_bubblewrap(limits: Limits, cells: int | None, folders: Mapping[str, str] = bubblewrap.NO_FOLDERS) -> Box:
    """A sandbox of bubblewrap cells, the first of them open, so that what is wrong here is said at once."""
    bwrap = bubblewrap.find_bwrap()
    if bwrap is None:
        raise SetupProblem(diagnosis.no_bubblewrap())
    cgroups.remove_leftovers(cgroups.places())
    level = diagnosis.level(bwrap)
    box = Box("bubblewrap", level, lambda: start.bubblewrap_cell(bwrap, limits, folders=folders), limits, cells)
    try:
        box.warm_up()
    except SandboxError as error:
        raise SetupProblem(diagnosis.why_not(str(error))) from error
    return box
