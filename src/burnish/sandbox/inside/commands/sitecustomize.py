"""Python reads this at its start in a command: packages are looked for in the cell's own places, after all else.

Nothing that is installed beside the interpreter counts, as in every other job: it would be missing at the user's.
"""

import os
import sys

_HERE = os.path.dirname(__file__)  # noqa: PTH120
_INSTALLED = ("/site-packages", "/dist-packages")
sys.path[:] = [path for path in sys.path if path != _HERE and not path.endswith(_INSTALLED)]
sys.path += [path for path in os.environ.get("CELL_PACKAGES", "").split(os.pathsep) if path]
