"""`burnish.check`: the evidence alone, for code that exists. The Python twin of the command of the same name."""

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.project import Project
from burnish.checks.verdict import CheckResults, Watcher, choose_checks, judge_all
from burnish.commands.project_packages import Tell, add_project_layer
from burnish.commands.verify import prepare_evidence_layer
from burnish.errors import SetupProblem
from burnish.evidence.folder import parse_dossier, read_evidence
from burnish.packages import parse_requirements, split_auto
from burnish.report.check_page import unwritable_folder, write_reports


def check(
    paths: str | Path | Sequence[str | Path],
    tests: str | Path | Sequence[str | Path] = (),
    only: Collection[str] = (),
    *,
    python: str | Path | None = None,
    test_command: str | None = None,
    mutants: int | None = None,
    sandbox: str = "auto",
    out: str | Path | None = None,
    watch: Watcher | None = None,
    packages: Sequence[str] = (),
    allow_packages: Sequence[str] = (),
    raise_bugs: bool = True,
    keep: Callable[[CheckContext], None] = lambda context: None,
) -> CheckResults:
    """What every check, or those in `only`, says about the code at `paths`; `checked.passed` is the verdict.

    `out` names a folder for `report.html`, `report.json` and `report.md`. A check that could not be run says so and
    keeps nothing from the others; a bug of ours is raised again when all have answered. With `raise_bugs` off it is
    left in `checked.bugs`, for a caller who wants to show the answers first. `packages` are third-party packages for a
    project that has no environment of its own, besides those that it requires; see `write`. "auto" among them stands
    for all that the project states for its tests: extras, groups, files of requirements, tox. `keep` is told of what
    runs code: whoever closes it has all checks end, and those that could not answer say that they were not run.
    """
    from burnish.checks.bench.own_command import follow_own_command
    from burnish.checks.bench.project_finder import find_project

    by_name, for_work = split_auto(packages)
    asked = parse_requirements(by_name, allow_packages)
    choose_checks(only)
    if out is not None:  # a place where the reports could not be put is refused before any work is done
        folder = Path(out)
        try:
            parent = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        except OSError as error:
            raise unwritable_folder(folder, error) from error
        if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
            raise SetupProblem(f"The reports cannot be written to {str(folder)!r}. Choose another place: --out DIR")
    named, named_tests = _to_list(paths), _to_list(tests)
    project = find_project(named, named_tests, python, test_command)
    project = follow_own_command(project, named, bool(named_tests))
    if mutants is not None:
        settings = project.settings.model_copy(update={"mutants": mutants})
        project = project.model_copy(update={"settings": settings})
    tell = watch.notice if watch else None
    built = None if asked or for_work else _add_app_layer(project, tell)
    project = built or add_project_layer(project, asked, tell, for_work=for_work)[0]
    with CheckContext(project, sandbox) as lab:
        keep(lab)
        checked = judge_all(project, lab, only, watch)
    if out is not None:
        write_reports(checked, project, Path(out))
    if checked.bugs and raise_bugs:
        raise checked.bugs[0]
    return checked


def _add_app_layer(project: Project, tell: Tell | None) -> Project | None:
    """An app that Burnish built, with the very wheels that its evidence names; None for any other project."""
    try:
        dossier = parse_dossier(read_evidence(project.root))
    except SetupProblem:
        return None
    if dossier.app is None or project.has_environment:
        return None
    layer = prepare_evidence_layer(dossier.packages, tell=tell)
    return project.model_copy(update={"layer": layer.folder, "alone": True})


def _to_list(paths: str | Path | Sequence[str | Path]) -> list[str | Path]:
    """One path, or several, as several."""
    return [paths] if isinstance(paths, str | Path) else list(paths)
