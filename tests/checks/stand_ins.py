"""Checks that say what a test wants them to say, and a project to say it about."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from burnish.checks import Check, CheckContext, Project
from burnish.checks.project import CHECKS, Settings
from burnish.checks.verdict import CheckResults, ProjectSummary
from burnish.events import Evidence, Outcome

Answer = Outcome | Evidence | Exception | Callable[[Project, CheckContext], Evidence]


class StandIn:
    """One check with one answer."""

    def __init__(self, name: str, answer: Answer) -> None:
        self.name = name
        self.answer = answer

    def judge(self, project: Project, context: CheckContext) -> Evidence:
        if isinstance(self.answer, Exception):
            raise self.answer
        if isinstance(self.answer, Evidence):
            return self.answer
        if callable(self.answer):
            return self.answer(project, context)
        return said(self.name, self.answer)


def said(check: str, verdict: Outcome = "passed", why: str = "", **more: object) -> Evidence:
    return Evidence(check=check, verdict=verdict, why=why or f"{check} said so", **more)  # type: ignore[arg-type]


def stand_ins(**answers: Answer) -> Callable[[], Mapping[str, Check]]:
    """All seven; those that are not named pass."""
    return lambda: {name: StandIn(name, answers.get(name, "passed")) for name in CHECKS}


def made(folder: Path, code: str = "def f():\n    return 1\n", **settings: object) -> Project:
    """A project of one file."""
    folder.mkdir(exist_ok=True)
    (folder / "code.py").write_text(code)
    chosen = Settings.model_validate(settings)
    return Project(root=folder, sources=(Path("code.py"),), python=Path(sys.executable), settings=chosen)


def checked(*evidence: Evidence, required: tuple[str, ...] = ("tests",)) -> CheckResults:
    """A verdict made by hand."""
    project = ProjectSummary(name="toy", sources=("code.py",), tests=(), settings=Settings())
    return CheckResults(project=project, required=required, evidence=evidence, seconds={e.check: 0.5 for e in evidence})
