"""Who may ask this server for anything, how much they may send, and what its pages may load.

A page of another origin can neither read nor start anything here: it has no cookie that counts, and what a browser says
of where a request comes from is checked besides. A name that somebody else's server gives to this address (DNS
rebinding) is refused before anything else.
"""

import hmac
import ipaddress
import re
import secrets
from dataclasses import dataclass, field
from hashlib import blake2b
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL = "127.0.0.1"
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SAFE = ("GET", "HEAD")
MOST_BYTES = 32 << 20
"""Of one request, uploads too."""
MOST_STRANGER_BYTES = 1 << 16
"""Of one request by somebody who has no key yet."""
LOGIN = "/login"
OPEN_TO_ALL = (LOGIN, "/language")
"""With all that is below /static/."""
LONG_AGO = 365 * 24 * 3600


@dataclass(frozen=True)
class Access:
    """How this server is reached, and what opens it."""

    port: int
    host: str = LOCAL
    password: str = ""
    """Asked for where the server listens to other machines; the link needs none."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def cookie(self) -> str:
        """Cookies are shared by all ports of a machine, so the name says which server it is of."""
        return f"burnish-{self.port}"

    @property
    def link(self) -> str:
        """What a person opens."""
        return self.link_to("/")

    def link_to(self, path: str) -> str:
        """The same, for one of the pages."""
        return f"http://{'localhost' if self.host == '0.0.0.0' else self.host}:{self.port}{path}?token={self.token}"

    def is_own_name(self, host: str) -> bool:
        """Whether the name that a browser asked for is one of this server's: an address, or the one it was given."""
        name, _, port = host.rpartition(":") if re.search(r":\d+$", host) else (host, "", "80")
        if port != str(self.port):
            return False
        if name in ("127.0.0.1", "localhost", self.host):
            return True
        if not self.password:
            return False
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def opens(self, key: str) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest(key.encode("utf-8", "replace"), self.token.encode())

    def lets_in(self, word: str) -> bool:
        """Whether this is the password. Where there is none, no word is."""
        said, wanted = (blake2b(text.encode("utf-8", "replace")).digest() for text in (word, self.password))
        return bool(self.password) and hmac.compare_digest(said, wanted)


def allow_frames(addresses: str) -> str:
    """The policy of a page that shows live pages: frames of these addresses, and nothing else of them."""
    return f"{POLICY}; frame-src {addresses}"


class TooLarge(Exception):
    """More was sent than is taken."""


class Guard:
    """Stands before the whole application."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or answer it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no WebSocket is spoken here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        send = _with_headers(send)
        refused = self._refuse(scope, headers)
        if refused:
            await refused(scope, receive, send)
            return
        key, owner = self._read_cookie(headers)
        scope.setdefault("state", {})["owner"] = owner
        most = MOST_BYTES if self._access.opens(key) else MOST_STRANGER_BYTES
        try:
            if int(headers.get("content-length") or 0) > most:
                raise TooLarge
            await self._app(scope, _limit_body(receive, most), send)
        except TooLarge:
            await _say(413, f"That is more than {most >> 10:,} kB. Send something smaller.")(scope, receive, send)

    def _refuse(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer that is no; None lets it through."""
        path, method, host, origin = scope["path"], scope["method"], headers.get("host", ""), headers.get("origin")
        if not self._access.is_own_name(host):
            return _say(421, "This address is not one of Burnish's. Open the link that was printed in the terminal.")
        moved = method in SAFE and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none") and not moved:
            return _say(403, "A page from elsewhere asked for this, and that is not allowed.")
        if origin != f"{scope['scheme']}://{host}" and (origin is not None or method not in SAFE):
            return _say(403, "A page from elsewhere asked for this, and that is not allowed.")
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        if "token" in query and method == "GET" and self._access.opens(query.pop("token")):
            rest = urlencode(query)
            return open_door(self._access, path + (f"?{rest}" if rest else ""))
        if path.startswith("/static/") or path in OPEN_TO_ALL or self._access.opens(self._read_cookie(headers)[0]):
            return None
        if self._access.password:
            return RedirectResponse(LOGIN, 303)
        return _say(403, "Open the link that was printed in the terminal when Burnish started: it holds the key.")

    def _read_cookie(self, headers: Headers) -> tuple[str, str]:
        """The token, and who this browser is among others; both empty where there is no cookie of ours."""
        key, _, owner = cookie_parser(headers.get("cookie", "")).get(self._access.cookie, "").partition(".")
        return key, owner


def open_door(access: Access, path: str) -> Response:
    """On to the page, with the cookie that opens all others; no page of another site can have it sent."""
    response = RedirectResponse(path if path.startswith("/") and not path.startswith("//") else "/", 303)
    value = f"{access.token}.{secrets.token_hex(4)}"
    response.set_cookie(access.cookie, value, max_age=LONG_AGO, httponly=True, samesite="strict")
    return response


def _say(status: int, text: str) -> Response:
    return PlainTextResponse(f"{text}\n", status)


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


def _limit_body(receive: Receive, most: int) -> Receive:
    """What comes without a length is counted while it comes."""
    seen = 0

    async def receive_some() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise TooLarge
        return message

    return receive_some
