"""Characters that make code look other than it is: not shown, turning the text around, or ending a line for some."""

import re
import unicodedata
from collections.abc import Iterator

from burnish.checks.finding import Finding, Severity

RULE = "no-hidden-character"
SAME = frozenset({"B613"})
"""Bandit's name for it."""
_SUSPECT = re.compile(r"[^\t\n\r\f -~\u00a0-\u00ac\u00ae-\u02ff]|(?<=[^\f])\f")
"""All but the usual: a form feed begins a page at the start of a line, and inside of one it hides an indentation."""
_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NOT_SHOWN = {"Cc", "Cf", "Co", "Zl", "Zp"}
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that are drawn as nothing."""
_IN_EMOJI = re.compile(r"(?<=[\ufe0f\u2190-\u2bff\U0001f000-\U0001faff])\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])")


def hidden_characters(text: str, file: str) -> Iterator[Finding]:
    """One finding for each line that holds such a character; lines are counted as Python does."""
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        joiners = {found.start() for found in _IN_EMOJI.finditer(line)}
        found = [one[0] for one in _SUSPECT.finditer(line) if one.start() not in joiners and _is_hidden(one[0])]
        if found:
            char = next(filter(_TURNS.match, found), found[0])
            severity: Severity = "high" if _TURNS.match(char) else "medium"
            does = "turns the text around" if severity == "high" else "is not shown"
            name = unicodedata.name(char, "a control character").lower()
            what = f"U+{ord(char):04X} ({name}) {does}, so the line is not what it looks like; write it as an escape."
            yield Finding(file=file, line=number, what=what, rule=RULE, severity=severity, confidence="high")


def _is_hidden(char: str) -> bool:
    return unicodedata.category(char) in _NOT_SHOWN or _BLANK.match(char) is not None
