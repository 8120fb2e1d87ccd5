"""What is measured: every setting that decides an evaluation's result. Written first, so that a run can be resumed."""

from typing import Literal

from pydantic import Field

from burnish.events import Frozen
from burnish.version import __version__

PLAN_VERSION = 1

Protocol = Literal["visible", "oracle"]
"""`visible`: the strategy sees the prompt and the visible examples; hidden tests only score.
`oracle`: the scoring tests are shown and drive the loop, as in much published work."""
Asking = Literal["auto", "write", "fix"]
"""What the model is asked for: to write the function from its description, or to fix the code that is there.
`auto` is fix where there is buggy code, else write."""


class Plan(Frozen):
    """One evaluation, before it begins."""

    version: int = PLAN_VERSION
    burnish: str = __version__
    suite: str
    """A name from `burnish eval list`, or the path of a JSON-lines file."""
    variant: str = ""
    split: Literal["eval", "tune"] = "eval"
    tasks_hash: str = ""
    """SHA-256 over the tasks as loaded and validated, so that a resumed run measures the same ones."""
    limit: int | None = Field(default=None, ge=1)
    model: str
    engine: str = ""
    """What computes the answers, in words: tables name it."""
    strategy: str = "burnish"
    protocol: Protocol = "visible"
    ask: Asking = "auto"
    rounds: int = Field(default=5, ge=0)
    """Rounds after the first answer; `retry` and `reflect` make at most rounds + 1 calls."""
    temperature: float | None = Field(default=None, ge=0)
    """In place of the strategy's own, where it has just one: `single` 0, `retry` 0.7."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Tokens of one answer with code at most, in place of the strategy's own."""
    thinking: int | None = Field(default=None, ge=0)
    """Tokens for the thoughts before one answer; None: what the user's settings say for the model."""
    without: tuple[str, ...] = ()
    """Parts of our own agent that are left out, to see what they are worth."""
    seeds: tuple[int, ...] = (0,)
    """Independent attempts at each task, one for each seed."""
    at_once: int = Field(default=0, ge=0)
    """Attempts under way at the same time; 0 means as many as keep the model's slots busy."""
    sandbox: str = "auto"
