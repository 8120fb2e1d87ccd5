"""What an Ollama server has and can do, asked over HTTP with the standard library: no extra is needed to look."""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from difflib import get_close_matches
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from burnish.config import is_address
from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.models.counting import whole
from burnish.models.looking import finish_within, look_at
from burnish.models.names import Progress
from burnish.text import one_line, plain

PORT = 11434
ASK_SECONDS, LOOK_SECONDS = 10.0, 0.5
"""How long it may take to answer when it is needed, and when we only look whether it is there."""
MOST_NAME = 200
"""Characters of a model's name; a server may call it anything, and names are printed."""
NOT_THERE = (urllib.error.URLError, HTTPException, OSError, ValueError, RecursionError)
"""What reading an answer may raise; the last where it is nested without end."""


class Installed(Frozen):
    """One model that the server has."""

    name: str
    bytes: int = 0


class About(Frozen):
    """What the server says of a model."""

    context: int = 0
    """Tokens it can have in mind; 0 where the server does not say."""
    thinks: bool = False
    talks: bool = True
    """False where the server says that it only turns text into numbers, or the like."""


def usual_address() -> str:
    """Where Ollama listens: as `OLLAMA_HOST` says, which its server and all its clients read. Raises SetupProblem."""
    said = os.environ.get("OLLAMA_HOST", "").strip()
    try:
        parts = urlsplit(said if "://" in said else f"http://{said}")
        host, port = parts.hostname or "127.0.0.1", parts.port or PORT
    except ValueError:  # a bracket that is never closed, a port that is no number
        raise _no_address() from None
    host = "127.0.0.1" if host == "0.0.0.0" else host  # where a server listens is no address to call
    address = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"
    if not is_address(address):
        raise _no_address()
    return address


def _no_address() -> SetupProblem:
    return SetupProblem(
        f"The address in OLLAMA_HOST cannot be used: it is a host and a port of up to 65535. Type:"
        f" export OLLAMA_HOST=127.0.0.1:{PORT}"
    )


def installed(address: str, timeout_seconds: float = LOOK_SECONDS) -> list[Installed] | None:
    """The models that the server has; None where no server answers."""
    try:
        told = _ask(address, "tags", None, timeout_seconds).get("models") or []
        return [Installed(name=plain(str(model["name"]))[:MOST_NAME], bytes=whole(model.get("size"))) for model in told]
    except (*NOT_THERE, KeyError, TypeError, AttributeError):
        return None


def about(address: str, model: str, name: str) -> About:
    """What the server says of one model. Raises SetupProblem where there is no server, or it lacks the model."""
    try:
        told = finish_within(ASK_SECONDS, lambda: _ask(address, "show", {"model": model}, ASK_SECONDS))
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 404:
            raise _not_installed(address, model, name) from None
        raise _not_there(address, name, f"it answered with status {error.code}") from None
    except NOT_THERE as error:
        raise _not_there(address, name, str(getattr(error, "reason", error))) from None
    return _about(told)


def glance(address: str, model: str, timeout_seconds: float = LOOK_SECONDS) -> About:
    """What the server says of one model; nothing where it does not say, or not in time."""
    try:
        return _about(_ask(address, "show", {"model": model}, timeout_seconds))
    except (*NOT_THERE, AttributeError, TypeError):
        return About()


def _about(told: dict[str, Any]) -> About:
    said = told.get("capabilities")
    can = said if isinstance(said, list) else []
    return About(context=_context(told), thinks="thinking" in can, talks=not can or "completion" in can)


def _context(told: dict[str, Any]) -> int:
    info = told.get("model_info")
    sizes = info.items() if isinstance(info, dict) else ()
    return max((whole(size) for key, size in sizes if key.endswith(".context_length")), default=0)


def pull(address: str, name: str, progress: Progress) -> None:
    """Have the server fetch a model; what it has of it already is not fetched again.

    Only the server's own word makes it done: a stream that ends without it has broken off.
    """
    status, model = "", name.partition(":")[2]
    try:
        for told in _lines(address, "pull", {"model": model}):
            if "error" in told:
                raise SetupProblem(
                    f"Ollama could not pull {model!r}: {one_line(str(told['error']))}. See whether it is called so,"
                    f" then try again: burnish models pull {name}"
                )
            status = one_line(str(told.get("status", "")), 60)
            progress(whole(told.get("completed")), whole(told.get("total")), status)
    except urllib.error.HTTPError as error:
        error.close()
        raise _not_there(address, name, f"it answered with status {error.code}") from None
    except NOT_THERE as error:
        if not status:
            raise _not_there(address, name, str(getattr(error, "reason", error))) from None
    if status != "success":
        raise SetupProblem(
            f"Ollama broke off before {model!r} was there (its last word: {status or 'none'}). What it has of it is not"
            f" fetched again. Go on: burnish models pull {name}"
        )


def _ask(address: str, what: str, question: dict[str, str] | None, timeout_seconds: float) -> dict[str, Any]:
    with _opened(address, what, question, timeout_seconds) as answer:
        told = json.loads(answer.read(64 << 20))
    if not isinstance(told, dict):
        raise ValueError("the answer is no JSON object")
    return told


def _lines(address: str, what: str, question: dict[str, str]) -> Iterator[dict[str, Any]]:
    with _opened(address, what, question, 600) as answer:
        while line := answer.readline(1 << 20):
            told = json.loads(line)
            if isinstance(told, dict):
                yield told


def _opened(address: str, what: str, question: dict[str, str] | None, timeout_seconds: float) -> Any:
    from burnish.models.providers import on_this_machine

    body = json.dumps(question).encode() if question is not None else None
    request = urllib.request.Request(f"{address}/api/{what}", body, {"Content-Type": "application/json"})
    proxies = urllib.request.ProxyHandler({} if on_this_machine(address) else None)
    return urllib.request.build_opener(proxies, NoRedirects).open(request, timeout=timeout_seconds)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A server that was named by the user does not send us to another: a key, or a question, is for that one only."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nobody."""


def _not_there(address: str, name: str, why: str) -> SetupProblem:
    provider = name.partition(":")[0]
    variable = "OLLAMA_HOST or" if provider == "ollama" else "this"
    return SetupProblem(
        f"No Ollama answers at {address} ({why}). If it listens elsewhere, say so with {variable}: burnish config"
        f" set models.{provider}.base_url http://HOST:{PORT}. To start it, type: ollama serve"
    )


def _not_installed(address: str, model: str, name: str) -> SetupProblem:
    provider = name.partition(":")[0]
    [found] = look_at([lambda: installed(address, ASK_SECONDS)], ASK_SECONDS)
    there = [one.name for one in found or []]
    near = get_close_matches(model, there, n=2, cutoff=0.3) or there[:2]
    those = " or ".join(f"{provider}:{one}" for one in near)
    has = f"It has {those}" if near else "It has no model yet"
    return SetupProblem(
        f"Ollama has no model {model!r}. {has}. To fetch this one, type: burnish models pull {provider}:{model}"
    )
