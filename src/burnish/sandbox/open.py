"""Opens a sandbox by the name of its kind."""

from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import bubblewrap, cgroups, diagnosis, start
from burnish.sandbox.box import Box
from burnish.sandbox.limits import Limits
from burnish.sandbox.sandbox import Sandbox

KINDS = ("auto", "bubblewrap", "process")
NO_ISOLATION = (
    "NO ISOLATION: generated code ran as you, with your files and your network; only its time and size were limited"
)


def open_sandbox(kind: str = "auto", cells: int | None = None, limits: Limits | None = None) -> Sandbox:
    """A place where untrusted code may run, with up to `cells` jobs at once (as many as there are processors).

    "auto" means bubblewrap. "process" isolates nothing, so it is never chosen unless named.
    """
    limits = limits or Limits()
    if kind == "process":
        return Box(kind, NO_ISOLATION, lambda: start.process_cell(limits), limits, cells)
    if kind not in KINDS:
        raise SetupProblem(f"There is no sandbox {kind!r}. Choose one of: {', '.join(KINDS)}.")
    return open_bubblewrap(limits, cells)


def open_bubblewrap(limits: Limits, cells: int | None) -> Box:
    """A sandbox of bubblewrap cells, the first of them open, so that what is wrong here is said at once."""
    bwrap = bubblewrap.find_bwrap()
    if bwrap is None:
        raise SetupProblem(diagnosis.no_bubblewrap())
    cgroups.remove_leftovers(cgroups.places())
    box = Box("bubblewrap", diagnosis.level(bwrap), lambda: start.bubblewrap_cell(bwrap, limits), limits, cells)
    try:
        box.warm_up()
    except SandboxError as error:
        raise SetupProblem(diagnosis.why_not(str(error))) from error
    return box
