"""Answers that an evaluation recorded, given again: another policy is judged on them, and no model is asked.

The rule: a question is answered only by a recorded answer to the same messages, sampled in the same way, of the same
attempt (task and seed). The one with the same seed of sampling comes first. Where the question is sampled (temperature
above 0), one that nobody was given yet may stand in for it: as a draw it is as good. No answer is given for two seeds.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from burnish.errors import AttemptError
from burnish.evals.eval_store import Folder
from burnish.events import Asked, Event, ModelReplied
from burnish.models.model import Ask, Chunk, Done, Piece

SAMPLING = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "max_tokens", "thinking")
"""What decides an answer beside the messages and the seed."""


class NotRecorded(AttemptError):
    """The policy asks something that was not asked when the answers were recorded."""


@dataclass
class RecordedAnswer:
    """One answer on record, and the seed that it was given to in this attempt."""

    asked: Asked
    reply: ModelReplied
    given_to: int | None = None


class RecordedModel:
    """Who answers in a replay: what the model said in an evaluation on disk, under the model's own name.

    `events` are those of one attempt; without them it knows no answer.
    """

    def __init__(self, source: Folder, events: Sequence[Event] = ()) -> None:
        self.source = source
        self.name, self.engine = source.plan.model, source.plan.engine
        self.slots = os.cpu_count() or 1
        self._lock = threading.Lock()
        self._answers: list[RecordedAnswer] = []
        asked: dict[str, Asked] = {}
        for event in events:
            if isinstance(event, Asked):
                asked[event.ask_id] = event
            elif isinstance(event, ModelReplied) and event.ask_id in asked and event.ended != "cut":
                self._answers.append(RecordedAnswer(asked.pop(event.ask_id), event))
        # Where the plan leaves it to the user's settings how much a model thinks, the record says it.
        self.thinking = self._answers[0].asked.thinking if self._answers else 0

    def for_attempt(self, task_id: str, seed: int) -> "RecordedModel":
        """The same with the answers of one attempt, none of them given yet."""
        is_there = (task_id, seed) in self.source.finished_attempts()
        return RecordedModel(self.source, self.source.read_attempt(task_id, seed) if is_there else ())

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The recorded answer, all at once; raises NotRecorded where there is none."""
        with self._lock:
            answer = self._find(ask)
            answer.given_to = ask.seed
        reply = answer.reply
        yield Chunk(text=reply.text)
        yield Done(
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            ended="stop" if reply.ended == "cut" else reply.ended,
            tokens_cached=reply.tokens_cached,
            tokens_thought=reply.tokens_thought,
        )

    def warm_up(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to let go of."""

    def _find(self, ask: Ask) -> RecordedAnswer:
        """By the rule above: its own, else the one that this seed was given before, else one that nobody was given."""
        fitting = [
            one
            for one in self._answers
            if one.asked.messages == ask.messages
            and all(getattr(one.asked, name) == getattr(ask, name) for name in SAMPLING)
        ]
        greedy = not ask.temperature  # then the seed decides nothing
        fitting.sort(key=lambda one: one.asked.seed != ask.seed)
        unused = [one for one in fitting if one.given_to is None]
        own = [one for one in unused if greedy or one.asked.seed == ask.seed]
        again = [one for one in fitting if one.given_to is not None and (greedy or one.given_to == ask.seed)]
        if found := own or again[-1:] or unused:
            return found[0]
        raise NotRecorded(f"a question of this attempt ({ask.purpose}) is not on record in {self.source.name}")
