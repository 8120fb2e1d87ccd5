"""Do the tests notice when the code is wrong?"""

from burnish.checks.mutation.check import MutationCheck

__all__ = ["MutationCheck"]
