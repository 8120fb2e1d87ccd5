"""From what was learned to one verdict: a finding outweighs what is not known, and what is not known is no pass."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from burnish.checks.dependencies.advisories import Advisory, Answers
from burnish.checks.dependencies.index import Listing
from burnish.checks.dependencies.package import Gap, Package
from burnish.checks.finding import Finding, Severity
from burnish.events import Evidence, Outcome
from burnish.packages.near import dated, near, well_known
from burnish.text import plural


@dataclass
class Looked:
    """Everything that was learned about a project's packages."""

    today: date
    packages: list[Package]
    advisories: Answers = field(default_factory=Answers)
    listings: dict[str, Listing] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)

    def known(self, package: Package) -> list[tuple[str, Advisory]]:
        """The advisories of a package, each with the version it is about."""
        told = self.advisories.advisories
        return [(version, one) for version in package.versions for one in told.get((package.name, version), ())]

    def listing(self, package: Package) -> Listing:
        """What the index says; of a package from elsewhere nothing is asked."""
        return self.listings.get(package.name, Listing())


def evidence(check: str, looked: Looked, newest_days: int) -> Evidence:
    """The one answer for all packages."""
    findings = [one for package in looked.packages for one in _findings(package, looked, newest_days)]
    findings.sort(key=lambda one: ("high", "medium", "low", "").index(one.severity))
    gaps = list(dict.fromkeys([one.what for one in looked.gaps] + _unknown(looked)))
    verdict: Outcome = "failed" if findings else "not_run" if gaps else "passed"
    return Evidence(
        check=check,
        verdict=verdict,
        why=_why(findings, gaps, looked.packages),
        figure=_figure(looked),
        threshold=f"no advisories, no doubtful names, none younger than {plural(newest_days, 'day')}",
        details={
            "findings": [one.model_dump() for one in findings],
            "packages": [_row(one, looked) for one in looked.packages],
            "not_known": gaps,
            "optional": looked.idle,
            "well_known": {"names": len(well_known()), "dated": dated().isoformat()},
        },
    )


def _findings(package: Package, looked: Looked, newest_days: int) -> Iterator[Finding]:
    listing = looked.listing(package)
    for version, advisory in looked.known(package):
        yield _finding(package, _told(package.name, version, advisory), advisory.id, "high")
    if listing.exists is False:
        yield _finding(package, f"{package.name} does not exist on the package index", "does-not-exist", "high")
    if listing.quarantined:
        yield _finding(package, f"{package.name} has been quarantined by the package index", "quarantined", "high")
    if meant := near(package.name):
        yield _finding(
            package, f"{package.name} looks like {meant}, a well-known package, and is not", "near-miss", "high"
        )
    if listing.first_release and (age := (looked.today - listing.first_release).days) < newest_days:
        told = f"{package.name} is new: its first release is {plural(max(age, 0), 'day')} old"
        yield _finding(package, told, "newcomer", "medium")


def _finding(package: Package, what: str, rule: str, severity: Severity) -> Finding:
    place = package.place
    return Finding(file=place.file, line=place.line, what=what, rule=rule, severity=severity)


def _told(name: str, version: str, advisory: Advisory) -> str:
    fixed = f", fixed in {advisory.fixed[0]}" if advisory.fixed else ", and no version fixes it"
    return f"{name} {version} has {advisory.shown}{fixed}"


def _unknown(looked: Looked) -> list[str]:
    """What the index left open. That a well-known package is no newcomer is known without it."""
    gaps = []
    for package in looked.packages:
        listing = looked.listing(package)
        if package.name in looked.listings and listing.exists is None:
            gaps.append(f"whether {package.name} exists is not known: {listing.why}")
        if listing.exists and not listing.first_release and package.name not in well_known():
            gaps.append(f"the package index does not say when {package.name} was first released")
    return gaps


def _why(findings: list[Finding], gaps: list[str], needed: list[Package]) -> str:
    if not findings and not gaps:
        return (
            f"nothing known against {plural(len(needed), 'package')}" if needed else "uses the standard library alone"
        )
    parts = [findings[0].what + _more(len(findings))] if findings else []
    return "; ".join(parts + ([f"not known: {gaps[0]}{_more(len(gaps))}"] if gaps else []))


def _more(number: int) -> str:
    return f" (and {number - 1} more)" if number > 1 else ""


def _figure(looked: Looked) -> str:
    vulnerable = sum(1 for package in looked.packages if looked.known(package))
    return f"{plural(len(looked.packages), 'package')}, {vulnerable} with advisories"


def _row(package: Package, looked: Looked) -> dict[str, object]:
    listing = looked.listing(package)
    return {
        "name": package.name,
        "version": ", ".join(package.versions),
        "advisories": [{"version": version, **one.model_dump(mode="json")} for version, one in looked.known(package)],
        "exists": listing.exists,
        "first_release": listing.first_release.isoformat() if listing.first_release else None,
        "near": near(package.name),
    }
