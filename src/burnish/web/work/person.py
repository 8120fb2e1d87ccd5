"""Whoever looks at a run's page: a run waits until somebody there answers, and not for ever."""

import threading
import time
from typing import NamedTuple

from burnish.agent.ask import Checkpoint
from burnish.agent.questions import OpenQuestion
from burnish.errors import SetupProblem
from burnish.events import QuestionAnswered, Reviewed
from burnish.web.work.turns import Ticket

QUESTION_SECONDS = 900.0
"""How long a question waits; then it stays open, and can be answered once the run is over."""
REVIEW_SECONDS = 4 * 3600.0
"""How long a run waits for somebody who wanted to look at it on the way."""


class Assumption(NamedTuple):
    """What a model takes for granted where the words leave it open."""

    text: str


Wish = OpenQuestion | Assumption | Checkpoint
"""What a run may want of a person."""


class Person:
    """Answers come from the page, in another thread than the run's."""

    def __init__(self, ticket: Ticket) -> None:
        """While it is waited for a person, whoever has the ticket lets others work."""
        self._ticket = ticket
        self.wish: Wish | None = None
        """What the run waits for right now."""
        self.wishes = 0
        """How many there were so far: a page whose form is about an earlier one answers nothing."""
        self._answer: QuestionAnswered | Reviewed | str | None = None
        self._is_gone = False
        self._changed = threading.Condition()

    def settle(self, question: OpenQuestion) -> QuestionAnswered | None:
        """What is right where versions differ; None leaves it open."""
        said = self._wait(question, QUESTION_SECONDS)
        return said if isinstance(said, QuestionAnswered) else None

    def assume(self, assumption: str) -> str:
        """Other words for an assumption; "" agrees."""
        said = self._wait(Assumption(assumption), QUESTION_SECONDS)
        return said if isinstance(said, str) else ""

    def review(self, shown: Checkpoint) -> Reviewed:
        """What somebody says of the tests or the code. Who does not come lets it go on."""
        said = self._wait(shown, REVIEW_SECONDS)
        return said if isinstance(said, Reviewed) else Reviewed(where=shown.where, basis="", said="go_on")

    def answer_question(self, number: int, text: str) -> None:
        """Answer a question as at the terminal. Raises SetupProblem for what cannot be an answer."""
        with self._changed:
            wish = self._check(number, OpenQuestion)
            assert isinstance(wish, OpenQuestion)
            self._take(wish.read(text))

    def answer_assumption(self, number: int, text: str) -> None:
        """Agree with "", or say what should hold."""
        with self._changed:
            self._check(number, Assumption)
            self._take(text.strip())

    def answer_review(self, number: int, reviewed: Reviewed) -> None:
        """Say how to go on."""
        with self._changed:
            self._check(number, Checkpoint)
            self._take(reviewed)

    def leave(self) -> None:
        """Nobody answers any more: whoever waits goes on without."""
        with self._changed:
            self._is_gone = True
            self._changed.notify_all()

    def _check(self, number: int, kind: type) -> Wish:
        if self.wish is None or number != self.wishes or not isinstance(self.wish, kind):
            raise SetupProblem("This was answered already, or the work has gone on without. Look at the page anew.")
        return self.wish

    def _take(self, answer: QuestionAnswered | Reviewed | str) -> None:
        self._answer, self.wish = answer, None
        self._changed.notify_all()

    def _wait(self, wish: Wish, seconds: float) -> QuestionAnswered | Reviewed | str | None:
        ends = time.monotonic() + seconds
        with self._ticket.step_aside(), self._changed:
            self.wish, self._answer = wish, None
            self.wishes += 1
            while self.wish is not None and not self._is_gone and time.monotonic() < ends:
                self._changed.wait(ends - time.monotonic())
            self.wish = None
            return self._answer
