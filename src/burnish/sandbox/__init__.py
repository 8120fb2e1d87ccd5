"""Where code runs."""

from burnish.sandbox.limits import Limits
from burnish.sandbox.open import open_sandbox
from burnish.sandbox.sandbox import Sandbox

__all__ = ["Limits", "Sandbox", "open_sandbox"]
