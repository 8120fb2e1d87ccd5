"""Who works next, where several people want something of one machine."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from burnish.errors import AttemptError


class Ticket:
    """One piece of work that waits for its turn, has it, or is done with it."""

    def __init__(self, turns: "Turns", owner: str, number: int) -> None:
        self.owner, self.number = owner, number
        self.is_closed = False
        self._turns = turns

    def wait(self) -> None:
        """Until it is this one's turn. Raises AttemptError where it is closed meanwhile."""
        self._turns.wait_for(self)

    @contextmanager
    def step_aside(self) -> Iterator[None]:
        """Let others work meanwhile, as while a person is asked; go on once there is a place again, or it is closed."""
        self._turns.make_room(self)
        try:
            yield
        finally:
            self._turns.come_back(self)

    @property
    def ahead(self) -> int:
        """How many have their turn before this one; 0 once it has it."""
        return self._turns.count_ahead(self)

    def close(self) -> None:
        """Leave the queue, or let the next one work. As often as one likes."""
        self._turns.leave(self)


class Turns:
    """A fair queue: so many work at once, and of those who wait, whoever has had the fewest turns comes next."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._changed = threading.Condition()
        self._waiting: list[Ticket] = []
        self._working: set[Ticket] = set()
        self._had: Counter[str] = Counter()
        self._numbers = 0

    def join(self, owner: str) -> Ticket:
        """Get in line."""
        with self._changed:
            self._numbers += 1
            ticket = Ticket(self, owner, self._numbers)
            self._waiting.append(ticket)
            self._fill_places()
            return ticket

    def wait_for(self, ticket: Ticket) -> None:
        """Until this one works. Raises AttemptError where it left."""
        with self._changed:
            while ticket in self._waiting:
                self._changed.wait()
            if ticket not in self._working:
                raise AttemptError("stopped before its turn had come")

    def count_ahead(self, ticket: Ticket) -> int:
        """How many there are before this one."""
        with self._changed:
            line = self._line()
            return line.index(ticket) + 1 if ticket in line else 0

    def make_room(self, ticket: Ticket) -> None:
        """This one does not work for a while."""
        with self._changed:
            self._working.discard(ticket)
            self._fill_places()

    def come_back(self, ticket: Ticket) -> None:
        """Wait for a place, without another turn being counted. Returns at once where it is closed."""
        with self._changed:
            if ticket.is_closed:
                return
            self._had[ticket.owner] -= 1
            self._waiting.append(ticket)
            self._fill_places()
            while ticket in self._waiting:
                self._changed.wait()

    def leave(self, ticket: Ticket) -> None:
        """This one is done, or wants no turn any more."""
        with self._changed:
            ticket.is_closed = True
            self._working.discard(ticket)
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            self._fill_places()

    def _line(self) -> list[Ticket]:
        return sorted(self._waiting, key=lambda ticket: (self._had[ticket.owner], ticket.number))

    def _fill_places(self) -> None:
        while self._waiting and len(self._working) < self._places:
            ticket = self._line()[0]
            self._waiting.remove(ticket)
            self._working.add(ticket)
            self._had[ticket.owner] += 1
        self._changed.notify_all()
