"""What an examination came to, in one line and as plain data."""

from collections.abc import Sequence
from statistics import median

from burnish.events import Frozen
from burnish.verbs.trying.answer import Answer

NEEDS = {"write": ("write", "stop"), "fix": ("fix", "stop"), "tests": ("form", "stop"), "JSON": ("JSON", "stop")}
"""What a model is good for, and the tasks that it must have passed: who does not stop is good for nothing."""


class Tried(Frozen):
    """What came of all tasks."""

    model: str
    answers: tuple[Answer, ...]
    changes: tuple[str, ...] = ()
    """What to change, a sentence each."""
    tokens_per_second: float | None = None
    """None where no answer was long enough to tell."""
    dollars: float | None = None
    """What it cost; None where a price is unknown."""

    @property
    def was_heard(self) -> bool:
        """Whether it said anything at all; if not, nothing is known of it."""
        return any(answer.ended or answer.tokens_out for answer in self.answers)

    @property
    def good_for(self) -> tuple[str, ...]:
        """What it can be used for."""
        passed = {answer.name for answer in self.answers if answer.passed}
        return tuple(use for use, needs in NEEDS.items() if passed.issuperset(needs))

    @property
    def not_for(self) -> tuple[str, ...]:
        """What it cannot: an answer shows it."""
        wrong = {answer.name for answer in self.answers if answer.ended and not answer.passed}
        return tuple(use for use, needs in NEEDS.items() if wrong.intersection(needs))

    @property
    def untried(self) -> tuple[str, ...]:
        """Of what it is not known, since a task was not answered to its end."""
        return tuple(use for use in NEEDS if use not in (*self.good_for, *self.not_for))

    @property
    def is_enough(self) -> bool:
        """Whether `write` would work with it."""
        return "write" in self.good_for

    @property
    def first_token_seconds(self) -> float | None:
        """How long it usually takes until an answer begins; the first one, for which it may have to load, aside."""
        waits = [wait for answer in self.answers[1:] if (wait := answer.first_token_seconds) is not None]
        return median(waits) if waits else None

    @property
    def line(self) -> str:
        """All of it in one line."""
        if not self.was_heard:
            return f"{self.model}: could not be tried: {next((one.why for one in self.answers if one.why), 'no task')}"
        said = [("good enough for", self.good_for), ("not for", self.not_for), ("not tried to the end:", self.untried)]
        facts = "; ".join(f"{words} {_listed(uses)}" for words, uses in said if uses)
        nothing = len(self.not_for) == len(NEEDS)
        return f"{self.model}: {'not good enough for anything' if nothing else facts}. {_speed(self)}".rstrip()

    def as_json(self) -> dict[str, object]:
        """For a program; what the model said is left out."""
        told = self.model_dump(mode="json", exclude={"answers"})
        answers = [answer.model_dump(mode="json", exclude={"text", "thoughts"}) for answer in self.answers]
        more = {
            "was_heard": self.was_heard,
            "is_enough": self.is_enough,
            "good_for": self.good_for,
            "not_for": self.not_for,
            "untried": self.untried,
            "line": self.line,
        }
        return {**told, **more, "first_token_seconds": self.first_token_seconds, "tasks": answers}


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _speed(tried: Tried) -> str:
    facts = []
    if tried.tokens_per_second is not None:
        facts.append(f"{tried.tokens_per_second:.{0 if tried.tokens_per_second >= 10 else 1}f} tokens/s")
    if tried.first_token_seconds is not None:
        facts.append(f"first token after {tried.first_token_seconds:.1f} s")
    return ", ".join(facts) + "." if facts else ""
