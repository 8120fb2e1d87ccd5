"""What can be done about a finding without asking a model, and whether it made things better."""

from burnish.agent.mending.mend import Mend, mends_for
from burnish.agent.mending.weighing import better, worse

__all__ = ["Mend", "better", "mends_for", "worse"]
