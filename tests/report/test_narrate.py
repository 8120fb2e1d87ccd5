"""Every event is described in one place, or is known to be for programs alone."""

import ast
import inspect
from typing import get_args

from burnish import events
from burnish.report import narrate

ONLY_FOR_PROGRAMS = {"ModelChunk", "ModelThought", "CommandRan", "Answered", "Scored"}


def test_a_new_event_is_described_by_the_narrator_or_named_as_silent() -> None:
    tree = ast.parse(inspect.getsource(narrate))
    described = {
        node.cls.id for node in ast.walk(tree) if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name)
    }
    union, *_ = get_args(events.Event)
    assert {kind.__name__ for kind in get_args(union)} - described == ONLY_FOR_PROGRAMS


def test_what_only_programs_read_is_not_told() -> None:
    assert narrate.narrate(events.ModelChunk(ask_id="draft-1", text="x")) == []
    assert narrate.describe(events.ModelChunk(ask_id="draft-1", text="x")) == ""
