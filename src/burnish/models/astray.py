"""An answer that no model wrote, a web page or the way to somewhere else: the address is wrong, and that is said."""

import re
from typing import Any
from urllib.parse import urlsplit

from burnish.errors import SetupProblem
from burnish.models.providers import Server
from burnish.text import one_line

PAGES = {"text/html", "application/xhtml+xml"}
WHERE_ASKED = ("/chat/completions", "/v1/messages", "/api/chat")
"""What the clients add to an address."""
_PLAIN_ADDRESS = re.compile(r"https?://[\w.:\[\]-]+(?:/[\w.-]+)*")


def astray(response: Any) -> tuple[str, str]:
    """How a server shows that it is no model's, and where it leads to; nothing where it may well be one's."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if 300 <= response.status_code < 400:
        return "sends us elsewhere", response.headers.get("location", "")
    return ("answered with a web page", "") if response.status_code < 300 and kind in PAGES else ("", "")


def wrong_address(server: Server, what: str, leads_to: str) -> SetupProblem:
    """What to type where an address leads astray. Nobody is followed: a key is for its own server only."""
    where = f", to {one_line(leads_to, 100)}" if leads_to else ""
    return SetupProblem(
        f"The server at {server.address} {what}{where}. Is the address right? Type: burnish config set"
        f" models.{server.provider}.base_url {_better(server, leads_to)}"
    )


def _better(server: Server, leads_to: str) -> str:
    """An address that may be the right one: another of the same host, or with the usual path."""
    end = next((end for end in WHERE_ASKED if leads_to.endswith(end)), "")
    if end and _PLAIN_ADDRESS.fullmatch(leads_to) and _host(leads_to) == _host(server.address):
        return leads_to.removesuffix(end)
    if server.kind != "openai":
        return "http://HOST:PORT"
    return "http://HOST:PORT/v1" if server.address.endswith("/v1") else f"{server.address}/v1"


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
