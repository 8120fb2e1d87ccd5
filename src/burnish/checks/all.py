"""All checks by name. They are imported when first asked for, because their tools are heavy."""

from importlib import import_module

from burnish.checks.check import Check

_HOMES = {
    "tests": ("project_tests", "TestsOfProject"),
    "coverage": ("coverage", "CoverageCheck"),
    "mutation": ("mutation", "MutationCheck"),
    "security": ("security", "SecurityCheck"),
    "dependencies": ("dependencies", "DependenciesCheck"),
    "quality": ("quality", "QualityCheck"),
    "performance": ("performance", "PerformanceCheck"),
}


def all_checks() -> dict[str, Check]:
    """One of each, in the order in which they are shown."""
    found: dict[str, Check] = {}
    for name, (module, kind) in _HOMES.items():
        try:
            found[name] = getattr(import_module(f"burnish.checks.{module}"), kind)()
        except (ModuleNotFoundError, AttributeError):
            continue
    return found
