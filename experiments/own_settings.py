"""Settings for an experiment alone: the user's own file is neither read nor changed, and counts again afterwards."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "BURNISH_CONFIG"


@contextmanager
def settings_in(file: Path) -> Iterator[None]:
    """Within, the settings are those in this file; what was said about them before is put back."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(file)
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        if before is not None:
            os.environ[VARIABLE] = before
