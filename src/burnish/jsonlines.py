"""Facts among lines: what a process said, or a file holds, with whatever else stands between."""

import json
from collections.abc import Iterable, Iterator
from typing import Any


def parse_json_lines(lines: Iterable[str | bytes]) -> Iterator[dict[str, Any]]:
    """The lines that are whole JSON objects, in order; a torn line and anything else is passed over."""
    for line in lines:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
