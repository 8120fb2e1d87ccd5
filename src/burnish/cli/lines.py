"""Events for programs: one JSON line each, in ASCII, so that a model's words are harmless on a terminal too."""

import json

from burnish.events import BaseEvent


def json_line(event: BaseEvent) -> str:
    """The event as JSON in which no character is a control character."""
    return json.dumps(event.model_dump(mode="json"))
