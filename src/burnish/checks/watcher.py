"""Who looks on while checks run. Every method may be left as it is: it then does nothing."""

from burnish.events import Evidence


class Watcher:
    """Hears what happens, from two threads at once: checks that only read text run beside those that run code."""

    def told(self, text: str) -> None:
        """Something that a person who waits would like to know."""

    def begun(self, check: str) -> None:
        """A check has started."""

    def moved(self, check: str, done: int, total: int) -> None:
        """A long check has come so far; a total of 0 means that nobody knows."""

    def finished(self, evidence: Evidence, seconds: float) -> None:
        """A check has given its answer."""
