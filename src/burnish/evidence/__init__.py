"""What a delivered folder says about itself: who made each part of it, and what was shown by whom."""

from burnish.evidence.form import Dossier
from burnish.evidence.make import dossier_of
from burnish.evidence.seal import as_text

__all__ = ["Dossier", "as_text", "dossier_of"]
