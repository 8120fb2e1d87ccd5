"""A short look at several things at once. What takes longer is left behind: nobody waits for it, at the end neither."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

Found = TypeVar("Found")


def look_at(looks: Sequence[Callable[[], Found]], seconds: float) -> list[Found | None]:
    """What each look brought in time; None for the others. A timeout of a socket alone begins anew with every byte."""
    found: dict[int, Found] = {}

    def look(place: int) -> None:
        found[place] = looks[place]()

    threads = [threading.Thread(target=look, args=(place,), daemon=True) for place in range(len(looks))]
    until = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return [found.get(place) for place in range(len(looks))]
