"""What the code leans on: places that name a package, and the package they name together."""

from collections.abc import Iterable
from itertools import groupby

from burnish.checks.dependencies.installed import Installed
from burnish.events import Frozen


class Gap(Frozen):
    """Something that could not be looked at, so nothing may be said about it."""

    file: str = ""
    line: int = 0
    what: str
    """One sentence for a person."""


class Use(Frozen):
    """One place that leans on a package."""

    name: str
    """The package's name on the index, in its normal form."""
    file: str
    line: int = 0
    stated: bool = False
    """A requirement names the package; otherwise an import was traced to it."""
    pinned: str = ""
    """The one version that the requirement allows."""
    optional: bool = False
    """The code does without it, or it belongs to an extra, or to another machine."""
    elsewhere: bool = False
    """It comes from an address or a folder, not from the index."""


class Package(Frozen):
    """One package, every place that leans on it, and what the project's environment holds of it."""

    name: str
    uses: tuple[Use, ...]
    installed: str = ""
    elsewhere: bool = False

    @property
    def place(self) -> Use:
        """Where to tell a person about it: the requirement if there is one."""
        return min(self.uses, key=lambda use: not use.stated)

    @property
    def versions(self) -> tuple[str, ...]:
        """What is installed, then every other version that is pinned: each may be the one that runs."""
        return tuple(dict.fromkeys(filter(None, (self.installed, *(use.pinned for use in self.uses)))))

    @property
    def idle(self) -> bool:
        """Only tried for, and not there: the code runs without it."""
        return not self.installed and all(use.optional and not use.stated for use in self.uses)

    @property
    def needed(self) -> bool:
        """Whether it must be there; what the project states about it outweighs how it is imported."""
        stated = [use for use in self.uses if use.stated]
        return any(not use.optional for use in stated or self.uses)

    @property
    def unaudited(self) -> str:
        """Why no advisory can be looked up for it; empty when one can, or when it is not needed here."""
        if self.elsewhere:
            return f"{self.name} comes from an address or a folder, not from the package index"
        if not self.versions and self.needed:
            return f"{self.name} is neither installed nor pinned to one version"
        return ""


def packages(uses: Iterable[Use], installed: Installed) -> list[Package]:
    """The uses by package, in the order of their names."""
    ordered = sorted(uses, key=lambda use: (use.name, use.file, use.line))
    return [_package(name, tuple(group), installed) for name, group in groupby(ordered, key=lambda use: use.name)]


def _package(name: str, uses: tuple[Use, ...], installed: Installed) -> Package:
    elsewhere = name in installed.elsewhere or any(use.elsewhere for use in uses)
    return Package(name=name, uses=uses, installed=installed.versions.get(name, ""), elsewhere=elsewhere)
