"""Where code runs."""

from burnish.sandbox.diagnosis import Description, describe
from burnish.sandbox.limits import Limits
from burnish.sandbox.open import open_sandbox
from burnish.sandbox.sandbox import Sandbox

__all__ = ["Description", "Limits", "Sandbox", "describe", "open_sandbox"]
