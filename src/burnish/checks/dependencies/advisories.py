"""Known advisories, as pip-audit tells them. Its exit code is not asked: what counts is an answer for each package.

pip-audit leaves with success when it skipped a package, and with failure both for a vulnerable package and for a
service that did not answer. So every package asked about must come back with its list of advisories, or it is a gap.
"""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import Version

from burnish import paths
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.dependencies.uses import Gap
from burnish.errors import CheckError
from burnish.events import Frozen
from burnish.text import one_line

SOCKET_SECONDS = 5
ALL_SECONDS = 60.0

Pin = tuple[str, str]
"""A package's name and one version of it."""


class Advisory(Frozen):
    """Something known to be wrong with one version of a package."""

    id: str
    aliases: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    """Versions without it, oldest first."""
    about: str = ""

    @property
    def shown(self) -> str:
        """Its best known name: the CVE if there is one."""
        return next((name for name in (self.id, *self.aliases) if name.startswith("CVE-")), self.id)


class AdvisoryAnswers(Frozen):
    """What is known of each version, and what is not."""

    advisories: dict[Pin, tuple[Advisory, ...]] = {}
    gaps: tuple[Gap, ...] = ()


def ask_advisories(pins: Iterable[Pin], lab: CheckContext, url: str = "") -> AdvisoryAnswers:
    """The advisories for each pin. That pip-audit is missing, or crashed, or spoke in riddles, is a gap."""
    rounds: list[dict[str, str]] = []  # pip-audit refuses two versions of one package at once
    for name, version in sorted(set(pins)):
        free = next((group for group in rounds if name not in group), None)
        if free is None:
            rounds.append(free := {})
        free[name] = version
    known: dict[Pin, tuple[Advisory, ...]] = {}
    gaps: list[Gap] = []
    try:
        for asked in rounds:
            answers = _read_report(asked, _run_pip_audit(asked, lab, url))
            known |= answers.advisories
            gaps += answers.gaps
    except CheckError as error:  # then no round counts
        return AdvisoryAnswers(gaps=(Gap(what=str(error)),))
    return AdvisoryAnswers(advisories=known, gaps=tuple(gaps))


def _run_pip_audit(asked: dict[str, str], lab: CheckContext, url: str) -> str:
    service = ["--vulnerability-service", "osv", "--osv-url", url] if url else []
    with tempfile.TemporaryDirectory(prefix="burnish-audit-") as folder:
        pinned = Path(folder) / "requirements.txt"
        pinned.write_text("".join(f"{name}=={version}\n" for name, version in asked.items()), "utf-8")
        arguments = ["--requirement", str(pinned), "--no-deps", "--disable-pip", "--format", "json", "--output", "-"]
        arguments += ["--progress-spinner", "off", "--timeout", str(SOCKET_SECONDS), "--desc", "on", "--aliases", "on"]
        arguments += ["--cache-dir", str(paths.cache() / "advisories"), *service]
        return lab.tool("pip_audit", *arguments, timeout_seconds=ALL_SECONDS)


def _read_report(asked: dict[str, str], report: str) -> AdvisoryAnswers:
    """One report of pip-audit, read strictly: whatever is not as it should be is no answer."""
    if not report.strip():
        raise CheckError("pip-audit gave no report; its advisory service did not answer, or not as it should")
    known: dict[Pin, tuple[Advisory, ...]] = {}
    skipped: dict[str, Gap] = {}
    try:
        for entry in json.loads(report)["dependencies"]:
            name = canonicalize_name(str(entry["name"]))
            if "skip_reason" in entry:
                why = one_line(str(entry["skip_reason"]), 200)
                skipped[name] = Gap(what=f"pip-audit skipped {name}: {why}")
            elif Version(str(entry["version"])) == Version(asked[name]):
                known[name, asked[name]] = tuple(
                    Advisory(
                        id=_word(one["id"]),
                        aliases=tuple(sorted(_word(alias) for alias in _list(one.get("aliases", [])))),
                        fixed=tuple(_word(version) for version in _list(one["fix_versions"])),
                        about=one_line(str(one.get("description", "")), 300),
                    )
                    for one in _list(entry["vulns"])
                )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckError(f"pip-audit's report cannot be read: {type(error).__name__}") from error
    silent = [name for name in asked if (name, asked[name]) not in known and name not in skipped]
    gaps = [*skipped.values(), *(Gap(what=f"pip-audit said nothing about {name}") for name in silent)]
    return AdvisoryAnswers(advisories=known, gaps=tuple(gaps))


def _list(told: object) -> list[Any]:
    if not isinstance(told, list):
        raise TypeError("not a list")
    return told


def _word(told: object) -> str:
    if not isinstance(told, str) or not told:
        raise TypeError("not a word")
    return one_line(told, 80)
