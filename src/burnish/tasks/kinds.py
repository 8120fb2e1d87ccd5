"""Whether a task asks for a function or for a class: its words say so, or the code that it comes with."""

import re
from collections.abc import Iterable
from typing import Literal

from burnish.tasks.definitions import FUNCTIONS, find
from burnish.tasks.syntax import parsed
from burnish.tasks.task import Task

AskedKinds = tuple[tuple[str, Literal["function", "class"]], ...]
"""Names, each with what it is to be; one of which nothing is known is left out."""

_ONE = r"\b(?P<one>class|function|def)\s+"
_SEVERAL = (
    r"\b(?P<several>classes|functions):?\s+(?:[`'\"]?\w+(?:\([^()]*\))?[`'\"]?(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+))*"
)


def asked_kinds(task: Task) -> AskedKinds:
    """What the names to write are to be; a name that the words and the code do not settle is left out."""
    names = [name.partition(".")[0] for name in (task.entry_point, *task.also) if name]
    found = dict(kinds_in_words(task.prompt, names))
    for text in (task.prelude, task.base_code, task.gold):
        module = parsed(text) if text else None
        for name in names:
            node = find(module, name) if module else None
            if node is not None:
                found[name] = "function" if isinstance(node, FUNCTIONS) else "class"
    return tuple(found.items())


def kinds_in_words(words: str, names: Iterable[str]) -> AskedKinds:
    """What a sentence calls each name: "a function mean(xs)", "classes Stack and Queue", "def mean(xs):"."""
    found: dict[str, Literal["function", "class"]] = {}
    for name in names:
        said = re.search(rf"(?:{_ONE}|{_SEVERAL})(?:called\s+|named\s+)?[`'\"]?{re.escape(name)}\b", words)
        if said:
            found[name] = "class" if said["one"] == "class" or said["several"] == "classes" else "function"
    return tuple(found.items())
