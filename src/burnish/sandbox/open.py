"""Opens a sandbox by the name of its kind."""

from collections.abc import Mapping
from pathlib import Path

from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import bubblewrap, cgroups, diagnosis, owner, serve, start
from burnish.sandbox.box import Box, Open
from burnish.sandbox.cell import Cell
from burnish.sandbox.docker import command, container, streamed
from burnish.sandbox.docker import engine as docker_engine
from burnish.sandbox.sandbox import JobLimits
from burnish.system import has_cells

KINDS = ("auto", "bubblewrap", "docker", "process")
NO_ISOLATION = (
    "NO ISOLATION: generated code ran as you, with your files and your network; only its time and size were limited, "
    "and code that meant to could outlive that, leave something for later, or write its own verdict"
)


def open_sandbox(
    kind: str = "auto",
    cells: int | None = None,
    limits: JobLimits | None = None,
    folders: Mapping[str, str] = bubblewrap.NO_FOLDERS,
    layer: Path | None = None,
) -> Box:
    """A place where untrusted code may run, with up to `cells` jobs at once (as many as there are processors).

    "auto" means bubblewrap, or a container where bubblewrap cannot work. "process" isolates nothing, so it is never
    chosen unless named. `folders` of this machine are seen read-only at the places they are given to; under "process"
    they are where they are. `layer` is a folder with packages that code may import besides pytest; see `Box.use_layer`.
    """
    limits = limits or JobLimits()
    start.check_layer(layer)  # before "auto" takes it for a reason to try another kind
    if kind == "process":
        if not has_cells():
            raise diagnosis.NoSandbox(diagnosis.NO_CELLS)
        return Box(
            kind, NO_ISOLATION, lambda layer, limits: start.open_process_cell(limits, layer), limits, cells, layer
        )
    if kind not in KINDS:
        raise SetupProblem(f"There is no sandbox {kind!r}. Choose one of: {', '.join(KINDS)}.")
    try:
        return open_isolated("bubblewrap" if kind == "auto" else kind, limits, cells, folders, layer)
    except SetupProblem as problem:
        if kind != "auto":
            raise
        try:
            return open_isolated("docker", limits, cells, folders, layer)
        except SetupProblem as also:
            # Both problems in one paragraph, which ends with the line to type for bubblewrap.
            first = also.diagnosis.problem if isinstance(also, diagnosis.NoSandbox) else str(also)
            raise SetupProblem(f"{first} {problem}") from problem


def open_isolated(
    kind: str, limits: JobLimits, cells: int | None, folders: Mapping[str, str], layer: Path | None
) -> Box:
    """A sandbox of bubblewrap cells or of containers, the first of them open, so that what is wrong is said at once."""
    try:
        level, opener, own = prepare_docker(folders) if kind == "docker" else prepare_bubblewrap(folders)
        box = Box(kind, level, opener, limits, cells, layer)
        box.has_own_python = own
        box.warm_up()
    except SandboxError as error:
        explain = diagnosis.explain_no_docker if kind == "docker" else diagnosis.explain_failure
        raise diagnosis.NoSandbox(explain(error)) from error
    return box


def prepare_bubblewrap(folders: Mapping[str, str]) -> tuple[str, Open, bool]:
    """Which protections cells of bubblewrap have here, what opens one, and whether that brings a Python of its own.

    What a killed Burnish left is removed.
    """
    if not has_cells():
        raise diagnosis.NoSandbox(diagnosis.NO_CELLS)
    bwrap = bubblewrap.find_bwrap()
    if bwrap is None:
        raise diagnosis.NoSandbox(diagnosis.NO_BUBBLEWRAP)
    cgroups.remove_leftovers(cgroups.find_places())
    owner.remove_left_folders(serve.FOLDER)
    opener: Open = lambda layer, limits: start.open_bubblewrap_cell(bwrap, limits, True, folders, layer)  # noqa: E731
    return diagnosis.describe_level(bwrap), opener, False


def prepare_docker(folders: Mapping[str, str]) -> tuple[str, Open, bool]:
    """The same for containers, with an image that is made now if need be."""
    engine = docker_engine.find_engine()
    container.remove_containers(engine)
    for prefix in (container.FOLDER, serve.FOLDER):
        owner.remove_left_folders(prefix)
    image = command.ensure_image(engine)
    copies = streamed.Copies(engine, image)

    def opener(layer: Path | None, limits: JobLimits) -> Cell:
        if engine.elsewhere:
            return streamed.open_streamed_cell(copies, limits, folders, layer=layer)
        return container.open_docker_cell(engine, image, limits, folders, layer=layer)

    return diagnosis.describe_docker_level(engine), opener, command.has_own_python(engine)


def choose_resumed_sandbox(named: str | None, recorded: str, command: str) -> str:
    """The sandbox for work that is taken up again: the one that is named now, else the one on record.

    A record may come from a stranger, so it cannot say that code runs without isolation; only who types `command` can.
    """
    if named is None and recorded == "process":
        raise SetupProblem(
            f"The record says that its code runs without isolation, as you, with your files and your network. If you "
            f"began it so yourself and want that again, say so: {command} --sandbox process"
        )
    return named or recorded
