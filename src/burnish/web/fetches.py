"""Models that are being fetched because somebody asked for them on a page: how far each is, and how it is stopped.

What is there of one is kept, so that the next fetch goes on from there.
"""

import threading
from dataclasses import dataclass
from typing import Literal

from burnish.commands.models import pull_model
from burnish.errors import SetupProblem


class FetchStopped(Exception):
    """Somebody wants no more of it."""


@dataclass
class Fetch:
    """One model on its way."""

    name: str
    done: int = 0
    total: int = 0
    source: str = ""
    """Who is asked for it, or what is done with it, in a few words."""
    state: Literal["fetching", "there", "stopped", "failed"] = "fetching"
    problem: str = ""
    """What kept it from coming."""

    def run(self) -> None:
        """Fetch it, to its end."""
        try:
            pull_model(self.name, self._note)
            self.state = "there"
        except FetchStopped:
            pass
        except SetupProblem as problem:
            self._fail(str(problem))
        except Exception as error:  # a network has many ways to fail; the page says which it was
            self._fail(f"It could not be fetched ({type(error).__name__}: {error}). Try again.")

    def _note(self, done: int, total: int, source: str) -> None:
        if self.state != "fetching":
            raise FetchStopped
        self.done, self.total, self.source = done, total, source

    def _fail(self, problem: str) -> None:
        if self.state == "fetching":
            self.state, self.problem = "failed", problem


class Fetches:
    """All that were asked for since the server began."""

    def __init__(self) -> None:
        self._fetches: dict[str, Fetch] = {}
        self._lock = threading.Lock()

    def list(self) -> list[Fetch]:
        """Those under way, and those that came to nothing and can be gone on with."""
        return [fetch for fetch in list(self._fetches.values()) if fetch.state != "there"]

    def begin(self, name: str) -> None:
        """Fetch this model in a thread of its own, unless that is under way."""
        with self._lock:
            known = self._fetches.get(name)
            if known and known.state == "fetching":
                return
            fetch = self._fetches[name] = Fetch(name)
        threading.Thread(target=fetch.run, name="burnish-fetch", daemon=True).start()

    def stop(self, name: str) -> None:
        """Nothing more of it is wanted now."""
        fetch = self._fetches.get(name)
        if fetch and fetch.state == "fetching":
            fetch.state = "stopped"
