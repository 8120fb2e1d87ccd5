"""Makes a layer, or finds it made: before any cell starts, from wheels alone, and whole or not at all."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from burnish.packages import faults, layer
from burnish.packages.bounds import Bounds
from burnish.packages.layer import Layer
from burnish.packages.lock import alone
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
    own = interpreter is None or os.path.realpath(interpreter) == os.path.realpath(sys.executable)
    python = None if own else interpreter
    name = identity(python)
    folder = layer.home() / layer.key(name, asked)
    if found := layer.load(folder):
        return found
    with faults.of_the_disk(layer.home()), faults.of_bounds(asked), alone(folder, tell, bounds) as lock:
        return layer.load(folder) or Making(folder, asked, name, python, tell, lock, bounds).made()
