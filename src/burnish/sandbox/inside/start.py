"""The first file that runs in a cell: gives this folder the name it has outside, then serves jobs.

Only this folder of Burnish is visible in a cell, so the packages above it are stood in for by empty ones.
"""

# ruff: noqa: PTH100, PTH120

import json
import os
import sys
import types


def main() -> None:
    """Set up imports and serve until Burnish hangs up."""
    settings = json.loads(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path = [path for path in sys.path if path != here]
    for name, places in (("burnish", []), ("burnish.sandbox", []), ("burnish.sandbox.inside", [here])):
        module = types.ModuleType(name)
        module.__path__ = places
        sys.modules[name] = module
    from burnish.sandbox.inside import packages
    from burnish.sandbox.inside.server import serve

    packages.extend_search_path(settings["packages"], settings["layer"])
    serve(settings)


if __name__ == "__main__":
    main()
