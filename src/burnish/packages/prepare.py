"""Makes a layer, or finds it made: before any cell starts, from wheels alone, and whole or not at all."""

import os
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.packages import age, faults, layer, unused
from burnish.packages.bounds import Bounds
from burnish.packages.layer import Layer
from burnish.packages.lock import alone, lock_of
from burnish.packages.making import Making
from burnish.packages.pip import Tell, identity
from burnish.packages.wanted import normal


def prepare(
    requirements: Sequence[str],
    *,
    interpreter: Path | None = None,
    tell: Tell | None = None,
    bounds: Bounds | None = None,
) -> Layer:
    """The layer with these requirements and all they need, from the cache if it is there.

    Made anew, it comes from wheels that were fetched before, if they do, and else from the user's index. Nothing of a
    package runs. `interpreter` is the one that will import it, if not the one that runs Burnish. Once one of the
    `bounds` is passed, pip is ended, whatever it does. Raises SetupProblem.
    """
    asked, bounds = normal(requirements), bounds or Bounds()
    _must_be_ours(layer.home())
    own = interpreter is None or os.path.realpath(interpreter) == os.path.realpath(sys.executable)
    python = None if own else interpreter
    name = identity(python)
    folder = layer.home() / layer.key(name, asked)
    make = partial(_made, asked=asked, name=name, python=python, tell=tell)
    found = age.newest(folder)
    if found:
        unused.use(found.folder.parent)  # at once: whoever makes a layer meanwhile, even we, may sweep
    prepared = _up_to_date(found, folder, tell, bounds, make) if found else make(folder, bounds)
    unused.use(prepared.folder.parent)
    return prepared


def _must_be_ours(home: Path) -> None:
    """Raise SetupProblem for a cache that is another user's, or that any user may write to. Root may have made it."""
    with suppress(OSError):  # there is none yet, or it cannot be entered: that is said later
        found = home.stat()
        if found.st_uid not in {0, os.getuid()} or found.st_mode & stat.S_IWOTH:
            raise faults.others_may_write(home)


def _up_to_date(found: Layer, folder: Path, tell: Tell | None, bounds: Bounds, make: Callable[..., Layer]) -> Layer:
    """The layer that was found; where it is old, a newer one, if the index has it. That is tried once a day."""
    later = age.successor(folder)
    if age.is_old(found) and not lock_of(later).exists():
        with suppress(SetupProblem):  # what was found will do
            return make(later, bounds.at_most(age.ASKING_SECONDS), newest=True)
        if not layer.load(found.folder.parent):  # somebody emptied the cache in the meantime
            return make(folder, bounds)
    if tell and (said := age.from_the_cache(found)):
        tell(said)
    return found


def _made(
    folder: Path,
    bounds: Bounds,
    *,
    asked: tuple[str, ...],
    name: str,
    python: Path | None,
    tell: Tell | None,
    newest: bool = False,
) -> Layer:
    """A layer in this folder, by us or by another process that was at it."""
    with faults.of_the_disk(layer.home()), faults.of_bounds(asked), alone(folder, tell, bounds) as lock:
        return layer.load(folder) or Making(folder, asked, name, python, tell, lock, bounds, newest).made()
