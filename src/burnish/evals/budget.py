"""One budget for a whole evaluation: all its attempts pay from it, and no call begins that could pass it.

An attempt that is refused a call is dropped, not cut short: with fewer calls than the plan allows it would measure
something else. What dropped attempts took is spent all the same.
"""

import threading
from collections.abc import Iterator
from typing import Any

from burnish.agent.limits import Limits, Meter
from burnish.errors import BurnishError, SetupProblem
from burnish.evals.eval_store import Folder
from burnish.evals.metrics import compute_results
from burnish.evals.schema import EvalLimits, Spent
from burnish.events import Stopped
from burnish.models.model import Ask, Chunk, Done, Leavable, Model, Piece, Waiting

ENDLESS = 10**15
"""In place of a limit that nobody set."""
WAIT_SECONDS = 0.2


class BudgetSpent(BurnishError):
    """A call would pass a limit of the evaluation."""

    def __init__(self, stopped: Stopped) -> None:
        super().__init__(stopped)  # as it is, so that another process can be told
        self.stopped = stopped

    def __str__(self) -> str:
        return self.stopped.why


class EvalBudget(Meter):
    """The meter of a whole evaluation. It knows how many calls are under way: what they are booked at and do not need
    comes back, so a call that does not fit beside them may fit later.
    """

    under_way = 0

    def begin_call(self, ask: Ask, model: str) -> tuple[Stopped | None, bool]:
        """Book a call. What forbids it, if anything, and whether that may change when others end."""
        with self._lock:
            over = self.book(ask, model)
            self.under_way += over is None
            return over, over is not None and over.reason != "seconds" and self.under_way > 0

    def end_call(self) -> None:
        """A call has ended, and is settled."""
        with self._lock:
            self.under_way -= 1


def open_budget(folder: Folder) -> EvalBudget:
    """What may still be spent; raises SetupProblem where nothing is left."""
    limits, spent = folder.contents.limits, Spent()
    caps = Limits(
        calls=ENDLESS,
        tokens=limits.tokens or ENDLESS,
        seconds=limits.seconds or float(ENDLESS),
        dollars=limits.dollars,
    )
    if limits != EvalLimits():
        # Where the process was killed, what it had put on disk is all that is known.
        results = compute_results(folder)
        done, noted = results.cost, folder.contents.spent
        spent = Spent(
            tokens=max(noted.tokens, int(done.tokens_in + done.tokens_out)),
            seconds=max(noted.seconds, done.seconds),
            dollars=max(noted.dollars, done.dollars or 0.0),
        )
    budget = EvalBudget(caps, spent.seconds)
    budget.spend(0, spent.tokens, spent.dollars)
    for name, cap in limits.model_dump().items():
        if cap is not None and getattr(spent, name) >= cap and (name != "dollars" or cap):
            raise SetupProblem(
                f"The evaluation {folder.name!r} has spent {getattr(spent, name):g} {name}, and its limit is {cap:g}. "
                f"Raise it: burnish eval resume {folder.name} --{name} {max(1, round(2 * getattr(spent, name)))}"
            )
    return budget


def read_spent(budget: Meter) -> Spent:
    """What is spent so far, that of earlier sittings too."""
    return Spent(tokens=budget.tokens, seconds=round(budget.seconds_spent, 3), dollars=budget.dollars)


class BudgetedModel:
    """A model whose calls are booked in the budget of the evaluation at the most that they can cost."""

    def __init__(self, model: Model, budget: EvalBudget) -> None:
        self.name, self.slots = model.name, model.slots
        self._model, self._budget = model, budget

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The answer as it is written; raises BudgetSpent in place of its beginning where it could cost too much."""
        while True:
            over, may_change = self._budget.begin_call(ask, self.name)
            if over is None:
                break
            if not may_change:
                raise BudgetSpent(over)
            if cancel.wait(WAIT_SECONDS):
                return
            yield Waiting()
        text, done = "", None
        try:
            for piece in self._model.stream(ask, cancel):
                match piece:
                    case Chunk():
                        text = piece.text if piece.instead else text + piece.text
                    case Waiting(lost=True):
                        if over := self._budget.book(ask, self.name, is_retry=True):
                            raise BudgetSpent(over)
                    case Done():
                        done = piece
                yield piece
        finally:
            # One that was left early costs what was read of it; any other stays booked at the most it can have cost.
            if done is None and isinstance(self._model, Leavable) and text:
                done = self._model.counted(ask, text)
            if done:
                self._budget.settle(ask, done.tokens_in, done.tokens_out, self.name, done.tokens_cached)
            self._budget.end_call()

    def warm_up(self) -> None:
        """Begin to load in the background."""
        self._model.warm_up()

    def close(self) -> None:
        """Let go of what this process holds for the model."""
        self._model.close()


class LeavableBudgetedModel(BudgetedModel):
    """One whose answers may be left at no cost; said by a method of its own, because Python looks no deeper."""

    def counted(self, ask: Ask, text: str) -> Done:
        """What such an answer cost, as the model itself counts."""
        assert isinstance(self._model, Leavable)
        return self._model.counted(ask, text)


def bill(model: Model, budget: EvalBudget) -> Model:
    """The model with its calls booked in the budget; as it is where nothing is limited: to count is work, too."""
    limits = budget.limits
    if limits.tokens == limits.seconds == ENDLESS and limits.dollars is None:
        return model
    return (LeavableBudgetedModel if isinstance(model, Leavable) else BudgetedModel)(model, budget)
