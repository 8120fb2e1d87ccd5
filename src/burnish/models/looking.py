"""A short look at several things at once. What takes longer is left behind: nobody waits for it, at the end neither."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

Found = TypeVar("Found")


def finish_within(seconds: float, work: Callable[[], Found]) -> Found:
    """What the work brings, or its error; TimeoutError where it takes longer. It is then left behind."""
    ended: list[tuple[Found | None, BaseException | None]] = []

    def do() -> None:
        try:
            ended.append((work(), None))
        except BaseException as error:
            ended.append((None, error))

    thread = threading.Thread(target=do, daemon=True)
    thread.start()
    thread.join(seconds)
    if not ended:
        raise TimeoutError(f"no whole answer came in {seconds:g} s")
    found, error = ended[0]
    if error:
        raise error
    return cast(Found, found)


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
