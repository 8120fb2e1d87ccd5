"""Are the packages the code leans on real, sound and meant?"""

from burnish.checks.dependencies.check import DependenciesCheck

__all__ = ["DependenciesCheck"]
