"""What stood in the way of packages, as one paragraph for the user that ends with what to type.

uv explains itself in English only, so its words are searched here, and nowhere else; no address in them is passed on.
"""

import errno
import re
from pathlib import Path

from packaging.utils import canonicalize_name

from burnish.errors import SetupProblem
from burnish.packages.names import find_lookalike
from burnish.packages.uv import Uv, Why
from burnish.text import join_words, one_line

_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_OFFLINE = re.compile(
    r"error sending request|dns error|Network is unreachable|Connection refused|timed out|HTTP status server error"
    r"|[Nn]etwork (?:connectivity )?(?:is|was) disabled"
)
_IMPOSSIBLE = re.compile(r"you require ([\w.-]+)\S* and \1\S*, which are incompatible")
_UNKNOWN = re.compile(r"\b([\w.-]+) was not found in ")
_NO_WHEEL = re.compile(
    r"\b([\w.-]+?)(?:[=<>~!]\S*)? has no (?:usable )?wheels|does not satisfy Python\S+ and ([\w.-]+?)[=<>]"
)
_NO_VERSION = re.compile(r"(?:there (?:is|are) no versions? of|only) ([\w.-]+?)(?:[=<>~!]\S*)? ")


def explain_failure(said: str, asked: tuple[str, ...], uv: Uv) -> SetupProblem:
    """Why uv could not have the packages; where its words leave it open, uv is asked for parts of them."""
    words = one_line(re.sub(r"\w+://\S+", "…", said), 4000)
    if _FULL.search(said):
        return explain_full_disk(uv.cache.parent)
    if "was included as a URL dependency" in said:
        return explain_address(asked)
    if impossible := _IMPOSSIBLE.search(words):
        never = next((one for one in asked if _name(one) == canonicalize_name(impossible[1])), impossible[1])
        return SetupProblem(
            f"No version can be all that {never} asks for, as one part of it excludes another. Ask for less, for "
            f"example: --with {_name(never)}"
        )
    if _OFFLINE.search(words):
        missing = [one for one in asked if not uv.resolve([one], offline=True).ok] or ["something they need"]
        return SetupProblem(
            f"The package index cannot be reached, and {join_words(missing)} {'is' if len(missing) == 1 else 'are'} "
            "not among the packages that were fetched before. Go online once and type the same command again, or name "
            "a folder of wheels first: export PIP_FIND_LINKS=/a/folder/of/wheels"
        )
    if unknown := _UNKNOWN.search(words):
        name = canonicalize_name(unknown[1])
        meant = find_lookalike(name)
        hint = f"Did you mean {meant}? Type: --with {meant}" if meant else "Look up its name: --with RIGHT_NAME"
        needed_by = _needed_by(name, asked).removesuffix(",")
        return SetupProblem(f"The package index has no package {name!r}{needed_by}. {hint}")
    if no_wheel := _NO_WHEEL.search(words) or _NO_VERSION.search(words):
        return _no_wheel(canonicalize_name(next(filter(None, no_wheel.groups()))), asked, uv)
    if "No solution found" in words:
        return SetupProblem(
            f"{join_words(asked)} cannot be had together: {_reason(words)}. Ask for fewer of them or for wider "
            f"versions, for example: --with '{','.join(map(_name, asked))}'"
        )
    return SetupProblem(
        f"uv could not prepare {join_words(asked)}: {_reason(words)}. See for yourself: "
        f"python -m pip download --only-binary=:all: {' '.join(map(repr, asked))}"
    )


def _no_wheel(name: str, asked: tuple[str, ...], uv: Uv) -> SetupProblem:
    """The index has the package, but not as it is wanted: say which version would do, if any."""
    wanted = next((one for one in asked if _name(one) == name), name)
    if wanted != name and uv.resolve([name]).ok:
        version = next(one.version for one in uv.wheels() if one.name == name)
        return SetupProblem(
            f"There is no wheel of {wanted} for this Python; there is one of {version}. "
            f"Ask for that: --with '{name}=={version}'"
        )
    return SetupProblem(
        f"The package index has {name}{_needed_by(name, asked)} but no wheel of it for this Python. Sources are never "
        "built here, because that runs their code outside the sandbox. Build one yourself: "
        f"pip wheel {name} --wheel-dir wheels && export PIP_FIND_LINKS=wheels"
    )


def explain_address(asked: tuple[str, ...]) -> SetupProblem:
    """A wheel named an address for something that it needs."""
    return SetupProblem(
        f"Something that {join_words(asked)} {'needs' if len(asked) == 1 else 'need'} comes from an address and not "
        "from the package index. It may be anything, so nothing of it is built, kept or run. Ask for another version "
        "or another package: --with 'NAME==VERSION'"
    )


def explain_budget(why: Why, asked: tuple[str, ...]) -> SetupProblem:
    """The work was broken off."""
    one, them = len(asked) == 1, join_words(asked)
    sentences = {
        "large": f"{them} {'is' if one else 'are'} large, and so much is fetched only for who asks for it: "
        f"--with '{','.join(asked)}'",
        "late": f"{them} could not be prepared in the time that there was for it. Allow more time: --seconds 1800",
        "bomb": f"What was fetched for {them} would unpack to many times the size that packages have, and so "
        "fill the disk. Nothing of it is unpacked or kept. Ask for another version or another package: "
        "--with 'NAME==VERSION'",
        "stopped": f"{them} {'was' if one else 'were'} not prepared, because the run was stopped",
    }
    return SetupProblem(sentences[why])


def explain_disk_error(folder: Path, error: OSError) -> SetupProblem:
    """A disk that is full, may not be written to, or does not do what it should."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return explain_full_disk(folder)
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return SetupProblem(
            f"Packages are kept in {folder}, and nothing can be written there ({error.strerror}). "
            "Name another folder: export BURNISH_CACHE=/a/folder/of/yours"
        )
    return SetupProblem(
        f"Packages are kept in {folder}, and that does not work ({one_line(str(error), 200)}). Look at that "
        "folder, or name another one: export BURNISH_CACHE=/a/folder/of/yours"
    )


def explain_full_disk(folder: Path) -> SetupProblem:
    """No room for the packages."""
    return SetupProblem(
        f"The disk that holds {folder} is full, so the packages could not be unpacked. Make room there, or name a "
        "folder on another disk: export BURNISH_CACHE=/a/folder/of/yours"
    )


def explain_shared_cache(folder: Path) -> SetupProblem:
    """A cache into which another user could put packages."""
    return SetupProblem(
        f"Packages are kept in {folder}, and there another user of this machine may put some too, which would then be "
        f"taken for yours. Close it (chmod o-w {folder}), or name a folder of your own: "
        "export BURNISH_CACHE=/a/folder/of/yours"
    )


def _reason(words: str) -> str:
    """What uv gives as the cause, without what it concludes from it."""
    cause = words.partition("cause: ")[2] or words.removeprefix("error: ")
    return one_line(re.split(r",? we can conclude|\.? hint: ", cause.removeprefix("Because "))[0], 400)


def _needed_by(name: str, asked: tuple[str, ...]) -> str:
    if name in map(_name, asked):
        return ""
    return f", which {join_words(asked)} {'needs' if len(asked) == 1 else 'need'},"


def _name(requirement: str) -> str:
    return canonicalize_name(re.split(r"[^\w.-]", requirement)[0])
