"""What a user or a model asks for, as requirements: names with versions, and nothing else that pip would take.

An address, a path or an option could make pip fetch, build or run anything; none of them gets past this file.
"""

import re
from collections.abc import Iterable, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from burnish.errors import SetupProblem
from burnish.packages.near import near, well_known
from burnish.text import one_line

_BETWEEN = re.compile(r",(?![^\[\]]*\])\s*(?=[^\s<>=!~])")
"""A comma before another package; one inside brackets or before an operator belongs to its requirement."""

_SECRET = re.compile(r"([@:?]|//).*")
"""Where an address may begin, and all that follows: anywhere in it there may be a password."""

_VERSION = re.compile(r"[A-Za-z0-9.*+!_-]+")


def wanted(text_or_names: Sequence[str], allow: Sequence[str] = ()) -> tuple[str, ...]:
    """Requirements in their normal form, sorted, each package once; each a well-known one, or in `allow`.

    Raises SetupProblem for any other name, with the one it may have been meant for, for what is no requirement, and for
    words that name no package at all.
    """
    texts = [text_or_names] if isinstance(text_or_names, str) else text_or_names
    found = normal(piece for text in texts for piece in _BETWEEN.split(text.strip(" ,")))
    if texts and not found:
        raise SetupProblem(_no_requirement(" ".join(texts), "names no package"))
    named = allowed(allow)
    for requirement in found:
        name = Requirement(requirement).name
        if name not in well_known() and name not in named:
            raise SetupProblem(_stranger(name))
    return found


def allowed(texts: Sequence[str]) -> frozenset[str]:
    """The names that the user allows, in their normal form; one text may hold several, with commas between them."""
    return frozenset(canonicalize_name(name.strip()) for text in texts for name in text.split(",") if name.strip())


def normal(requirements: Iterable[str]) -> tuple[str, ...]:
    """Names, extras and versions in one form, sorted; two requirements of one package are one that asks for both."""
    merged: dict[str, Requirement] = {}
    for text in requirements:
        if not text.strip():
            continue
        read = _read(text)
        if before := merged.get(read.name):
            before.specifier &= read.specifier
            before.extras |= read.extras
        else:
            merged[read.name] = read
    return tuple(str(merged[name]) for name in sorted(merged))


def _read(text: str) -> Requirement:
    try:
        read = Requirement(text.strip())
    except InvalidRequirement:
        raise SetupProblem(_no_requirement(text, "cannot be read")) from None
    if read.url is not None:
        raise SetupProblem(_no_requirement(text, "names an address"))
    if read.marker is not None:
        raise SetupProblem(_no_requirement(text, "has a condition"))
    if any(one.operator == "===" or not _VERSION.fullmatch(one.version) for one in read.specifier):
        raise SetupProblem(_no_requirement(text, "names something other than a version"))
    read.name = canonicalize_name(read.name)
    read.extras = {canonicalize_name(extra) for extra in read.extras}
    return read


def _no_requirement(text: str, why: str) -> str:
    return (
        f"{shown(text)!r} {why}, and only the name of a package, with versions if you like, can be asked for: "
        "no addresses, files, options or conditions. For example: --with 'numpy,pandas>=2'"
    )


def shown(text: str) -> str:
    """What somebody wrote as a requirement, short, and without any address in it."""
    flat = one_line(text, len(text))  # not cut before: half an address is none that can be told
    return one_line(_SECRET.sub(r"\1…", flat), 60)


def _stranger(name: str) -> str:
    if meant := near(name):
        return (
            f"Did you mean {meant}? {name!r} is not on the list of well-known packages and looks much like it. "
            f"Type --with {meant}; or, if you are sure of the other, add: --allow-package {name}"
        )
    return (
        f"{name!r} is not on the list of well-known packages, and a name that nobody knows may be a trap. "
        f"If you are sure of it, add: --allow-package {name}"
    )
