"""Where code runs."""

from burnish.sandbox.open import open_sandbox
from burnish.sandbox.sandbox import JobLimits, Sandbox, ServeLimits
from burnish.sandbox.serve import Served, ServeError

__all__ = ["JobLimits", "Sandbox", "ServeError", "ServeLimits", "Served", "open_sandbox"]
