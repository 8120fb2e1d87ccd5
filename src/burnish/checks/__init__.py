"""What proves it."""

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.check import Check, Finding
from burnish.checks.project import Project
from burnish.checks.suite import Suite
from burnish.checks.tests import TestsCheck, grade, grade_script

Lab = CheckContext
"""The name that checks of others know it by."""

__all__ = ["Check", "CheckContext", "Finding", "Lab", "Project", "Suite", "TestsCheck", "grade", "grade_script"]
