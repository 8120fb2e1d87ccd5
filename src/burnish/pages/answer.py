"""From a model's answer to the code of a version: a misunderstood protocol is repaired where that needs no guess."""

import re

from burnish.events import Frozen

_FENCE = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)(?:\n[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_GAVE_UP = re.compile(r"^\W*GIVE UP\b[:\s]*(.*)", re.IGNORECASE)


class PageAnswer(Frozen):
    """What an answer comes to: code, or why there is none."""

    code: str = ""
    repaired: str = ""
    """What had to be done to the answer before it was code; empty: nothing."""
    why: str = ""
    """Why there is no code, as it is sent back to the model."""
    gave_up: str = ""
    """The reason, where the model gave up."""


def read_answer(text: str, ended: str = "stop") -> PageAnswer:
    """The code in an answer, put right where it can be without a call. `ended` is how the answer ended."""
    if given := _GAVE_UP.match(text):
        return PageAnswer(gave_up=given[1].strip() or "no reason given", why="The answer was to give up.")
    if found := _FENCE.search(text):
        return PageAnswer(code=found[2])
    return PageAnswer(why="There is no code in the answer.")
