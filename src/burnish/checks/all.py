"""All checks by name. They are imported when first asked for, because their tools are heavy."""

from burnish.checks.check import Check


def all_checks() -> dict[str, Check]:
    """One of each, in the order in which they are shown."""
    from burnish.checks.coverage import CoverageCheck
    from burnish.checks.dependencies import DependenciesCheck
    from burnish.checks.mutation import MutationCheck
    from burnish.checks.performance import PerformanceCheck
    from burnish.checks.project_tests import TestsOfProject
    from burnish.checks.quality import QualityCheck
    from burnish.checks.security import SecurityCheck

    checks: list[Check] = [
        TestsOfProject(),
        CoverageCheck(),
        MutationCheck(),
        SecurityCheck(),
        DependenciesCheck(),
        QualityCheck(),
        PerformanceCheck(),
    ]
    return {check.name: check for check in checks}
