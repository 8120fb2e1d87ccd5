"""Third-party packages, as folders that are made before a cell starts and never change after."""

from burnish.packages.bounds import Bounds
from burnish.packages.distribution import distribution_of
from burnish.packages.layer import Installed, Layer, pinned
from burnish.packages.needed import requirements_of
from burnish.packages.prepare import prepare
from burnish.packages.wanted import wanted

__all__ = ["Bounds", "Installed", "Layer", "distribution_of", "pinned", "prepare", "requirements_of", "wanted"]
