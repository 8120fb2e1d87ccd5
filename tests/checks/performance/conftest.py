"""Small projects, judged by the real check in a real cell."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.performance import PerformanceCheck
from burnish.checks.project import Project, Settings
from burnish.events import Evidence

SAMPLES = Path(__file__).parents[1] / "samples" / "performance"

Judge = Callable[..., Evidence]


def project_at(root: Path, growth: str = "quadratic", tests: str = "test_code.py") -> Project:
    named = {file.name for file in root.glob("*.py")}
    return Project(
        root=root,
        sources=tuple(Path(name) for name in sorted(named - {tests})),
        tests=(Path(tests),) if tests in named else (),
        python=Path(sys.executable),
        settings=Settings(growth=growth),
    )


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """The verdict on a module `code` with these tests."""

    def judged(code: str, tests: str, growth: str = "quadratic") -> Evidence:
        root = tmp_path / "project"
        root.mkdir(mode=0o755, exist_ok=True)
        (root / "code_under_test.py").write_text(code)
        if tests:
            (root / "test_code.py").write_text(f"from code_under_test import *\n{tests}")
        project = project_at(root, growth)
        with CheckContext(project) as context:
            return PerformanceCheck().judge(project, context)

    return judged


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Evidence]:
    """The verdict on the twelve planted functions, as often as one wants."""
    root = tmp_path_factory.mktemp("planted") / "project"
    shutil.copytree(SAMPLES, root)
    project = project_at(root, tests="test_planted.py")

    def judged() -> Evidence:
        with CheckContext(project) as context:
            return PerformanceCheck().judge(project, context)

    return judged
