"""Is it safe to run? What bandit says, and rules that generated code must obey."""

from burnish.checks.security.check import SecurityCheck

__all__ = ["SecurityCheck"]
