"""A diff in colours. Its lines are code that somebody wrote: shown, never obeyed."""

from rich.console import Console
from rich.text import Text

from burnish.text import strip_controls

COLOURS = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}


def show_diff(diff: str, console: Console) -> None:
    """Print a unified diff, a line at a time."""
    for line in strip_controls(diff).splitlines():
        style = next((style for mark, style in COLOURS.items() if line.startswith(mark)), "")
        console.print(Text(line, style=style), soft_wrap=True)
