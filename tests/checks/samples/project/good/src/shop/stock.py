"""What is there."""

import json
from pathlib import Path


def load(path):
    """The stock as it was written down."""
    return json.loads(Path(path).read_text())


class Stock:
    """Counts things."""

    def __init__(self, things):
        self.things = dict(things)

    def take(self, name):
        """One less."""
        self.things[name] -= 1
        return self.things[name]
