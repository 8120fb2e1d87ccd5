"""What is shown of a text that is too long for a prompt; that something is left out is always said."""

import re

LEFT_OUT = "are not shown here ..."
"""How a comment ends that stands for lines of code."""
HEAD_SHARE = 3
"""One part in so many goes to the beginning: the head of a function, with its parameters."""
TELLING = 8
"""Characters of a line of code that is told apart from chance when it is found in an error message."""


def shortened(text: str, most: int) -> str:
    """At most about so many characters: the beginning and the end, where words say most."""
    if len(text) <= most:
        return text
    return f"{text[: most * 2 // 3].rstrip()}\n[... a part is left out here ...]\n{text[-(most // 3) :].lstrip()}"


def excerpt(code: str, failure: str, most: int) -> str:
    """At most about so many characters of code: its beginning, and what lies around the line that a failure names.

    Where the failure names none it is the end, where results are given back.
    """
    if len(code) <= most:
        return code
    lines = [
        line if len(line) <= most // 8 else f"{line[: most // 8]}  # ... the rest of this line is not shown"
        for line in code.split("\n")
    ]
    head = _growing(lines, 0, most // HEAD_SHARE)
    return _with_gaps(lines, head | _growing(lines, _focus(lines, failure), most - most // HEAD_SHARE))


def _focus(lines: list[str], failure: str) -> int:
    quoted = [at for at, line in enumerate(lines) if len(line.strip()) >= TELLING and line.strip() in failure]
    named = [int(number) - 1 for number in re.findall(r"\bline (\d+)", failure)]
    return [len(lines) - 1, *(at for at in named if 0 < at < len(lines)), *quoted[1:], *quoted[:1]][-1]


def _growing(lines: list[str], at: int, most: int) -> set[int]:
    """Lines around a place, in both directions as far as they fit."""
    shown: set[int] = set()
    size = 0
    for near in sorted(range(len(lines)), key=lambda place: (abs(place - at), place)):
        size += len(lines[near]) + 1
        if size > most:
            break
        shown.add(near)
    return shown


def _with_gaps(lines: list[str], shown: set[int]) -> str:
    told: list[str] = []
    missing = 0
    for at, line in enumerate(lines):
        if at not in shown:
            missing += 1
            continue
        told += [_gap(missing, line)] if missing else []
        told.append(line)
        missing = 0
    return "\n".join([*told, *([_gap(missing, told[-1] if told else "")] if missing else [])])


def _gap(missing: int, beside: str) -> str:
    margin = beside[: len(beside) - len(beside.lstrip())] or "    "
    return f"{margin}# ... {missing} lines {LEFT_OUT}"
