"""`python -m burnish` is the command line."""

import os
import sys

if sys.path[0] == os.getcwd():  # noqa: PTH109 Python put it there; what lies in the current folder may be a stranger's
    del sys.path[0]

from burnish.cli.main import enter  # noqa: E402

if __name__ == "__main__":
    enter()
