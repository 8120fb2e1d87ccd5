"""Where code runs."""

from burnish.sandbox.open import open_sandbox
from burnish.sandbox.sandbox import JobLimits, Sandbox

__all__ = ["JobLimits", "Sandbox", "open_sandbox"]
