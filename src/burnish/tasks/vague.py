"""Does a sentence leave something open that code must decide? By plain rules: no model is asked to find that out."""

import re

from burnish.tasks.task import Task

_EDGED = re.compile(
    r"\b(?:lists?|strings?|texts?|words?|sequences?|arrays?|tuples?|sets?|dict(?:ionar(?:y|ies))?s?|numbers?|integers?|"
    r"items?|elements?|characters?|letters?|files?|dates?|range|between|from \S+ to)\b",
    re.IGNORECASE,
)
"""What has edges: it can be empty, too small, of the wrong kind."""
_SETTLED = re.compile(
    r"\b(?:empty|invalid|otherwise|anything else|everything else|missing|none|null|negative|zero|non-empty|"
    r"at least one|raises?|errors?|\w+Error|exception|default)\b",
    re.IGNORECASE,
)
"""Words that say what happens at an edge."""


def leaves_open(task: Task) -> bool:
    """Whether there is no example, or nothing is said about the edges of what the sentence speaks of.

    A test file of the user's own says enough.
    """
    if task.test_file:
        return False
    if not task.visible_tests:
        return True
    return bool(_EDGED.search(task.prompt)) and not _SETTLED.search(task.prompt)
