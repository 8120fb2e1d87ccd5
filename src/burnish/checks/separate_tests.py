"""Generated code is judged apart from its tests, as the sandbox grades: it cannot reach its judge."""

from pathlib import Path

from burnish.checks.finding import Finding
from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.tests import grade_script, sharing
from burnish.events import Case, Evidence, Graded, Outcome
from burnish.text import every, one_line, plural

CODE, TESTS = Path("solution.py"), Path("test_solution.py")
RUNS = 3


def is_separable(project: Project) -> bool:
    """True for what `write` makes: one module and one file of tests."""
    return project.generated and project.sources == (CODE,) and project.tests == (TESTS,)


def judge_apart(name: str, project: Project, lab: Lab) -> Evidence:
    """Grade the module three times."""
    code, tests = project.text(CODE), project.text(TESTS)
    runs = []
    for number in range(RUNS):
        runs.append(grade_script(code, tests, lab.sandbox))
        lab.tell(number + 1, RUNS)
    first = runs[0]
    flaky = flaky_cases(runs)
    verdict, why = _verdict(first, flaky)
    skipped = sum(case.outcome == "not_run" for case in first.cases)
    failed = len(first.cases) - first.passed - skipped
    counts = {"passed": first.passed, "failed": failed, "skipped": skipped}
    bad = [case for case in first.cases if case.outcome == "failed" or case.name in flaky]
    return Evidence(
        check=name,
        verdict=verdict,
        why=why,
        figure=", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none",
        threshold="all pass",
        details={
            "findings": [_finding(case).model_dump() for case in bad],
            "tests": [{"id": case.name, "outcome": case.outcome, "seconds": case.seconds} for case in first.cases],
            "slowest": [
                {"id": case.name, "seconds": case.seconds}
                for case in sorted(first.cases, key=lambda case: -case.seconds)[:10]
            ],
            "flaky": flaky,
            "seconds": round(sum(run.seconds for run in runs), 3),
            "separated": all(run.separated for run in runs),
            "shared": first.shared,
            "sandbox": lab.sandbox.level,
        },
    )


def flaky_cases(runs: list[Graded]) -> list[str]:
    """Tests that did not say the same each time."""
    said = [{case.name: case.outcome for case in run.cases} for run in runs]
    names = dict.fromkeys(name for run in said for name in run)
    return [name for name in names if len({run.get(name) for run in said}) > 1]


def _verdict(graded: Graded, flaky: list[str]) -> tuple[Outcome, str]:
    failed = [case for case in graded.cases if case.outcome == "failed"]
    if graded.problem:
        return "failed", graded.problem
    if failed:
        first = f"{failed[0].name}: {one_line(failed[0].message, 200)}"
        return "failed", f"{len(failed)} of {plural(len(graded.cases), 'test')} failed: {first}"
    if flaky:
        return "failed", f"{plural(len(flaky), 'flaky test')}, passing or failing by chance: {', '.join(flaky[:3])}"
    if not graded.passed:
        return "not_run", "all tests were skipped; nothing was tested" if graded.cases else "there is no test"
    return "passed", f"{every(graded.passed, 'test')} passed{sharing(graded.shared, len(graded.cases))}"


def _finding(case: Case) -> Finding:
    return Finding(file=str(TESTS), what=f"{case.name} failed: {one_line(case.message, 300)}", rule="failed")
