"""Serves the frames of live pages, and the channel that each of them opens to us; nothing else is served here.

Page code can do what this document's policy lets it do: it draws, computes, and speaks over its channel. Inline code
runs only if it is our shim, by its hash: so a frame within the frame runs nothing at all, and what the shim has taken
away from its own window (`RTCPeerConnection`) cannot be had from a fresh one. The shim runs a version with `eval`.
"""

import base64
import hashlib
import secrets
import socket
import threading
import time
from importlib.resources import files

import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from burnish.errors import SandboxError
from burnish.pages.channel import FrameLink
from burnish.pages.page import PageLimits, PageTools

MOST_MESSAGE_BYTES = 8 << 20
"""A picture of a canvas is the largest of them."""
START_SECONDS = 10

_SHIM = (files("burnish.pages") / "frame.js").read_text("utf-8")
_DOCUMENT = (files("burnish.pages") / "frame.html").read_text("utf-8").replace("/* frame.js */", _SHIM)
_SHIM_HASH = base64.b64encode(hashlib.sha256(_SHIM.encode()).digest()).decode()
_DENIED = (
    "accelerometer autoplay bluetooth browsing-topics camera clipboard-read clipboard-write compute-pressure "
    "cross-origin-isolated display-capture encrypted-media fullscreen gamepad geolocation gyroscope hid "
    "identity-credentials-get idle-detection local-fonts local-network-access magnetometer microphone midi "
    "otp-credentials payment picture-in-picture publickey-credentials-create publickey-credentials-get "
    "screen-wake-lock serial speaker-selection storage-access usb web-share window-management xr-spatial-tracking"
)


class FrameServer:
    """Serves frames until it is closed, in a thread of its own.

    `own_tab`: the frame may be opened as a tab, which suits a browser that reaches no network. In a user's browser it
    must lie in a page of ours, whose policy (`frame-src`) keeps it from going anywhere else.
    """

    def __init__(self, listener: socket.socket, own_tab: bool = False) -> None:
        self._links: dict[str, FrameLink] = {}
        self._own_tab = own_tab
        self.port: int = listener.getsockname()[1]
        app = Starlette(
            routes=[
                Route("/frame/{token}", self._serve_frame, methods=["GET"]),
                WebSocketRoute("/channel/{token}", self._serve_channel),
            ]
        )
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
            ws="websockets-sansio",
            ws_max_size=MOST_MESSAGE_BYTES,
            ws_per_message_deflate=False,
            ws_ping_interval=None,  # a page that hangs is found out by what it does not answer, and sooner
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=[[listener]], daemon=True, name="frames")
        self._thread.start()
        until = time.monotonic() + START_SECONDS
        while not self._server.started:
            if time.monotonic() > until or not self._thread.is_alive():
                raise SandboxError("the server of live pages did not start")
            time.sleep(0.005)

    @property
    def addresses(self) -> str:
        """Where frames are, as a policy (`frame-src`) says it."""
        return f"http://*.localhost:{self.port}"

    def locate(self, link: FrameLink) -> str:
        """The address of the version that a link serves now, as seen by a browser that reaches this listener."""
        return f"http://{link.host}:{self.port}{link.frame_path}"

    def open(self, tools: PageTools, limits: PageLimits, targets: tuple[str, ...] = ()) -> FrameLink:
        """A link for the page of one run. `targets` (`127.0.0.2:*`) are what its code may reach besides its channel."""
        token = secrets.token_urlsafe(24)
        link = FrameLink(token, tools, limits, targets, lambda: self._links.pop(token, None))
        self._links[token] = link
        return link

    def close(self) -> None:
        """Close all links, and end the server."""
        for link in list(self._links.values()):
            link.close()
        self._server.should_exit = True
        self._thread.join(5)

    def _find_link(self, request: HTTPConnection) -> FrameLink | None:
        """Whose address this is; None where the token is wrong, or the host is a name that somebody else gave us."""
        link = self._links.get(request.path_params["token"])
        if link is None or request.headers.get("host", "") != f"{link.host}:{self.port}":
            return None
        return link if request.query_params.get("cycle") == str(link.cycle) else None

    async def _serve_frame(self, request: Request) -> Response:
        link = self._find_link(request)
        if link is None or not (self._own_tab or request.headers.get("sec-fetch-dest") == "iframe"):
            return PlainTextResponse(
                "There is no live page at this address.\n", 403, headers={"Cache-Control": "no-store"}
            )
        return HTMLResponse(_DOCUMENT, headers=make_headers(self.port, link))

    async def _serve_channel(self, socket: WebSocket) -> None:
        link = self._find_link(socket)
        # A sandboxed frame has no origin but "null"; any other page has a name, which it cannot hide.
        if link is None or socket.headers.get("origin") != "null" or not link.has_room:
            await socket.close()  # before it is accepted: 403
            return
        await socket.accept()
        await link.attend(socket)


def make_headers(port: int, link: FrameLink) -> dict[str, str]:
    """What the frame's document may do."""
    reachable = [f"ws://{link.host}:{port}/channel/{link.token}"]
    reachable += [f"{scheme}://{target}" for target in link.targets for scheme in ("http", "ws")]
    policy = {
        "default-src": "'none'",
        "script-src": f"'sha256-{_SHIM_HASH}' 'unsafe-eval'",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "media-src": "data: blob:",
        "font-src": "data:",
        "connect-src": " ".join(reachable),
        "form-action": "'none'",
        "base-uri": "'none'",
        "frame-ancestors": "http://127.0.0.1:* http://localhost:*",
        "webrtc": "'block'",
        "sandbox": "allow-scripts",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Permissions-Policy": ", ".join(f"{name}=()" for name in _DENIED.split()),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-DNS-Prefetch-Control": "off",
        "Cache-Control": "no-store",
    }
