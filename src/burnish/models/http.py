"""One exchange with a server over HTTP, under our control: it can be hung up from another thread, it has an end, and
what goes wrong in it has one form for all providers, without any secret in it.

The clients of the providers give no hold on their connections, but all of them call hooks. Each exchange has its own
connection, and a thread has one exchange at a time, so that the hooks know whose it is.
"""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from burnish.errors import PromptTooLong, SetupProblem
from burnish.models.providers import ModelServer
from burnish.redact import list_encodings
from burnish.text import one_line

BYTES_PER_TOKEN = 4096
"""More than any protocol wraps around a token."""
SPARE_BYTES = 1 << 20
WEB_PAGES = {"text/html", "application/xhtml+xml"}
PATHS = ("/chat/completions", "/v1/messages", "/api/chat")
"""What the clients add to an address."""
_PLAIN_ADDRESS = re.compile(r"https?://[\w.:\[\]-]+(?:/[\w.-]+)*")
PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
"""Answers of a server that may well be another one in a moment."""
DROPPED = {"TransportError", "APIConnectionError", "ConnectionError"}
"""What the clients call a connection that was refused or lost, and all that derives from it."""
UNREACHED = {"ConnectError", "ConnectTimeout", "PoolTimeout", "ConnectionRefusedError", "gaierror"}
"""What they call it when no connection came about: the question was not read."""
UNREACHED_WORDS = "Failed to connect to Ollama"
"""Ollama's client says so in words alone."""
NO_MONEY = ("insufficient_quota", "credit balance", "billing")
"""A 429 or 400 that waiting does not change."""
NOTHING_CAME = "No generation chunks were returned"
"""LangChain's words for a stream that ended before it began."""
TOO_LONG = re.compile(r"\((\d+) tokens\) exceeds the available context size \((\d+) tokens\)")
"""How llama.cpp refuses a prompt."""
STATUS_WORDS = {"overloaded": 529, "rate_limit": 429, "api_error": 500, "server_error": 500}
"""An error in the middle of a stream has only words."""
MOST_WORDS = 300
LONG_SECRET = 8
CONNECT_SECONDS, SILENT_SECONDS = 10.0, 900.0
"""How long a server may take to accept a connection, and then to send nothing: a big prompt on a slow machine takes
long."""


class WrongAddress(NamedTuple):
    """How an answer shows that no model wrote it, and where it leads to."""

    sign: str
    leads_to: str = ""


@dataclass(eq=False)
class RequestFailed(Exception):
    """One try that came to nothing."""

    words: str
    status: int = 0
    """The HTTP status; 0 where there was none."""
    passing: bool = False
    """Whether the same question may be answered in a moment."""
    wait_seconds: float = 0.0
    """How long the server asks us to wait."""
    sent: bool = True
    """False where no connection came about, so that the question was never sent."""
    wrong_address: WrongAddress | None = None

    @property
    def may_cost(self) -> bool:
        """Whether the server may charge for an answer that was lost: it took the question and sent no status."""
        return self.sent and not self.status


class AnswerRefused(Exception):
    """An answer that we do not read: far longer than was asked for, or compressed, which a few bytes may hide."""

    def __init__(self, words: str, status: int = 0) -> None:
        super().__init__(words)
        self.status_code = status


class Exchange:
    """The connection of one ask."""

    def __init__(self, max_tokens: int) -> None:
        self.most_bytes = SPARE_BYTES + BYTES_PER_TOKEN * max_tokens
        self.retry_after = ""
        """When the server says that it has time for us, in its own words."""
        self.wrong_address: WrongAddress | None = None
        self.answered = False
        """Whether the headers of an answer came."""
        self._socket: Any = None
        self._over = False

    def hang_up(self) -> None:
        """End the exchange now, whatever its thread waits for."""
        self._over = True
        self._shut_down_if_over()

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Take hold of the connection once there is one; it may have been hung up while it was being made."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            self._shut_down_if_over()

    def _shut_down_if_over(self) -> None:
        # Each thread writes its half before it looks at the other's, so one of them sees both without a lock.
        if self._over and self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def receive(self, response: Any) -> None:
        """Note what the headers say, and let no more be read than was asked for."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.answered, self.retry_after = True, response.headers.get("retry-after", "")
        if 300 <= response.status_code < 400:
            self.wrong_address = WrongAddress("sends us elsewhere", response.headers.get("location", ""))
        elif response.status_code < 300 and kind in WEB_PAGES:
            self.wrong_address = WrongAddress("answered with a web page")
        response.stream = _limit_stream(response, self.most_bytes)


current_exchange: ContextVar[Exchange] = ContextVar("current_exchange")
"""The exchange that this thread's requests belong to; set by the thread that reads an answer."""


def client_settings(server: ModelServer) -> dict[str, Any]:
    """How a client is made so that the thread's exchange has hold of its requests: each on a connection of its own,
    never led elsewhere with the key in its hands, without cookies, and answered in plain bytes, which can be counted.
    """

    def on_request(request: Any) -> None:
        request.extensions["trace"] = current_exchange.get().trace

    return {
        "event_hooks": {
            "request": [on_request],
            "response": [lambda response: current_exchange.get().receive(response)],
        },
        "trust_env": not server.is_here,  # a proxy in the shell is for the world, not for this machine
        "timeout": (CONNECT_SECONDS, SILENT_SECONDS, SILENT_SECONDS, SILENT_SECONDS),
        # A connection of its own can be shut down without harm to another ask; plain bytes can be counted.
        "headers": {"Connection": "close", "Accept-Encoding": "identity"},
        "follow_redirects": False,
        "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
    }


