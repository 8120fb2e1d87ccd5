"""What proves it."""

from burnish.checks.check import Check
from burnish.checks.finding import Finding
from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.suite import Suite
from burnish.checks.tests import TestsCheck, grade, grade_script

__all__ = ["Check", "Finding", "Lab", "Project", "Suite", "TestsCheck", "grade", "grade_script"]
