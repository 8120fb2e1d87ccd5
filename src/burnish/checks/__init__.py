"""What proves it."""

from burnish.checks.check import Check
from burnish.checks.suite import Suite
from burnish.checks.tests import TestsCheck, grade, grade_script

__all__ = ["Check", "Suite", "TestsCheck", "grade", "grade_script"]
