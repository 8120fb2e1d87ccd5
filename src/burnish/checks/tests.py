"""The tests check: the one caller of `sandbox.grade`. What it says is what evals count and training rewards."""

from typing import TYPE_CHECKING

from burnish.checks.suite import Suite
from burnish.errors import SandboxError
from burnish.events import Evidence, Graded, Outcome
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks.sentence import AskedKinds
from burnish.text import every, plural

if TYPE_CHECKING:
    from burnish.checks.ground import Ground

TIMEOUT_SECONDS = 5.0


def grade(code: str, suite: Suite, sandbox: Sandbox, disputed: tuple[str, ...] = ()) -> Graded:
    """Every undisputed test of the suite against the code."""
    return sandbox.grade(code, suite.render(disputed), timeout_seconds=TIMEOUT_SECONDS, kinds=dict(suite.kinds))


def grade_script(
    code: str, tests: str, sandbox: Sandbox, timeout_seconds: float = TIMEOUT_SECONDS, kinds: AskedKinds = ()
) -> Graded:
    """Tests as a benchmark ships them, a pytest file or a script of asserts, against a whole module."""
    return sandbox.grade(code, tests, timeout_seconds=timeout_seconds, kinds=dict(kinds))


class TestsCheck:
    """Do all undisputed tests pass, run once more from the final files?"""

    __test__ = False
    name = "tests"

    def __init__(self, disputed: tuple[str, ...] = ()) -> None:
        self.disputed = disputed

    def judge(self, code: str, suite: Suite, ground: "Ground") -> Evidence:
        """Passed only if there was a test and every one passed."""
        try:
            graded = ground.grade(code, suite, self.disputed)
        except SandboxError as error:
            return Evidence(check=self.name, verdict="not_run", why=str(error))
        verdict: Outcome = "passed" if graded.all_passed else "failed" if graded.cases or graded.problem else "not_run"
        return Evidence(check=self.name, verdict=verdict, why=_why(graded), details=self._details(graded, ground))

    def _details(self, graded: Graded, ground: "Ground") -> dict[str, object]:
        return {
            "cases": [case.model_dump() for case in graded.cases],
            "separated": graded.separated,
            "shared": graded.shared,
            "sandbox": ground.level,
            "seconds": round(graded.seconds, 3),
        }


def _why(graded: Graded) -> str:
    if graded.problem and not graded.cases:
        return graded.problem
    if not graded.cases:
        return "there is no test"
    failed = len(graded.cases) - graded.passed
    said = (
        f"{plural(graded.passed, 'test')} passed, {failed} failed"
        if failed
        else f"{every(graded.passed, 'test')} passed"
    )
    said += sharing(graded.shared, len(graded.cases))
    return f"{said}; {graded.problem}" if graded.problem else said


def sharing(shared: int, total: int, whole: str = "they") -> str:
    """How many tests shared a process with the code, to be put behind what they said; empty where none did."""
    if not shared:
        return ""
    who = whole if shared >= total else f"{shared} of them"
    return f"; {who} shared a process with the code, which could have fooled them"
