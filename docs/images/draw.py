"""Draws a recorded run as the terminal showed it, for the README.

python docs/images/draw.py RUN docs/images/write.svg
"""

import io
import sys
from pathlib import Path

from rich.console import Console

from burnish.cli.screen import Screen
from burnish.runs import Store


def main(name: str, out: Path) -> None:
    """Replay the run on a screen that keeps what it shows."""
    run = Store().open(name)
    console = Console(record=True, width=118, file=io.StringIO(), highlight=False, force_terminal=False)
    screen = Screen(console=console)
    for event in run.events:
        screen.watch(event)
    screen.goodbye(run)
    out.write_text(console.export_svg(title=f"burnish write · {run.started.model}"), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
