"""Draws the screen of a model that thinks: while it does, and folded once the answer begins.

python docs/images/draw_thoughts.py docs/images/thoughts.svg
"""

import io
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from burnish.agent.limits import Limits
from burnish.cli.screen import Screen
from burnish.commands.write import write
from burnish.events import BaseEvent, ModelThought
from burnish.models.model import Ask, Chunk, Done, Thought, Waiting
from burnish.models.scripted import ScriptedModel

SENTENCE = "a function median(numbers), e.g. median([3, 1, 2]) == 2 and median([1, 2, 3, 4]) == 2.5"
THOUGHTS = (
    "The numbers may come in any order, so they are sorted first. With an odd number of them the one in the middle is "
    "the answer; with an even number there are two in the middle, and the mean of both is."
)
CODE = """```python
def median(numbers):
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
```"""
TESTS = "```python\nassert median([5]) == 5\nassert median([1, 9]) == 5.0\n```"
SHOWN_AFTER = 28
"""Thoughts after which the moving line is drawn."""
SECONDS_PER_WORD = 0.06


class Slow(ScriptedModel):
    """Takes its time, as models do."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Thought | Waiting | Done]:
        """The reply, a word now and then."""
        for piece in super().stream(ask, cancel):
            time.sleep(SECONDS_PER_WORD)
            yield piece


def main(out: Path) -> None:
    """Write a function with a scripted thinker, and keep what the screen shows."""
    console = Console(record=True, width=110, file=io.StringIO(), highlight=False, force_terminal=False)
    screen, heard = Screen(console=console), 0

    def watch(event: BaseEvent) -> None:
        nonlocal heard
        screen.watch(event)
        heard += isinstance(event, ModelThought)
        if isinstance(event, ModelThought) and heard == SHOWN_AFTER:
            console.print("⠋", screen._moving())

    script = {"draft": [f"<think>{THOUGHTS}</think>{CODE}"], "tests": [TESTS], "assume": ["none"]}
    model = Slow(script, name="scripted:thinker")
    run = write(SENTENCE, model, limits=Limits(thinking=200), fast=True, watch=watch)
    screen.goodbye(run)
    out.write_text(console.export_svg(title="burnish write --thinking 200"), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
