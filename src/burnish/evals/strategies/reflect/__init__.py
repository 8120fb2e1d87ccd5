"""`reflect`: the published agent that fixes Python functions, rebuilt to behave alike, and frozen.

Its rule: never tuned. A change here is a change of the yardstick. Where it comes from: docs/strategies.md.
"""

from burnish.evals.strategies.reflect.reflect import Reflect

__all__ = ["Reflect"]
