"""What can go wrong between us and a model's server, in one form for all providers, and without any secret in it."""

import re
import time
from email.utils import parsedate_to_datetime
from typing import Any

from burnish.discreet import forms_of
from burnish.errors import PromptTooLong
from burnish.text import one_line

PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
"""Answers of a server that may well be another one in a moment."""
DROPPED = {"TransportError", "APIConnectionError", "ConnectionError"}
"""What the clients call a connection that was refused or lost, and all that derives from it."""
UNREACHED = {"ConnectError", "ConnectTimeout", "PoolTimeout", "ConnectionRefusedError", "gaierror"}
"""What they call it when no connection came about: nobody has read the question."""
UNREACHED_WORDS = "Failed to connect to Ollama"
"""Ollama's client says so in words alone."""
NO_MONEY = ("insufficient_quota", "credit balance", "billing")
"""A 429 or 400 that waiting does not change."""
NOTHING_CAME = "No generation chunks were returned"
"""LangChain's words for a stream that ended before it began."""
TOO_LONG = re.compile(r"\((\d+) tokens\) exceeds the available context size \((\d+) tokens\)")
"""How llama.cpp refuses a prompt."""
MOST_WORDS = 300
LONG_SECRET = 8


class Fault(Exception):
    """One try that came to nothing."""

    def __init__(
        self,
        words: str,
        *,
        status: int = 0,
        passing: bool = False,
        wait_seconds: float | None = None,
        sent: bool = True,
    ) -> None:
        super().__init__(words)
        self.words = words
        self.status = status
        """The HTTP status; 0 where there was none."""
        self.passing = passing
        """Whether the same question may be answered in a moment."""
        self.wait_seconds = wait_seconds
        """How long the server asks us to wait."""
        self.sent = sent
        """False where nobody was reached to whom the question could be sent."""
        self.astray = ("", "")
        """How the answer showed that no model wrote it, and where it leads to."""

    @property
    def may_pass(self) -> bool:
        """Whether it is worth while to ask again: not at a wrong address."""
        return self.passing and not any(self.astray)

    @property
    def may_cost(self) -> bool:
        """Whether the server may have answered without our hearing of it: it took the question and said nothing."""
        return self.sent and not self.status


def fault_of(error: BaseException, secret: str = "", retry_after: str = "") -> Fault:
    """Whatever a provider's client raised, as a fault."""
    if NOTHING_CAME in str(error):
        return Fault("the server hung up before the answer began", passing=True)
    words = one_line(without(secret, _words(error)), MOST_WORDS)  # cut last: half a key is no less secret
    status = _status(error, words)
    if isinstance(error, ValueError) and "not supported" in words:
        status = 400  # LangChain knows that the server would refuse it, and does so itself
    dropped = any(kind.__name__ in DROPPED for kind in type(error).__mro__)
    passing = (status in PASSING or dropped) and not any(sign in words for sign in NO_MONEY)
    return Fault(words, status=status, passing=passing, wait_seconds=_wait(retry_after), sent=_sent(error))


def without(secret: str, text: str) -> str:
    """The text with the secret, and what looks like one, blotted out; a server may say back to us what we sent.

    A short secret may be a part of common words (`token`, `temp`), so it is blotted out where it stands alone.
    """
    if len(secret) >= LONG_SECRET:
        for form in forms_of(secret):
            text = text.replace(form, "…")
    elif secret:
        text = re.sub(rf"(?<![^\W_]){re.escape(secret)}(?![^\W_])", "…", text)
    return re.sub(r"\b(?:sk|pk|rk|key)-[\w-]{8,}|(?i:bearer)\s+\S+", "…", text)


def blame_length(error: BaseException) -> None:
    """Raise PromptTooLong for a prompt that leaves no room for an answer, in the words of every engine."""
    if said := TOO_LONG.search(str(error)):
        raise PromptTooLong(f"the prompt has {said[1]} tokens; the engine has room for {said[2]} in all") from error


def _words(error: BaseException) -> str:
    """What the server itself said where that can be had, else the client's words."""
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message") if isinstance(inner, dict) else inner
    if isinstance(body, str) and body.strip():
        return one_line(body, len(body))
    while error.__cause__ and not getattr(error, "status_code", 0):
        error = error.__cause__  # a client's "Connection error." hides what happened
    told = f"{type(error).__name__}: {error}"
    return one_line(told, len(told))


def _sent(error: BaseException) -> bool:
    """Whether there was a connection; the clients wrap, or replace, what says that there was none."""
    within: BaseException | None = error
    while within:
        if UNREACHED & {kind.__name__ for kind in type(within).__mro__} or UNREACHED_WORDS in str(within):
            return False
        within = within.__cause__ or within.__context__
    return True


def _status(error: BaseException, words: str) -> int:
    status = getattr(error, "status_code", 0)
    if isinstance(status, int) and status >= 400:
        return status
    told = f"{getattr(error, 'body', '')} {words}"  # an error in the middle of a stream has only words
    signs = {"overloaded": 529, "rate_limit": 429, "api_error": 500, "server_error": 500}
    return next((number for sign, number in signs.items() if sign in told), 0)


def _wait(retry_after: str) -> float | None:
    """Seconds until the server has time for us, which it says as a number or as a date."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
