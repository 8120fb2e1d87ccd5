"""The dependencies check: each package that the code imports or requires is looked up, and nothing is guessed.

A finding outweighs what is not known, and what is not known is no pass.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from functools import partial

from burnish import config
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.check import RANKS, Details, Finding
from burnish.checks.dependencies.services import Advisories, IndexListing, Pin, ask_advisories, look_up
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


class PackageRow(Frozen):
    """What was learned of one package."""

    name: str
    version: str
    advisories: Advisories
    exists: bool | None
    """None when nobody could tell."""
    first_release: date | None
    near: str
    """The well-known package that it could be mistaken for."""


class DependencyDetails(Details):
    """What the check leaves in its evidence."""

    packages: tuple[PackageRow, ...]
    not_known: tuple[Gap, ...]
    """What could not be looked at."""
    optional: tuple[str, ...]
    """What the code tries to import and does without."""
    well_known: dict[str, int | date]
    """The shipped list of names: how many, and of which day."""


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

    def judge(self, project: Project, context: CheckContext) -> Evidence:
        """Look at every package that a source imports or a requirement names."""
        installed = read_layer(project.layer) if project.alone else read_environment(project.python)
        found = list(find_required(project.root))
        found += find_imported(project, installed, {one.name for one in found if isinstance(one, PackageUse)})
        if project.layer:  # what the imported ones need in turn is there too, so it can be looked up
            found += [PackageUse(name=name, file=LAYER, line=0) for name in installed.versions]
        packages = group_uses((one for one in found if isinstance(one, PackageUse)), installed)
        used = [one for one in packages if not one.idle]
        advisories, listings, unanswered = self._ask_services(used, context)
        gaps = [one for one in found if isinstance(one, Gap)] + unanswered
        rows, findings, days = [], list[Finding](), project.settings.newest_days
        for package in used:
            listing = listings.get(package.name, IndexListing())
            pins = [(package.name, version) for version in package.versions]
            row = PackageRow(
                name=package.name,
                version=", ".join(package.versions),
                advisories=tuple(one for pin in pins for one in advisories.get(pin, ())),
                exists=listing.exists,
                first_release=listing.first_release,
                near=find_lookalike(package.name),
            )
            rows.append(row)
            findings += _list_findings(package.place, row, listing.quarantined, days)
        findings.sort(key=lambda one: -RANKS[one.severity])
        gaps = list(dict.fromkeys(gaps))
        verdict: Outcome = "failed" if findings else "not_run" if gaps else "passed"
        why = "; ".join([*_summarise([one.what for one in findings], ""), *_summarise(gaps, "not known: ")])
        many = plural(len(rows), "package")
        details = DependencyDetails(
            findings=tuple(findings),
            packages=tuple(rows),
            not_known=tuple(gaps),
            optional=tuple(one.name for one in packages if one.idle),
            well_known={"names": len(well_known_names()), "dated": well_known_date()},
        )
        return Evidence(
            check=self.name,
            verdict=verdict,
            why=why or (f"nothing known against {many}" if rows else "uses the standard library alone"),
            figure=f"{many}, {sum(bool(one.advisories) for one in rows)} with advisories",
            threshold=f"no advisories, no doubtful names, none younger than {plural(days, 'day')}",
            details=details.dump(),
        )

    def _ask_services(
        self, packages: list[UsedPackage], context: CheckContext
    ) -> tuple[dict[Pin, Advisories], dict[str, IndexListing], list[Gap]]:
        """Ask both services at once; one that cannot be asked leaves gaps, and the other's answer counts."""
        if not packages:
            return {}, {}, []
        settings = config.load().checks
        on_index = [one for one in packages if not one.elsewhere]
        pins = [(one.name, version) for one in on_index for version in one.versions]
        with ThreadPoolExecutor(1) as beside:
            names = [one.name for one in on_index]
            asked = beside.submit(look_up, names, context, self.index_url or settings.index_url)
            advisories, silent = ask_advisories(pins, context, self.osv_url or settings.advisories_url)
            listings = asked.result()
        gaps = [one.unaudited for one in packages if one.unaudited] + silent
        for name, listing in listings.items():
            if listing.exists is None:
                gaps.append(f"whether {name} exists is not known: {listing.why}")
            # That a well-known package is no newcomer is known without the index.
            elif listing.exists and not listing.first_release and name not in well_known_names():
                gaps.append(f"the package index does not say when {name} was first released")
        return advisories, listings, gaps


def _summarise(texts: list[str], before: str) -> list[str]:
    """The first of several sentences, with how many more there are."""
    more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return [f"{before}{texts[0]}{more}"] if texts else []


def _list_findings(place: PackageUse, row: PackageRow, quarantined: bool, newest_days: int) -> Iterator[Finding]:
    """What speaks against a package."""
    finding = partial(Finding, file=place.file, line=place.line, severity="high")
    for advisory in row.advisories:
        fixed = f", fixed in {advisory.fixed[0]}" if advisory.fixed else ", and no version fixes it"
        yield finding(what=f"{row.name} {advisory.version} has {advisory.best_name}{fixed}", rule=advisory.id)
    if row.exists is False:
        yield finding(what=f"{row.name} does not exist on the package index", rule="does-not-exist")
    if quarantined:
        yield finding(what=f"{row.name} has been quarantined by the package index", rule="quarantined")
    if row.near:
        yield finding(what=f"{row.name} looks like {row.near}, a well-known package, and is not", rule="near-miss")
    if row.first_release and (age := (datetime.now(UTC).date() - row.first_release).days) < newest_days:
        what = f"{row.name} is new: its first release is {plural(max(age, 0), 'day')} old"
        yield finding(what=what, rule="newcomer", severity="medium")
