"""The very packages that a record names, prepared once more: the same versions, out of the same wheels."""

from collections.abc import Sequence

from burnish.errors import SetupProblem
from burnish.packages.bounds import Bounds
from burnish.packages.layer import Installed, Layer, pinned
from burnish.packages.pip import Tell
from burnish.packages.prepare import prepare
from burnish.text import one_line


def prepare_again(recorded: Sequence[Installed], *, tell: Tell | None = None, bounds: Bounds | None = None) -> Layer:
    """The layer with these versions and no others. Raises SetupProblem where it, or the same wheels, cannot be had."""
    layer = prepare(pinned((one.name, one.version) for one in recorded), tell=tell, bounds=bounds)
    must_be_same(layer, recorded)
    return layer


def must_be_same(layer: Layer, recorded: Sequence[Installed]) -> None:
    """Raise SetupProblem for a wheel that is not the file it was.

    A wheel with another name, because it is for another machine, cannot be compared; nor one without a hash on record.
    """
    known = {one.wheel: one.sha256 for one in recorded if one.wheel and one.sha256}
    changed = [one.wheel for one in layer.packages if known.get(one.wheel, one.sha256) != one.sha256]
    if changed:
        raise SetupProblem(
            f"{one_line(', '.join(changed), 300)}: a file of this name was used, and the one that can be had now is "
            "another. One of them is not what its makers published. Look where pip gets its packages: pip config list"
        )