def _limit_stream(response: Any, most_bytes: int) -> Any:
    """The answer's stream. Raises AnswerRefused where it does not end by itself; a compressed one is not read."""
    # httpx checks the class of a stream, and openai and anthropic may bring httpx packages of their own.
    stream, coding = response.stream, response.headers.get("content-encoding", "").strip().lower()
    kind = next(base for base in type(stream).__mro__ if base.__name__ == "SyncByteStream")

    class LimitedStream(kind):  # type: ignore[misc, valid-type]  # of the package whose client this is
        def __iter__(self) -> Iterator[bytes]:
            if coding not in ("", "identity"):
                words = f"the server compressed its answer ({one_line(coding, 40)}) although it was asked not to"
                raise AnswerRefused(words, response.status_code)
            received = 0
            for block in stream:
                received += len(block)
                if received > most_bytes:
                    raise AnswerRefused(f"the server sent more than {most_bytes:,} bytes for one answer")
                yield block

        def close(self) -> None:
            stream.close()

    return LimitedStream()


def explain_wrong_address(server: ModelServer, wrong: WrongAddress, secret: str) -> SetupProblem:
    """The problem with the line to type. No redirect is followed: a key is for its own server only.

    Suggests another address of the same host, or one with the usual path.
    """
    better = "http://HOST:PORT"
    if server.kind == "openai":
        better = f"{better if server.address.endswith('/v1') else server.address}/v1"
    leads_to = remove_secret(secret, wrong.leads_to)
    path = next((path for path in PATHS if leads_to.endswith(path)), "")
    with suppress(ValueError):  # what the server sends need not be an address
        same_host = urlsplit(leads_to).hostname == urlsplit(server.address).hostname
        if path and same_host and _PLAIN_ADDRESS.fullmatch(leads_to):
            better = leads_to.removesuffix(path)
    where = f", to {one_line(leads_to, 100)}" if leads_to else ""
    return SetupProblem(
        f"The server at {server.address} {wrong.sign}{where}. Is the address right? Type: burnish config set"
        f" models.{server.provider}.base_url {better}"
    )


def describe_failure(error: BaseException, secret: str, exchange: Exchange) -> RequestFailed:
    """Whatever a provider's client raised, in one form."""
    wrong, nothing_came = exchange.wrong_address, NOTHING_CAME in str(error)
    words = one_line(remove_secret(secret, _read_words(error)), MOST_WORDS)  # cut last: half a key is no less secret
    words = "the server hung up before the answer began" if nothing_came else words
    status = getattr(error, "status_code", 0)
    if type(error) is ValueError and not exchange.answered:
        status = 400  # LangChain knows that the server would refuse it, and does so itself
    elif not isinstance(status, int) or status < 400:
        body = f"{getattr(error, 'body', '')} {words}"
        status = next((number for sign, number in STATUS_WORDS.items() if sign in body), 0)
    dropped = nothing_came or any(kind.__name__ in DROPPED for kind in type(error).__mro__)
    passing = status in PASSING or dropped
    return RequestFailed(
        words,
        status=status,
        passing=passing and wrong is None and not any(sign in words for sign in NO_MONEY),
        wait_seconds=_read_wait(exchange.retry_after),
        sent=_was_sent(error),
        wrong_address=wrong,
    )


def remove_secret(secret: str, text: str) -> str:
    """The text with the secret, and what looks like one, blotted out; a server may say back to us what we sent.

    A short secret may be a part of common words (`token`, `temp`), so it is blotted out where it stands alone.
    """
    if len(secret) >= LONG_SECRET:
        for form in list_encodings(secret):
            text = text.replace(form, "…")
    elif secret:
        text = re.sub(rf"(?<![^\W_]){re.escape(secret)}(?![^\W_])", "…", text)
    return re.sub(r"\b(?:sk|pk|rk|key)-[\w-]{8,}|(?i:bearer)\s+\S+", "…", text)


def read_prompt_too_long(error: BaseException) -> PromptTooLong | None:
    """What llama.cpp says of a prompt that leaves no room for an answer, in the words of every engine; else None."""
    if not (found := TOO_LONG.search(str(error))):
        return None
    return PromptTooLong(f"the prompt has {found[1]} tokens; the engine has room for {found[2]} in all")


def _read_words(error: BaseException) -> str:
    """The message in the server's answer where there is one, else that of the client's innermost error."""
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message") if isinstance(inner, dict) else inner
    if not isinstance(body, str) or not body.strip():
        while error.__cause__ and not getattr(error, "status_code", 0):
            error = error.__cause__  # a client's "Connection error." hides what happened
        body = f"{type(error).__name__}: {error}"
    return one_line(body, len(body))


def _was_sent(error: BaseException | None) -> bool:
    """Whether there was a connection; the clients wrap, or replace, what says that there was none."""
    while error:
        if UNREACHED & {kind.__name__ for kind in type(error).__mro__} or UNREACHED_WORDS in str(error):
            return False
        error = error.__cause__ or error.__context__
    return True


def _read_wait(retry_after: str) -> float:
    """Seconds until the server has time for us, which it says as a number or as a date."""
    with suppress(ValueError):
        return max(0.0, float(retry_after))
    with suppress(TypeError, ValueError):
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    return 0.0
