"""What a delivered folder says about itself: who made each part of it, and what was shown by whom."""

from burnish.evidence.build import build_dossier
from burnish.evidence.schema import Dossier, render_dossier

__all__ = ["Dossier", "build_dossier", "render_dossier"]
