"""Third-party packages, as folders that are made before a cell starts and never change after."""

from burnish.packages.layer import Layer, prepare_layer
from burnish.packages.names import find_distribution
from burnish.packages.requirements import parse_requirements, read_project_needs, split_auto
from burnish.packages.uv import Budget, InstalledPackage

__all__ = [
    "Budget",
    "InstalledPackage",
    "Layer",
    "find_distribution",
    "parse_requirements",
    "prepare_layer",
    "read_project_needs",
    "split_auto",
]
