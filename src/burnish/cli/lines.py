"""Events for programs: one JSON line each, in ASCII, so that a model's words are harmless on a terminal too."""

import json

from burnish.cli.leaving import reader_left
from burnish.events import BaseEvent


def json_line(event: BaseEvent) -> str:
    """The event as JSON in which no character is a control character."""
    return json.dumps(event.model_dump(mode="json"))


def print_line(event: BaseEvent) -> None:
    """Print the event at once; a reader who has left is no reason to stop working."""
    try:
        print(json_line(event), flush=True)
    except BrokenPipeError:
        reader_left()
