"""The evaluations that this server works on: each in its turn, watched by anybody, stopped at any moment.

Whatever is finished is on disk at once. What is held here is only what goes on; when the server ends nothing is lost,
and an evaluation is gone on with from its folder.
"""

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field

from burnish.errors import BurnishError, SetupProblem
from burnish.evals.handle import (
    AnswerCounted,
    AttemptFinished,
    EvalBegun,
    EvalEvent,
    EvalHandle,
    Preparing,
    start_evaluation,
)
from burnish.evals.runner import EvalProgress
from burnish.evals.schema import Attempt, Results
from burnish.web.work.turns import Ticket, Turns

MOST_AT_WORK = 20
"""Evaluations that work or wait for their turn."""
LAST_STEP_SECONDS = 10.0
"""For what a stopped evaluation still had under way, before it may be gone on with."""


@dataclass
class ActiveEvaluation:
    """One that waits for its turn, or is at work, or could not begin."""

    id: str
    ticket: Ticket
    typed: Mapping[str, str]
    """The form that began it."""
    handle: EvalHandle
    ended: threading.Event
    """Set once its thread touches nothing any more."""
    preparing: Preparing | None = None
    begun: EvalBegun | None = None
    attempts: list[Attempt] = field(default_factory=list)
    tokens_out: int = 0
    since: float = 0.0
    """When attempts began, by the clock of this process."""
    problem: str = ""
    """What kept it from its work, or ended it, where the user can put that right."""
    is_over: bool = False

    def take(self, event: EvalEvent) -> None:
        """One more thing that happened."""
        match event:
            case Preparing():
                self.preparing = event
            case EvalBegun():
                self.begun, self.attempts, self.since = event, list(event.attempts), time.monotonic()
            case AnswerCounted():
                self.tokens_out += event.tokens_out
            case AttemptFinished():
                self.attempts.append(event.attempt)

    @property
    def seconds_spent(self) -> float:
        """Since attempts began."""
        return time.monotonic() - self.since

    @property
    def tokens_per_second(self) -> float:
        """That the model has written since attempts began."""
        return self.tokens_out / max(1.0, self.seconds_spent)

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far; None as long as there is none."""
        fresh = len(self.attempts) - len(self.begun.attempts) if self.begun else 0
        if not self.begun or not fresh:
            return None
        return self.seconds_spent / fresh * (self.begun.total - len(self.attempts))

    def stop(self) -> None:
        """End it within two seconds; finished attempts are kept."""
        if not self.begun:
            self.problem = "It was stopped before the first task was ready."
        self.is_over = True
        self.handle.stop()
        self.ticket.close()


class ActiveEvaluations:
    """All of them, by id."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._evaluations: dict[str, ActiveEvaluation] = {}
        self._lock = threading.Lock()

    def find(self, evaluation: str) -> ActiveEvaluation | None:
        """The one of this id, if it is at work here, or could not do its work."""
        return self._evaluations.get(evaluation)

    @property
    def at_work(self) -> list[ActiveEvaluation]:
        """Those that are not over."""
        return [one for one in list(self._evaluations.values()) if not one.is_over]

    def begin(
        self, evaluation: str, make: Callable[..., Results], owner: str, typed: Mapping[str, str]
    ) -> ActiveEvaluation:
        """Begin or go on, in its turn; one that is at work already stays as it is."""
        with self._lock:
            known = self.find(evaluation)
            if known and not known.is_over:
                return known
            if known and not known.ended.wait(LAST_STEP_SECONDS):
                raise SetupProblem("What was under way when it was stopped has not ended yet. Try again in a moment.")
            if len(self.at_work) >= MOST_AT_WORK:
                raise SetupProblem("Too many evaluations wait for their turn already. Stop one of them first.")
            ticket, ended = self._turns.join(owner), threading.Event()

            def work(watch: EvalProgress | None = None) -> Results:
                try:
                    ticket.wait()
                    return make(watch=watch)
                finally:
                    ticket.close()
                    ended.set()

            active = ActiveEvaluation(evaluation, ticket, typed, start_evaluation(work), ended)
            self._evaluations[evaluation] = active
        threading.Thread(target=self._follow, args=[active], name="burnish-follow", daemon=True).start()
        return active

    def stop_all(self) -> None:
        """The server ends: what is finished is on disk, and they can be gone on with."""
        for one in self.at_work:
            one.stop()

    def _follow(self, active: ActiveEvaluation) -> None:
        """Hear what happens until its end, and keep what the user can put right."""
        try:
            for event in active.handle.events():
                active.take(event)
            active.handle.wait()
        except CancelledError:  # it was stopped before there was anything to go on from
            pass
        except BurnishError as problem:
            active.problem = str(problem)
        except Exception as error:  # our bug: it is said on the page, and the server goes on
            active.problem = f"Something broke in Burnish itself ({type(error).__name__}: {error})."
        finally:
            active.is_over = True
            active.ended.wait()
            if not active.problem and self._evaluations.get(active.id) is active:
                del self._evaluations[active.id]
