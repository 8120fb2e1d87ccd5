"""Do the tests notice when the code is wrong?"""

from burnish.checks.mutation.mutation import MutationCheck

__all__ = ["MutationCheck"]
