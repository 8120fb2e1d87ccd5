"""Time and memory on growing inputs."""

from burnish.checks.performance.check import PerformanceCheck

__all__ = ["PerformanceCheck"]
