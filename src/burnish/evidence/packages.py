"""The packages that evidence names, prepared again: the same versions, out of the same wheels.

The rule: a name in a file from anybody is not taken on trust. What is well known or allowed may be had, and what these
turn out to need; a name that none of them needs is not had, whatever the evidence says of it.
"""

from collections.abc import Callable, Sequence

from burnish.errors import SetupProblem
from burnish.evidence.schema import EvidencePackage
from burnish.packages import InstalledPackage, Layer, prepare_layer
from burnish.packages.layer import check_same_wheels
from burnish.packages.names import well_known_names
from burnish.packages.requirements import parse_allowed

Tell = Callable[[str], None]
MOST_ROUNDS = 4
"""Another version of one package may need others, and these have other versions again."""


def prepare_evidence_layer(
    packages: Sequence[EvidencePackage], allow: Sequence[str] = (), tell: Tell | None = None
) -> Layer:
    """The layer that the code had. Raises SetupProblem where it cannot, or may not, be had."""
    known = well_known_names() | parse_allowed(allow)
    pinned = {one.name: one for one in packages if one.name in known}
    if strangers := [one.name for one in packages if one.asked and one.name not in pinned]:
        names, typed = ", ".join(map(repr, strangers)), " ".join(f"--allow-package {name}" for name in strangers)
        are, them = ("is", "it") if len(strangers) == 1 else ("are", "them")
        raise SetupProblem(
            f"{names} {are} not on the list of well-known packages, and a name that nobody knows may be a trap. "
            f"If you are sure of {them}, add: {typed}"
        )
    named = {one.name: one for one in packages}
    layer = prepare_layer([*map(_pin, pinned.values())], tell=tell)
    for _ in range(MOST_ROUNDS):  # all that they need, in the versions that are named, as far as these are
        needed = [(one, named[one.name]) for one in layer.packages if one.name in named and one.name not in pinned]
        if all(there.version == meant.version for there, meant in needed):
            break
        pinned = pinned | {meant.name: meant for _, meant in needed}
        layer = prepare_layer([*map(_pin, pinned.values())], tell=tell)
    recorded = [
        InstalledPackage(name=one.name, version=one.version, wheel=one.wheel, sha256=one.sha256) for one in packages
    ]
    check_same_wheels(layer, recorded)
    return layer


def _pin(one: EvidencePackage) -> str:
    extras = f"[{','.join(one.extras)}]" if one.extras else ""
    return f"{one.name}{extras}=={one.version}"
