"""What is known of one answer: its words, how they came, and what is wrong with them. Plain data."""

from burnish.events import Frozen


class Answer(Frozen):
    """One task, and what came of it."""

    name: str
    passed: bool
    why: str = ""
    """What is wrong; empty where nothing is."""
    too_long: bool = False
    """Whether its prompt was refused as too long."""
    text: str = ""
    thoughts: str = ""
    ended: str = ""
    """"stop", "length"; empty where there was no answer."""
    seconds: float = 0.0
    first_token_seconds: float | None = None
    pieces: int = 0
    """In how many parts the answer came."""
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float | None = None
