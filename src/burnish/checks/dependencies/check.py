"""The dependencies check: each package that the code imports or requires is looked up, and nothing is guessed.

`details`: "packages" holds for each {name, version, advisories, exists, first_release, near}; "not_known" says what
could not be looked at; "optional" names what the code tries to import and does without; "well_known" is the size and
the date of the shipped list of names.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime

from burnish import config
from burnish.checks.dependencies.advisories import Answers, ask
from burnish.checks.dependencies.imports import imported
from burnish.checks.dependencies.index import Index, Listing
from burnish.checks.dependencies.installed import environment, layered
from burnish.checks.dependencies.package import Gap, Package, Use, packages
from burnish.checks.dependencies.pip_settings import configured_index
from burnish.checks.dependencies.required import required
from burnish.checks.dependencies.verdict import Looked, evidence
from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.errors import CheckError
from burnish.events import Evidence

LAYER = "the packages that were asked for"
"""In place of a file: where a package is that no source imports itself."""


class DependenciesCheck:
    """Are the packages the code leans on real, sound and meant?

    Failed: a known advisory, a name the index does not have, a near-miss of a well-known name, a newcomer. Not run:
    anything that nobody could tell about, unless something else has failed already. It asks about what the code names,
    not about what those packages need in turn, and it cannot tell whether a package does harm that nobody reported.
    """

    name = "dependencies"

    def __init__(self, osv_url: str = "", index_url: str = "", today: date | None = None) -> None:
        """The addresses of an advisory service (OSV's protocol) and of an index, in place of those that are set up.

        Those are the user's: what a project says about addresses is not heard.
        """
        self.osv_url = osv_url
        self.index_url = index_url
        self.today = today

    def judge(self, project: Project, lab: Lab) -> Evidence:
        """Look at every package that a source imports or a requirement names."""
        installed = layered(project.layer) if project.alone else environment(project.python)
        found = list(required(project.root))
        found += imported(project, installed, {one.name for one in found if isinstance(one, Use)})
        if project.layer:  # what the imported ones need in turn is there too, so it can be looked up
            found += [Use(name=name, file=LAYER, line=0) for name in installed.versions]
        gaps = [one for one in found if isinstance(one, Gap)]
        needed = packages((one for one in found if isinstance(one, Use)), installed)
        looked = self._look([one for one in needed if not one.idle], lab)
        looked.gaps[:0] = gaps
        looked.idle = [one.name for one in needed if one.idle]
        return evidence(self.name, looked, project.settings.newest_days)

    def _look(self, needed: list[Package], lab: Lab) -> Looked:
        """Ask both services at once; one that cannot be asked leaves a gap, and the other's answer counts."""
        looked = Looked(today=self.today or datetime.now(UTC).date(), packages=needed)
        if not needed:
            return looked
        with ThreadPoolExecutor(1) as beside:
            listings = beside.submit(self._listings, needed, lab)
            looked.advisories = self._advisories(needed, lab, looked.gaps)
            looked.listings = listings.result()
        return looked

    def _advisories(self, needed: list[Package], lab: Lab, gaps: list[Gap]) -> Answers:
        pins = [(one.name, version) for one in needed if not one.elsewhere for version in one.versions]
        gaps += [_gap(one) for one in needed if one.unaudited]
        url = self.osv_url or config.load().checks.advisories_url
        try:
            answers = ask(pins, lab, url) if pins else Answers()
        except CheckError as error:
            answers = Answers(gaps=(Gap(what=str(error)),))
        gaps += answers.gaps
        return answers

    def _listings(self, needed: list[Package], lab: Lab) -> dict[str, Listing]:
        names = [one.name for one in needed if not one.elsewhere]
        url = self.index_url or config.load().checks.index_url
        try:
            index = Index([url]) if url else configured_index(lab)
        except CheckError as error:
            return {name: Listing(why=str(error)) for name in names}
        return index.look(names)


def _gap(package: Package) -> Gap:
    return Gap(file=package.place.file, line=package.place.line, what=package.unaudited)
