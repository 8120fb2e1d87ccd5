"""The state of the work, folded from events: what nodes read and routes decide on."""

from collections.abc import Sequence
from functools import cached_property

from burnish.checks.suite import Suite
from burnish.events import Event, SpecAgreed, Stopped
from burnish.runs.run import Run, Version
from burnish.tasks.offered import offered_names
from burnish.tasks.task import Task

VOTES_WITH_GIVEN, VOTES_WITHOUT = 2, 3
"""Versions that must have a vote before they outvote a test of the model's, where tests were given and where none."""
SECOND_OPINIONS = 1
"""Rounds after which, with given tests, the votes there are have to do."""


class Work:
    """Where a run stands. Read-only; a new event means a new `Work`."""

    def __init__(self, task: Task, events: Sequence[Event]) -> None:
        self.task = task
        self._run = Run(events)

    @property
    def spec(self) -> SpecAgreed:
        """Name, signature and given tests; agreed on before anything else."""
        agreed = self._run.spec
        assert agreed is not None, "specify comes first in the graph"
        return agreed

    @cached_property
    def suite(self) -> Suite:
        """All tests there are."""
        model = self.task.earlier_tests + self._run.model_tests
        names = offered_names(self.task)
        return Suite.of(self.spec.entry_point, self.spec.given_tests, model, names, self.task.test_file)

    @property
    def versions(self) -> tuple[Version, ...]:
        """Every version so far."""
        return self._run.versions

    @property
    def waiting(self) -> list[Version]:
        """Versions that can be run and have not been."""
        return [version for version in self.versions if not version.problem and version.graded is None]

    @property
    def round(self) -> int:
        """0 for the first draft; each time the agent went back to the code adds one."""
        return max((version.number // 2 for version in self.versions), default=0)

    @property
    def stopped(self) -> Stopped | None:
        """Set once a limit or the user has ended the work."""
        return self._run.last(Stopped)

    @cached_property
    def disputed(self) -> tuple[str, ...]:
        """Model-made tests that the versions themselves speak against.

        Every version that passes the given tests has a vote; a test is set aside when most of them fail it.
        Too few votes settle nothing, unless there are given tests and no more versions can be had.
        """
        voters = [version for version in self.versions if version.graded and self.passes_given(version)]
        needed = VOTES_WITH_GIVEN if self.suite.given else VOTES_WITHOUT
        no_more = bool(self.suite.given) and (self.stopped is not None or self.round >= SECOND_OPINIONS)
        if not voters or (len(voters) < needed and not no_more):
            return ()
        fails = {test: sum(self._fails(voter, test) for voter in voters) for test in self.suite.model}
        return tuple(test for test, count in fails.items() if 2 * count > len(voters))

    @cached_property
    def best(self) -> Version | None:
        """The version that passes most: given tests first, then undisputed ones; the earlier of equals."""
        ran = [version for version in self.versions if version.graded]
        return max(ran, key=lambda version: (*self.score(version), -version.number), default=None)

    def score(self, version: Version) -> tuple[int, int, int]:
        """Passed tests: given, undisputed, all of the model's."""
        outcomes = self._outcomes(version)
        undisputed = [test for test in self.suite.model if test not in self.disputed]
        return (
            sum(outcomes[test] == "passed" for test in self.suite.given),
            sum(outcomes[test] == "passed" for test in undisputed),
            sum(outcomes[test] == "passed" for test in self.suite.model),
        )

    def passes_given(self, version: Version) -> bool:
        """Whether the version passes every given test."""
        outcomes = self._outcomes(version)
        return all(outcomes[test] == "passed" for test in self.suite.given)

    @property
    def holds(self) -> bool:
        """Whether the best version passes all that counts, and something does count."""
        if self.best is None:
            return False
        given, undisputed, _ = self.score(self.best)
        counting = len(self.suite.given), len(self.suite.model) - len(self.disputed)
        enough = bool(self.suite.given) or counting[1] * 2 >= len(self.suite.model) > 0
        return enough and (given, undisputed) == counting

    def first_failure(self, version: Version) -> tuple[str, str] | None:
        """The one failure to speak of, a given test's first: the test's body, and what was said."""
        if version.graded is None:
            return None
        failures = self.suite.failures(version.graded)
        counting = (body for body in self.suite.names.values() if body not in self.disputed)
        return next(((body, failures[body]) for body in counting if body in failures), None)

    def _fails(self, version: Version, test: str) -> bool:
        return self._outcomes(version)[test] != "passed"

    def _outcomes(self, version: Version) -> dict[str, str]:
        return (
            dict(self.suite.outcomes(version.graded))
            if version.graded
            else dict.fromkeys(self.suite.names.values(), "not_run")
        )
