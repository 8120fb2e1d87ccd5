"""A candidate against the version that it was made from: tests first, then the check it is for, then all others."""

from burnish.agent.ask import Tools
from burnish.agent.inputs import Clues, calls_of_all
from burnish.agent.mending.mend import objection
from burnish.agent.mending.sameness import otherwise
from burnish.agent.mending.weighing import better, worse
from burnish.agent.work import NOT_RUN, Work
from burnish.checks.final import FinalChecks
from burnish.errors import SandboxError
from burnish.events import Evidence, Frozen, Graded
from burnish.tasks.examples import in_words
from burnish.text import one_line

ROUNDS = ("security", "performance", "quality")
"""The checks that have a round, in this order."""
MOST_CALLS = 60
LAST = ("performance", "mutation")
"""The checks that take longest are asked last."""


class Weighed(Frozen):
    """What became of a candidate."""

    kept: bool
    why: str
    """Where it is not kept: what speaks against it."""
    graded: Graded | None = None
    """What the tests said, as far as it came to that."""
    after: str = ""
    """The check's figure, as far as it came to that."""


class Scales:
    """Weighs what is to stand in the place of the best version. Every answer is from a cell of its own."""

    def __init__(self, work: Work, tools: Tools, checks: FinalChecks) -> None:
        assert work.best is not None
        self.base = work.best
        self._work, self._tools, self._checks = work, tools, checks

    def of(self, check: str, code: str) -> Evidence:
        """What a check says of a version that passes its tests; asked as the judge asks, so it is made once."""
        tests = self._work.suite.render(self._work.disputed, pinned=False)
        return self._checks.judge(code, tests, names=(check,))[0]

    def weigh(self, check: str, code: str) -> Weighed:
        """Kept only if no test is lost, the check's figure is better, and no other check is worse."""
        if against := objection(self.base.code, code):
            return Weighed(kept=False, why=against)
        graded = self.grade(code)
        if lost := self.lost(graded):
            return Weighed(kept=False, why=lost, graded=graded)
        if other := self._behaves_otherwise(check, code):
            return Weighed(kept=False, why=other, graded=graded)
        after = self.of(check, code)
        figure = after.figure or after.why
        if not better(self.of(check, self.base.code), after):
            return Weighed(
                kept=False, why=f"{check} is not better: {one_line(figure, 120)}", graded=graded, after=figure
            )
        against = self._harmed(check, code)
        return Weighed(kept=not against, why=against, graded=graded, after=figure)

    def grade(self, code: str) -> Graded:
        """All undisputed tests, the pinned ones too."""
        try:
            return self._tools.ground.grade(code, self._work.suite, self._work.disputed)
        except SandboxError as error:
            return Graded(problem=f"{NOT_RUN}: {error}")

    def lost(self, graded: Graded) -> str:
        """A test that the version passes and this one does not; empty where there is none."""
        suite = self._work.suite
        if self.base.graded is None or graded.problem:
            return one_line(graded.problem or NOT_RUN, 120)
        before, after = suite.outcomes(self.base.graded), suite.outcomes(graded)
        lost = [t for t in before if before[t] == "passed" != after[t] and t not in self._work.disputed]
        return f"it no longer passes {one_line(in_words(lost[0]), 80)}" if lost else ""

    def _behaves_otherwise(self, check: str, code: str) -> str:
        """A call like those of the tests on which a version does something else than before; empty where none is known.

        The tests decide; this is for what they leave open.
        """
        spec, task, suite, ground = self._work.spec, self._work.task, self._work.suite, self._tools.ground
        clues = Clues(suite.given, task.prompt, (self.base.code, code), ground.test_texts(suite))
        calls = calls_of_all((spec.entry_point, *task.also), spec.signature, clues, MOST_CALLS)
        return otherwise(self.base.code, code, calls, ground, security=check == "security")

    def _harmed(self, check: str, code: str) -> str:
        """The first other check that would rather have the code as it was; mutation only where it was measured."""
        skipped = {check} | ({"mutation"} if not self._work.was_content else set())
        names = [name for name in self._checks.names if name not in skipped]
        for other in sorted(names, key=lambda name: LAST.index(name) if name in LAST else -1):
            if self._tools.cancel.is_set():
                break
            before, after = self.of(other, self.base.code), self.of(other, code)
            if worse(before, after):
                was, now = (one_line(one.figure or one.why, 80) for one in (before, after))
                return f"{other} is worse: {now}, and {was} before"
        return ""
