"""What the project says it requires, as uses of packages; a line that cannot be judged is a gap, never silence."""

import re
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from burnish.checks.dependencies.package import Gap, Use
from burnish.packages.stated import Stated, Unread, applies, stated
from burnish.packages.wanted import shown


def required(root: Path) -> Iterator[Use | Gap]:
    """Every stated requirement, with its file and line; the project itself is not one."""
    own, lines = stated(root)
    found = (Gap(file=one.file, what=one.what) if isinstance(one, Unread) else _judged(one) for one in lines)
    yield from (one for one in found if isinstance(one, Gap) or one.name != own)


def _judged(one: Stated) -> Use | Gap:
    return _from_address(one.text, one.file, one.line) if one.from_address else _requirement(one)


def _from_address(wanted: str, file: str, line: int) -> Use | Gap:
    """A package that comes from an address; its name stands behind `#egg=`, if anywhere."""
    if egg := re.search(r"[#&]egg=([\w.-]+)", wanted):
        return Use(name=canonicalize_name(egg[1]), file=file, line=line, stated=True, elsewhere=True)
    return Gap(file=file, line=line, what=f"a requirement comes from an address, not from the index: {shown(wanted)!r}")


def _requirement(one: Stated) -> Use | Gap:
    try:
        read = Requirement(one.text)
        name = canonicalize_name(read.name)
    except InvalidRequirement:
        return Gap(file=one.file, line=one.line, what=f"not a requirement that can be read: {shown(one.text)!r}")
    return Use(
        name=name,
        file=one.file,
        line=one.line,
        stated=True,
        pinned=_pin(read),
        optional=bool(one.extra) or not applies(read),
        elsewhere=read.url is not None,
    )


def _pin(read: Requirement) -> str:
    exact = [rule.version for rule in read.specifier if rule.operator in {"==", "==="}]
    try:
        return Version(exact[0]).public if len(read.specifier) == 1 and exact else ""
    except InvalidVersion:  # "==2.*"
        return ""
