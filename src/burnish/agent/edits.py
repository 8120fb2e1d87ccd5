"""Small edits that were searched for already: attempts at one task begin with the same code and the same tests."""

import threading
from collections import defaultdict
from collections.abc import Callable

Key = tuple[str, str, str]
"""Code, function and tests."""
Found = tuple[list[str], int]
"""The edits that pass every given test, and how many were tried."""

MOST_KEPT = 4096


class Edits:
    """What was found, by what it was found for. One for a run; the attempts of an evaluation share one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Key, Found] = {}
        self._searching: defaultdict[Key, threading.Lock] = defaultdict(threading.Lock)

    def found(self, key: Key, search: Callable[[], tuple[Found, bool]]) -> Found:
        """What is known, or what `search` finds; kept if it says that nothing cut it short.

        Who wants the same at the same time waits: it is searched for once.
        """
        with self._lock:
            mine = self._searching[key]
        with mine:
            if key in self._known:
                return self._known[key]
            found, in_peace = search()
            if in_peace and len(self._known) < MOST_KEPT:
                self._known[key] = found
        return found
