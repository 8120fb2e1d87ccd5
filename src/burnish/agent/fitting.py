"""Whether an answer of the length that was asked for fits beside its question, found out before anybody is asked."""

from collections.abc import Sequence

from burnish.agent.limits import Limits
from burnish.errors import SetupProblem
from burnish.models.model import Model
from burnish.models.tokens import context_tokens

QUESTION_TOKENS = 1024
"""Room that is left for the question: most of ours are shorter."""
ANSWER_TOKENS = 1024
"""An answer that holds code, where nobody says how long it may be."""


def check_fits(limits: Limits, models: Sequence[Model]) -> None:
    """Refuse a length that leaves no room for the question in what a model has in mind; says which would fit.

    So few tokens for thoughts that a model refuses to have any are refused as well, from the user's settings too.
    """
    for model in models:
        thinking = getattr(model, "thinking", 0) if limits.thinking is None else limits.thinking
        if not thinking and limits.max_tokens is None:
            continue
        _check_is_enough(thinking, model)
        room = context_tokens(model)
        if room and (limits.max_tokens or ANSWER_TOKENS) + thinking > room - QUESTION_TOKENS:
            raise _too_long(model.name, limits, thinking, room)


def _check_is_enough(thinking: int, model: Model) -> None:
    least = getattr(model, "least_thinking", 0) if thinking else 0
    if thinking < least:
        raise SetupProblem(
            f"The model {model.name!r} thinks with {least} tokens at least, or not at all, so {thinking} are "
            f"too few. Give it more, or none with --thinking 0: --thinking {least}"
        )


def _too_long(name: str, limits: Limits, thinking: int, room: int) -> SetupProblem:
    free = max(1, room - QUESTION_TOKENS)
    wanted = limits.max_tokens or ANSWER_TOKENS
    thoughts = f" with {thinking} for its thoughts" if thinking else ""
    if thinking + min(wanted, ANSWER_TOKENS) > free:  # no answer of any use would fit beside so many thoughts
        change = f"--thinking {max(0, free - wanted)}"
        change += "" if wanted <= free else f" --max-tokens {free}"
    else:
        change = f"--max-tokens {free - thinking}"
    return SetupProblem(
        f"The model {name!r} has {room} tokens in mind at most, question and answer together, and a question may take "
        f"{QUESTION_TOKENS}: an answer of {wanted} tokens{thoughts} does not fit. Say what does: {change}"
    )
