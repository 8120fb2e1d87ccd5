"""The tests check on a whole project: its own suite, three times, in three orders.

Details: `tests` (id, outcome, seconds, for each test), `slowest` (the ten slowest ids with seconds), `flaky` (ids),
`runs` (seed and seconds of each run), `seconds`, `printed` (the end of the output, when something went wrong),
`separated` (whether the code ran apart from its tests), `shared` (how many did not), `sandbox`, `findings`.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath

from burnish.checks.command_tests import judge_command
from burnish.checks.finding import Finding
from burnish.checks.lab import Lab
from burnish.checks.missing_packages import explain_install, find_missing_package
from burnish.checks.project import Project
from burnish.checks.project_run import PASSING, Ran, Said, has_tests, run_suite
from burnish.checks.separate_tests import is_separable, judge_apart
from burnish.checks.tests import sharing
from burnish.events import Evidence, Outcome
from burnish.text import every, one_line, plural

SEEDS = (1, 2)
"""The random orders that are tried after the project's own; always the same, so that a verdict can be had again."""
NO_TESTS = "no tests were found; write some in tests/, or name them with --tests"
MOST_NAMED = 3


class TestsOfProject:
    """Do all tests pass, whatever their order?"""

    __test__ = False
    name = "tests"

    def judge(self, project: Project, lab: Lab) -> Evidence:
        """Passed only if there was a test, every one passed, each time."""
        if project.test_command:
            return judge_command(self.name, project, lab)
        if is_separable(project):
            return judge_apart(self.name, project, lab)
        if not has_tests(project):
            return Evidence(check=self.name, verdict="not_run", why=NO_TESTS)
        first = run_suite(project, lab)
        lab.tell(1, 1 + len(SEEDS))
        again = _repeated(project, lab, first)
        lab.tell(1 + len(SEEDS), 1 + len(SEEDS))
        return _evidence(self.name, lab, [first, *again])


def _repeated(project: Project, lab: Lab, first: Ran) -> list[Ran]:
    """The suite in random orders; not when the first run was broken off, ran nothing, or took long."""
    ran = first.counted("failed", *PASSING)
    if first.problem or not ran or first.seconds > project.settings.test_seconds / 3:
        return []
    with ThreadPoolExecutor(len(SEEDS)) as pool:
        return list(pool.map(lambda seed: run_suite(project, lab, seed), SEEDS))


def _evidence(name: str, lab: Lab, runs: list[Ran]) -> Evidence:
    first = runs[0]
    flaky = flaky_ones(runs)
    verdict, why = _verdict(runs, flaky)
    failed = [*first.broken, *(test for test in first.tests.values() if test.outcome == "failed")]
    if package := find_missing_package((test.message for test in failed), lab.project):
        why += f"; {package} is not installed: {explain_install(package, lab.project)}"
    return Evidence(
        check=name,
        verdict=verdict,
        why=why,
        figure=figure(first),
        threshold="all pass",
        details={
            "findings": [finding.model_dump() for finding in findings(first, flaky, lab.root)],
            "tests": [
                {"id": test.id, "outcome": test.outcome, "seconds": test.seconds} for test in first.tests.values()
            ],
            "slowest": [{"id": test.id, "seconds": test.seconds} for test in slowest(first)],
            "flaky": flaky,
            "runs": [{"seed": seed, "seconds": run.seconds} for seed, run in zip((0, *SEEDS), runs, strict=False)],
            "seconds": round(sum(run.seconds for run in runs), 3),
            "printed": first.printed if verdict != "passed" else "",
            "separated": False,
            "shared": len(first.tests),
            "sandbox": lab.sandbox.level,
        },
    )


def _verdict(runs: list[Ran], flaky: list[str]) -> tuple[Outcome, str]:
    """What the runs say together, and why."""
    first = runs[0]
    failed = [*first.broken, *(test for test in first.tests.values() if test.outcome == "failed")]
    if first.problem:
        return "failed", first.problem
    if failed:
        also = f"; {plural(len(flaky), 'flaky test')}" if flaky else ""
        return "failed", f"{_failures(first, failed)}{also}"
    if flaky:
        return (
            "failed",
            f"{plural(len(flaky), 'flaky test')}, passing or failing by order or by chance: {_named(flaky)}",
        )
    if not first.tests:
        return "not_run", NO_TESTS
    if not first.counted(*PASSING):
        were = "was" if len(first.tests) == 1 else "were"
        return "not_run", f"{every(len(first.tests), 'test')} {were} skipped; nothing was tested"
    once = " (run once: the suite takes long, so no other order was tried)" if len(runs) == 1 else ""
    return "passed", f"{_all(first)}{once}{sharing(len(first.tests), len(first.tests))}"


def _all(ran: Ran) -> str:
    skipped = ran.counted("skipped")
    said = f"{every(ran.counted(*PASSING), 'test')} passed"
    return f"{said}, {skipped} skipped" if skipped else said


def _failures(ran: Ran, failed: list[Said]) -> str:
    """How many failed, and the first of them."""
    if ran.broken:
        broken = ran.broken[0]
        return f"{broken.id or 'a test file'} could not be imported: {one_line(_last_line(broken.message), 200)}"
    many = f"{len(failed)} of {plural(len(ran.tests), 'test')} failed"
    return f"{many}: {failed[0].id}: {one_line(failed[0].message, 200)}"


def _last_line(text: str) -> str:
    """Of an import's error: the error itself, not the way to it."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def _named(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def flaky_ones(runs: list[Ran]) -> list[str]:
    """Tests that did not say the same each time."""
    said: dict[str, set[str]] = {}
    for run in runs:
        for name in dict.fromkeys([*runs[0].tests, *run.tests]):
            test = run.tests.get(name)
            said.setdefault(name, set()).add(test.outcome if test else "missing")
    return [name for name, outcomes in said.items() if len(outcomes) > 1]


def slowest(ran: Ran, most: int = 10) -> list[Said]:
    """The tests that took longest."""
    return sorted(ran.tests.values(), key=lambda test: -test.seconds)[:most]


def figure(ran: Ran) -> str:
    """How many ended how: "214 passed, 1 failed, 2 skipped"."""
    counts = {
        "passed": ran.counted(*PASSING),
        "failed": ran.counted("failed") + len(ran.broken),
        "skipped": ran.counted("skipped"),
        "not run": ran.silent,
    }
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "none"


def findings(ran: Ran, flaky: list[str], root: str) -> list[Finding]:
    """Where to look: broken files, failed tests, flaky ones."""
    failed = [*ran.broken, *(test for test in ran.tests.values() if test.outcome == "failed")]
    found = [_finding(test, root) for test in failed]
    named = {test.id for test in failed}
    return found + [
        Finding(file=name.partition("::")[0], what=f"flaky: {name} passes or fails by order or by chance", rule="flaky")
        for name in flaky
        if name not in named
    ]


def _finding(test: Said, root: str) -> Finding:
    """A failed test, at the line of the project where it failed."""
    own = test.id.partition("::")[0]
    path = PurePosixPath(test.file or own)
    inside = not path.is_absolute() or path.is_relative_to(root)
    file = str(path.relative_to(root)) if path.is_absolute() and inside else str(path)
    what = f"{test.id} failed: {one_line(test.message, 300)}"
    return Finding(file=file if inside else own, line=test.line if inside else 0, what=what, rule="failed")
