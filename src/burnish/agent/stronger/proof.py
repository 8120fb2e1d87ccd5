"""A new test is kept only if the real grader says so: it passes on the code each time, and fails on the mutant."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from burnish.agent.stronger.cover import Candidate, with_notices
from burnish.agent.stronger.values import are_same
from burnish.checks.behaviour import behave_all
from burnish.checks.ground import Ground
from burnish.checks.mutation.alone import Unnoticed
from burnish.checks.suite import Suite
from burnish.sandbox.sandbox import Sandbox

RUNS = 2
OTHER_ORDER = 1
"""A hash seed that the sandbox does not use otherwise: what depends on the order of a set shows there."""

SuiteOf = Callable[[tuple[str, ...]], Suite]


def steady(candidates: Sequence[Candidate], code: str, sandbox: Sandbox | None) -> list[Candidate]:
    """Those whose call gives the same in another order of sets. What the task's words say needs no such look."""
    calls = [one.call for one in candidates if one.call]
    if sandbox is None or not calls:
        return list(candidates)
    told = [behave_all({0: code}, calls, sandbox, hash_seed=seed)[0] for seed in (0, OTHER_ORDER)]
    differ = {call for call, one, other in zip(calls, *told, strict=True) if not are_same(one, other)}
    return [one for one in candidates if one.call not in differ]


def proven(
    candidates: Sequence[Candidate],
    code: str,
    mutants: Iterable[Unnoticed],
    suite_of: SuiteOf,
    ground: Ground,
    is_over: Callable[[], bool],
) -> list[Candidate]:
    """Those that do what they should whenever they are run, with the mutants that each really notices.

    One that exposes the code must fail on it each time. What the task's own words say may do either. Raises
    SandboxError.
    """
    suite = suite_of(tuple(one.test for one in candidates))
    runs = [suite.outcomes(ground.grade(code, suite)) for _ in range(RUNS)]
    judged = [_judged(one, {run[one.test] for run in runs}) for one in candidates]
    kept = [one for one in judged if one]
    noticed: dict[str, set[str]] = {one.test: set() for one in kept}
    suite = suite_of(tuple(noticed))
    for mutant in mutants:
        if is_over() or not kept:
            break
        outcomes = suite.outcomes(ground.grade(mutant.module, suite))
        for test in noticed:
            if outcomes[test] != "passed":
                noticed[test].add(mutant.key)
    real = [with_notices(one, noticed[one.test]) for one in kept]
    return [one for one in real if one.notices or one.opinion.exposes]


def _judged(candidate: Candidate, outcomes: set[str]) -> Candidate | None:
    """The candidate, if it did the same each time, and what it should."""
    found = candidate.opinion
    if found.origin == "spec" and outcomes == {"failed"}:
        return replace(candidate, opinion=replace(found, exposes=True))
    return candidate if outcomes == {"failed" if found.exposes else "passed"} else None
