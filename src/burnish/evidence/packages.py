"""The packages that evidence names, prepared again: the same versions, out of the same wheels.

The rule: a name in a file from anybody is not taken on trust. What is well known or allowed may be had, and what these
turn out to need; a name that none of them needs is not had, whatever the evidence says of it.
"""

from collections.abc import Callable, Sequence

from burnish.errors import SetupProblem
from burnish.evidence.schema import EvidencePackage
from burnish.packages import Installed, Layer, prepare, wanted
from burnish.packages.same import must_be_same

Tell = Callable[[str], None]
MOST_ROUNDS = 4
"""Another version of one package may need others, and these have other versions again."""


def prepared_again(packages: Sequence[EvidencePackage], allow: Sequence[str] = (), tell: Tell | None = None) -> Layer:
    """The layer that the code had. Raises SetupProblem where it cannot, or may not, be had."""
    known = [one for one in packages if _is_known(one, allow)]
    if strangers := [one.name for one in packages if one.asked and one not in known]:
        raise SetupProblem(_unknown(strangers))
    layer = _settled({one.name: one for one in known}, {one.name: one for one in packages}, tell)
    must_be_same(
        layer,
        [Installed(name=one.name, version=one.version, wheel=one.wheel, sha256=one.sha256) for one in packages],
    )
    return layer


def _settled(pinned: dict[str, EvidencePackage], named: dict[str, EvidencePackage], tell: Tell | None) -> Layer:
    """The layer of the pinned ones, with all that they need in the versions that are named, as far as these are."""
    layer = prepare([*map(_pin, pinned.values())], tell=tell)
    for _ in range(MOST_ROUNDS):
        needed = [(one, named[one.name]) for one in layer.packages if one.name in named and one.name not in pinned]
        if all(there.version == meant.version for there, meant in needed):
            break
        pinned = pinned | {meant.name: meant for _, meant in needed}
        layer = prepare([*map(_pin, pinned.values())], tell=tell)
    return layer


def _is_known(one: EvidencePackage, allow: Sequence[str]) -> bool:
    try:
        return bool(wanted([one.name], allow))
    except SetupProblem:
        return False


def _pin(one: EvidencePackage) -> str:
    extras = f"[{','.join(one.extras)}]" if one.extras else ""
    return f"{one.name}{extras}=={one.version}"


def _unknown(names: Sequence[str]) -> str:
    shown, typed = ", ".join(map(repr, names)), " ".join(f"--allow-package {name}" for name in names)
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return (
        f"{shown} {are} not on the list of well-known packages, and a name that nobody knows may be a trap. "
        f"If you are sure of {them}, add: {typed}"
    )
