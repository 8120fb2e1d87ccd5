"""The dependencies check: each package that the code imports or requires is looked up, and nothing is guessed.

A finding outweighs what is not known, and what is not known is no pass.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime

from burnish import config
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.check import Finding, Severity
from burnish.checks.dependencies.services import Advisory, IndexListing, ask_advisories, look_up
from burnish.checks.dependencies.uses import (
    Gap,
    PackageUse,
    UsedPackage,
    find_imported,
    find_required,
    group_uses,
    read_environment,
    read_layer,
)
from burnish.checks.project import Project
from burnish.events import Evidence, Frozen, Outcome
from burnish.packages.names import find_lookalike, well_known_date, well_known_names
from burnish.text import plural

LAYER = "the packages that were asked for"
"""In place of a file: where a package is that no source imports itself."""


class AdvisoryRow(Advisory):
    """An advisory and the version of a package that it is about."""

    version: str


class PackageRow(Frozen):
    """What was learned of one package."""

    name: str
    version: str
    advisories: tuple[AdvisoryRow, ...]
    exists: bool | None
    """None when nobody could tell."""
    first_release: date | None
    near: str
    """The well-known package that it could be mistaken for."""


class WellKnownList(Frozen):
    """The shipped list of names: how many, and of which day."""

    names: int
    dated: date


class DependencyDetails(Frozen):
    """What the check leaves in its evidence."""

    findings: tuple[Finding, ...]
    packages: tuple[PackageRow, ...]
    not_known: tuple[str, ...]
    """What could not be looked at."""
    optional: tuple[str, ...]
    """What the code tries to import and does without."""
    well_known: WellKnownList


@dataclass(frozen=True)
class _Facts:
    """What is known of one package from all sides."""

    package: UsedPackage
    advisories: tuple[tuple[str, Advisory], ...]
    """Each with the version it is about."""
    listing: IndexListing | None
    """None for a package from elsewhere: of that nobody is asked."""

    def index_gaps(self) -> Iterator[str]:
        """What the index left open. That a well-known package is no newcomer is known without it."""
        name, listing = self.package.name, self.listing
        if listing and listing.exists is None:
            yield f"whether {name} exists is not known: {listing.why}"
        if listing and listing.exists and not listing.first_release and name not in well_known_names():
            yield f"the package index does not say when {name} was first released"

    def row(self) -> PackageRow:
        """What the evidence says of it."""
        listing = self.listing or IndexListing()
        return PackageRow(
            name=self.package.name,
            version=", ".join(self.package.versions),
            advisories=tuple(AdvisoryRow(version=version, **one.model_dump()) for version, one in self.advisories),
            exists=listing.exists,
            first_release=listing.first_release,
            near=find_lookalike(self.package.name),
        )


class DependenciesCheck:
    """Are the packages the code leans on real, sound and meant?

    Failed: a known advisory, a name the index does not have, a near-miss of a well-known name, a newcomer. Not run:
    anything that nobody could tell about, unless something else has failed already. It asks about what the code names,
    not about what those packages need in turn, and it cannot tell whether a package does harm that nobody reported.
    """

    name = "dependencies"

    def __init__(self, osv_url: str = "", index_url: str = "") -> None:
        """The addresses of an advisory service (OSV's protocol) and of an index, in place of those that are set up.

        Those are the user's: what a project says about addresses is not heard.
        """
        self.osv_url = osv_url
        self.index_url = index_url

    def judge(self, project: Project, lab: CheckContext) -> Evidence:
        """Look at every package that a source imports or a requirement names."""
        installed = read_layer(project.layer) if project.alone else read_environment(project.python)
        found = list(find_required(project.root))
        found += find_imported(project, installed, {one.name for one in found if isinstance(one, PackageUse)})
        if project.layer:  # what the imported ones need in turn is there too, so it can be looked up
            found += [PackageUse(name=name, file=LAYER, line=0) for name in installed.versions]
        packages = group_uses((one for one in found if isinstance(one, PackageUse)), installed)
        facts, gaps = self._look_up([one for one in packages if not one.idle], lab)
        gaps = [one.what for one in found if isinstance(one, Gap)] + gaps
        optional = tuple(one.name for one in packages if one.idle)
        return self._evidence(facts, gaps, optional, project.settings.newest_days)

    def _look_up(self, packages: list[UsedPackage], lab: CheckContext) -> tuple[list[_Facts], list[str]]:
        """Ask both services at once; one that cannot be asked leaves gaps, and the other's answer counts."""
        if not packages:
            return [], []
        settings = config.load().checks
        on_index = [one for one in packages if not one.elsewhere]
        pins = [(one.name, version) for one in on_index for version in one.versions]
        with ThreadPoolExecutor(1) as beside:
            names = [one.name for one in on_index]
            asked = beside.submit(look_up, names, lab, self.index_url or settings.index_url)
            answers = ask_advisories(pins, lab, self.osv_url or settings.advisories_url)
            listings = asked.result()
        gaps = [one.unaudited for one in packages if one.unaudited] + [gap.what for gap in answers.gaps]
        facts = []
        for package in packages:
            versions = [(version, answers.advisories.get((package.name, version), ())) for version in package.versions]
            known = tuple((version, one) for version, advisories in versions for one in advisories)
            facts.append(_Facts(package, known, listings.get(package.name)))
            gaps += facts[-1].index_gaps()
        return facts, gaps

    def _evidence(self, facts: list[_Facts], gaps: list[str], optional: tuple[str, ...], newest_days: int) -> Evidence:
        """The one answer for all packages."""
        today = datetime.now(UTC).date()
        findings = [finding for one in facts for finding in _findings(one, today, newest_days)]
        findings.sort(key=lambda one: ("high", "medium", "low", "").index(one.severity))
        gaps = list(dict.fromkeys(gaps))
        verdict: Outcome = "failed" if findings else "not_run" if gaps else "passed"
        why = "; ".join([*_summarise([one.what for one in findings], ""), *_summarise(gaps, "not known: ")])
        if not why:
            many = plural(len(facts), "package")
            why = f"nothing known against {many}" if facts else "uses the standard library alone"
        vulnerable = sum(1 for one in facts if one.advisories)
        return Evidence(
            check=self.name,
            verdict=verdict,
            why=why,
            figure=f"{plural(len(facts), 'package')}, {vulnerable} with advisories",
            threshold=f"no advisories, no doubtful names, none younger than {plural(newest_days, 'day')}",
            details=DependencyDetails(
                findings=tuple(findings),
                packages=tuple(one.row() for one in facts),
                not_known=tuple(gaps),
                optional=optional,
                well_known=WellKnownList(names=len(well_known_names()), dated=well_known_date()),
            ).model_dump(mode="json"),
        )


def _summarise(texts: list[str], before: str) -> list[str]:
    """The first of several sentences, with how many more there are."""
    more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return [f"{before}{texts[0]}{more}"] if texts else []


def _findings(facts: _Facts, today: date, newest_days: int) -> Iterator[Finding]:
    """What speaks against a package."""
    name, listing = facts.package.name, facts.listing or IndexListing()

    def finding(what: str, rule: str, severity: Severity = "high") -> Finding:
        place = facts.package.place
        return Finding(file=place.file, line=place.line, what=what, rule=rule, severity=severity)

    for version, advisory in facts.advisories:
        fixed = f", fixed in {advisory.fixed[0]}" if advisory.fixed else ", and no version fixes it"
        yield finding(f"{name} {version} has {advisory.best_name}{fixed}", advisory.id)
    if listing.exists is False:
        yield finding(f"{name} does not exist on the package index", "does-not-exist")
    if listing.quarantined:
        yield finding(f"{name} has been quarantined by the package index", "quarantined")
    if meant := find_lookalike(name):
        yield finding(f"{name} looks like {meant}, a well-known package, and is not", "near-miss")
    if listing.first_release and (age := (today - listing.first_release).days) < newest_days:
        days = plural(max(age, 0), "day")
        yield finding(f"{name} is new: its first release is {days} old", "newcomer", "medium")
