"""Is it pleasant to live with? One score from 0 to 100 and the parts it is made of."""

from burnish.checks.quality.check import QualityCheck

__all__ = ["QualityCheck"]
