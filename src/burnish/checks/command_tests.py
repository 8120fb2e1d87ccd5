"""Tests that a command of the user's runs: its exit code decides."""

import os

from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.project_run import Ran, paths, read, run_job
from burnish.checks.tests import sharing
from burnish.errors import CheckError
from burnish.events import Evidence, Outcome
from burnish.text import one_line

CANNOT_RUN = (126, 127)
"""How a shell says that there is no such command, or that it may not be run."""


def judge_command(name: str, project: Project, lab: Lab) -> Evidence:
    """Passed when the command left with 0. Run once: nothing is known of the tests in it."""
    bins = os.path.dirname(lab.python)  # noqa: PTH120
    environment = {
        "PATH": f"{bins}:/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": os.pathsep.join(paths(project, lab)),
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    ran = read(*run_job(project, lab, {"command": list(project.test_command), "environment": environment}))
    if ran.exit in CANNOT_RUN:
        raise CheckError(f"the test command could not be run: {_last_words(ran)}")
    verdict: Outcome = "passed" if ran.exit == 0 else "failed"
    return Evidence(
        check=name,
        verdict=verdict,
        why=_why(ran),
        figure=f"exit code {ran.exit}" if ran.exit >= 0 else "ended",
        threshold="exit code 0",
        details={
            "findings": [],
            "tests": [],
            "command": list(project.test_command),
            "printed": ran.printed,
            "seconds": ran.seconds,
            "separated": False,
            "shared": 1,
            "sandbox": lab.sandbox.level,
        },
    )


def _why(ran: Ran) -> str:
    if ran.exit == 0:
        return f"the test command left with exit code 0; single tests are not known{sharing(1, 1)}"
    if ran.exit > 0:
        return f"the test command left with exit code {ran.exit}: {_last_words(ran)}"
    return ran.problem


def _last_words(ran: Ran) -> str:
    lines = [line for line in ran.printed.splitlines() if line.strip()]
    return one_line(lines[-1], 200) if lines else "it said nothing"
