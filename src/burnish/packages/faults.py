"""From what pip says when it fails to one paragraph that ends with what to type."""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from burnish.errors import SetupProblem
from burnish.packages.bounds import Passed
from burnish.packages.near import near
from burnish.packages.pip import Pip, Ran
from burnish.packages.wheels import Wheels
from burnish.packages.wheels_only import REFUSED
from burnish.text import one_line

OFFLINE = re.compile(
    r"Retrying \(Retry|connection broken|NewConnectionError|NameResolutionError|ConnectTimeout|Max retries exceeded"
    r"|Network is unreachable|Connection refused|There was a problem confirming|50\d Server Error"
    r"|Could not fetch URL \S+: (?:connection error|timed out)|not a trusted or secure host and is being ignored"
)
_UNFIT = re.compile(r"satisfies the requirement (\S+).*?\(from versions: (.*?)\)", re.DOTALL)
_FULL = {errno.ENOSPC, errno.EDQUOT}
_CLOSED = {errno.EROFS, errno.EACCES, errno.EPERM}
SHOWN = 8
"""Versions that one paragraph has room for."""


@contextmanager
def of_the_disk(folder: Path) -> Iterator[None]:
    """Say what to do about a disk that is full, may not be written to, or does not do what it should."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise _full(folder) from error
        if error.errno in _CLOSED:
            raise SetupProblem(
                f"Packages are kept in {folder}, and nothing can be written there ({error.strerror}). "
                "Name another folder: export BURNISH_CACHE=/a/folder/of/yours"
            ) from error
        raise SetupProblem(
            f"Packages are kept in {folder}, and that does not work ({one_line(str(error), 200)}). Look at that "
            "folder, or name another one: export BURNISH_CACHE=/a/folder/of/yours"
        ) from error


@contextmanager
def of_bounds(asked: tuple[str, ...]) -> Iterator[None]:
    """Say why the work was broken off."""
    try:
        yield
    except Passed as passed:
        raise SetupProblem(_broken_off(passed, asked)) from None


def _broken_off(passed: Passed, asked: tuple[str, ...]) -> str:
    match passed.why:
        case "large":
            return (
                f"{_list(asked)} {'is' if len(asked) == 1 else 'are'} large, and so much is fetched only for who asks "
                f"for it: --with '{','.join(asked)}'"
            )
        case "late":
            return (
                f"{_list(asked)} could not be prepared in the time that there was for it. Allow more time: "
                "--seconds 1800"
            )
    return f"{_list(asked)} {'was' if len(asked) == 1 else 'were'} not prepared, because the run was stopped"


def problem(said: Ran, asked: tuple[str, ...], pip: Pip, wheels: Wheels) -> SetupProblem:
    """Why the packages could not be had."""
    if "No space left on device" in said.text or "Disk quota exceeded" in said.text:
        return _full(wheels.folder.parent)
    if never := next(filter(_is_impossible, asked), ""):
        return SetupProblem(
            f"No version can be all that {never} asks for, as one part of it excludes another. Ask for less, for "
            f"example: --with {_name(never)}"
        )
    if "ResolutionImpossible" in said.text or "conflicting dependencies" in said.text:
        return _contradiction(said.text, asked)
    if REFUSED in said.text:
        return from_elsewhere(asked)
    unfit = _UNFIT.search(said.text)
    if OFFLINE.search(said.text):
        return _offline(wheels.missing(asked) or [unfit[1] if unfit else "something they need"])
    if unfit:
        return _no_version(unfit[1], unfit[2], asked, pip, wheels)
    return SetupProblem(
        f"pip could not prepare {_list(asked)}: {_last_words(said.text)}. See for yourself: "
        f"python -m pip download --only-binary=:all: {' '.join(map(repr, asked))}"
    )


def from_elsewhere(asked: tuple[str, ...]) -> SetupProblem:
    """A wheel named an address for something that it needs."""
    return SetupProblem(
        f"Something that {_list(asked)} {_need(asked)} comes from an address and not from the package index. It may be "
        "anything, so nothing of it is built, kept or run. Ask for another version or another package: "
        "--with 'NAME==VERSION'"
    )


def too_much_inside(asked: tuple[str, ...]) -> SetupProblem:
    """A wheel that would fill the disk."""
    return SetupProblem(
        f"What was fetched for {_list(asked)} would unpack to many times the size that packages have, and so fill the "
        "disk. Nothing of it is unpacked or kept. Ask for another version or another package: --with 'NAME==VERSION'"
    )


def others_may_write(folder: Path) -> SetupProblem:
    """A cache into which another user could put packages."""
    return SetupProblem(
        f"Packages are kept in {folder}, and there another user of this machine may put some too, which would then be "
        f"taken for yours. Close it (chmod o-w {folder}), or name a folder of your own: "
        "export BURNISH_CACHE=/a/folder/of/yours"
    )


def _full(folder: Path) -> SetupProblem:
    return SetupProblem(
        f"The disk that holds {folder} is full, so the packages could not be unpacked. Make room there, or name a "
        "folder on another disk: export BURNISH_CACHE=/a/folder/of/yours"
    )


def _offline(missing: list[str]) -> SetupProblem:
    return SetupProblem(
        f"The package index cannot be reached, and {_list(missing)} {'is' if len(missing) == 1 else 'are'} not among "
        "the packages that were fetched before. Go online once and type the same command again, or name a folder of "
        "wheels first: export PIP_FIND_LINKS=/a/folder/of/wheels"
    )


def _contradiction(text: str, asked: tuple[str, ...]) -> SetupProblem:
    block = re.search(r"The conflict is caused by:\n(.*?)\n\s*\n", text, re.DOTALL)
    why = "; ".join(line.strip() for line in block[1].splitlines()) if block else _last_words(text)
    return SetupProblem(
        f"{_list(asked)} cannot be had together: {one_line(why, 400)}. Ask for fewer of them or for wider versions, "
        f"for example: --with '{','.join(_name(one) for one in asked)}'"
    )


def _no_version(unfit: str, versions: str, asked: tuple[str, ...], pip: Pip, wheels: Wheels) -> SetupProblem:
    """The index answered, but nothing that it has will do."""
    name = _name(unfit)
    needed = "" if name in map(_name, asked) else f", which {_list(asked)} {_need(asked)},"
    if versions.strip() != "none":
        return SetupProblem(
            f"There is no wheel of {unfit}{needed} for this Python; there is one of {_newest(versions)}. "
            f"Ask for one of these: --with '{name}=={_newest(versions, 1)}'"
        )
    there = pip.versions(name)
    if there.ok or "requires a different Python" in there.text:
        return SetupProblem(
            f"The package index has {name}{needed} but no wheel of it for this Python. Sources are never built here, "
            f"because that runs their code outside the sandbox. Build one yourself: pip wheel {name} --wheel-dir "
            "wheels && export PIP_FIND_LINKS=wheels"
        )
    if OFFLINE.search(there.text):
        return _offline(wheels.missing(asked) or [name])
    meant = near(name)
    hint = f"Did you mean {meant}? Type: --with {meant}" if meant else "Look up its name: --with RIGHT_NAME"
    return SetupProblem(f"The package index has no package {name!r}{needed}. {hint}".replace(",.", "."))


def _newest(versions: str, most: int = SHOWN) -> str:
    every = [one.strip() for one in versions.split(",")]
    return ", ".join(every[-most:])


def _name(requirement: str) -> str:
    try:
        return canonicalize_name(Requirement(requirement).name)
    except InvalidRequirement:
        return canonicalize_name(re.split(r"[^\w.-]", requirement)[0])


def _is_impossible(requirement: str) -> bool:
    """Whether its versions exclude each other; an older `packaging` cannot tell, and what pip says must do then."""
    specifier = Requirement(requirement).specifier
    return hasattr(specifier, "is_unsatisfiable") and specifier.is_unsatisfiable()


def _need(asked: tuple[str, ...]) -> str:
    return "needs" if len(asked) == 1 else "need"


def _list(names: tuple[str, ...] | list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _last_words(text: str) -> str:
    """What pip's last error line says."""
    errors = [line.removeprefix("ERROR:").strip() for line in text.splitlines() if line.startswith("ERROR:")]
    return one_line((errors or text.strip().splitlines() or ["it said nothing"])[-1], 300).rstrip(".")
