"""Where code runs."""

from burnish.sandbox.diagnosis import Description, describe
from burnish.sandbox.open import open_sandbox
from burnish.sandbox.sandbox import Limits, Sandbox

__all__ = ["Description", "Limits", "Sandbox", "describe", "open_sandbox"]
