"""A real browser in front of a served app: people who type, click and read, each with cookies of their own.

Chromium runs in a cell without network. It reaches one port, on that cell's own loopback, and each connection to it is
carried to the app's socket: so it speaks HTTP to the app, and to nothing else. What it logs, throws or asks elsewhere
is kept as a problem of the app.
"""

import asyncio
import base64
import json
import socket
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from burnish.apps.judging.page_reader import Form, Page, read_page
from burnish.apps.judging.served_app import ServedApp
from burnish.errors import SandboxError
from burnish.pages.chromium import DevToolsError, open_chromium

PAGE_BYTES = 512 << 20
PIECE_BYTES = 1 << 16
WIDTH, HEIGHT = 1280, 900
BEGIN_SECONDS, SETTLE_SECONDS = 3.0, 20.0
STILL_SECONDS = 0.08
"""So long nothing is asked for once a page has settled."""
MOST_PROBLEMS = 50
TYPED = ("text", "email", "password", "search", "url", "tel", "textarea")
"""Kinds of inputs that take letters as a keyboard gives them; others are set, and told so."""
SET = """(form, name, value) => {
  const field = document.forms[form].elements[name];
  if (field.type === "checkbox") { if (field.checked !== Boolean(value)) field.click(); return ""; }
  if (!%s.includes(field.type) || !value) {
    field.value = value;
    for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, {bubbles: true}));
    return "";
  }
  field.focus(); field.select(); return "type";
}""" % json.dumps(TYPED)  # noqa: UP031
BUTTON = """form => {
  const found = document.forms[form];
  found.noValidate = true;
  const button = found.querySelector("button:not([type=button]), input[type=submit]");
  if (!button) return null;
  button.scrollIntoView({block: "center", behavior: "instant"});
  const box = button.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
  const top = document.elementFromPoint(x, y);
  return {x, y, isCovered: !top || !(button.contains(top) || top.contains(button))};
}"""
SETTLED = """document.readyState === "complete" &&
  !document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling")"""
INTERACTIVE = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter(
  one => one.type !== "hidden" && !one.disabled && one.checkVisibility({visibilityProperty: true}))"""
NAME = """one => (one.getAttribute("aria-label") || one.innerText || one.value || one.name || one.tagName).trim()"""
WATCH_FOCUS = f"""() => {{
  window.burnishFocused = new Map();
  document.activeElement?.blur();
  document.addEventListener("focusin", event => {{
    const style = getComputedStyle(event.target);
    const shows = style.outlineStyle !== "none" || style.boxShadow !== "none";
    window.burnishFocused.set(event.target, shows);
  }});
  return {INTERACTIVE}.reduce((stops, one) => stops + (/date|time|month|week/.test(one.type) ? 7 : 1), 0);
}}"""
UNREACHED = f"""() => {INTERACTIVE}.filter(one => !window.burnishFocused.get(one)).map(one =>
  ({NAME})(one) + (window.burnishFocused.has(one) ? " does not show its focus" : " cannot be reached by keyboard"))"""
UNNAMED = f"""() => [
  ...{INTERACTIVE}.filter(one => !(one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") ||
    [...(one.labels || [])].some(label => label.innerText.trim()) || one.title ||
    (["A", "BUTTON", "SUMMARY"].includes(one.tagName) ? one.innerText.trim() || one.querySelector("img[alt]") :
     one.type === "submit" && one.value))).map(one => (one.name || one.outerHTML.slice(0, 60)) + " has no name"),
  ...[...document.querySelectorAll("img:not([alt])")].map(one => one.src + " has no alternative text"),
  ...(document.documentElement.lang ? [] : ["the page has no language"]),
  ...(document.title.trim() ? [] : ["the page has no title"]),
  ...(document.querySelector("h1") ? [] : ["the page has no heading"]),
]"""
BRIGHTNESS = """() => {
  const probe = Object.assign(document.createElement("i"), {style: "background: Canvas"});
  document.body.append(probe);
  const colors = [document.body, document.documentElement, probe].map(one => getComputedStyle(one).backgroundColor);
  probe.remove();
  const seen = colors.find(color => !/, 0\\)$|transparent/.test(color));
  const canvas = new OffscreenCanvas(1, 1).getContext("2d");
  canvas.fillStyle = seen;
  canvas.fillRect(0, 0, 1, 1);
  const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}"""


class Browsing:
    """A browser in front of one app. Use it as a context manager. Raises SetupProblem where there is no browser."""

    def __init__(self, app: ServedApp) -> None:
        self._cell, self.devtools = open_chromium(PAGE_BYTES)
        self._relay = _Relay(self._cell.listener, app.address)
        self.address = f"http://127.0.0.1:{self._cell.listener.getsockname()[1]}"
        self.problems: list[str] = []
        """What its pages logged as errors, threw, or asked of anybody but the app."""

    def visit(self) -> "BrowserTab":
        """A page of somebody whom the app has never seen."""
        made = self.devtools.call("Target.createBrowserContext")
        return BrowserTab(self, made["browserContextId"])

    def note(self, problem: str) -> None:
        """Keep a problem, once."""
        if problem not in self.problems and len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)

    def close(self) -> None:
        """End the browser and its cell."""
        self._relay.close()
        self._cell.close()
        self.devtools.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class BrowserTab:
    """A page in the browser: a `Visitor` who sees what a person sees, and whose clicks are a mouse's."""

    def __init__(self, browser: Browsing, context: str) -> None:
        self._browser, self._context = browser, context
        self._devtools = browser.devtools
        target = self._call("Target.createTarget", "", url="about:blank", browserContextId=context)["targetId"]
        self._session = str(self._call("Target.attachToTarget", "", targetId=target, flatten=True)["sessionId"])
        self._news = threading.Condition()
        self._asked: set[str] = set()
        self._begun, self._moved = 0, time.monotonic()
        self.status = 0
        self.path = "/"
        self.page = read_page("")
        self._devtools.listen(self._session, self._hear)
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self.resize(WIDTH)

    def open_tab(self) -> "BrowserTab":
        """Another page of the same person."""
        return BrowserTab(self._browser, self._context)

    def goto(self, path: str) -> Page:
        """See `Visitor`."""
        answer = self._call("Page.navigate", url=self._browser.address + path)
        if "errorText" in answer:
            raise SandboxError(f"{path} could not be loaded: {answer['errorText']}")
        return self._settle()

    def submit(self, form: Form, values: Mapping[str, str]) -> Page:
        """See `Visitor`."""
        for name, value in values.items():
            if self.evaluate(f"({SET})({form.place}, {json.dumps(name)}, {json.dumps(value)})") == "type":
                self._call("Input.insertText", text=value)
        box = self.evaluate(f"({BUTTON})({form.place})")
        if not box or box["isCovered"]:
            raise SandboxError(f"the button of the form to {form.action} cannot be clicked")
        begun = self._begun
        for kind in ("mousePressed", "mouseReleased"):
            at = {"x": box["x"], "y": box["y"], "button": "left", "clickCount": 1}
            self._call("Input.dispatchMouseEvent", type=kind, **at)
        with self._news:
            self._news.wait_for(lambda: self._begun > begun, BEGIN_SECONDS)
        return self._settle()

    def evaluate(self, script: str) -> Any:
        """What an expression gives in the page. Raises SandboxError where it throws."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            said = answer["exceptionDetails"].get("exception", {}).get("description", "")
            raise SandboxError(f"a look at the page failed: {said[:200]}")
        return answer["result"].get("value")

    def resize(self, width: int) -> None:
        """From now on the window is so wide."""
        self.width = width
        metrics: dict[str, Any] = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **metrics)

    @property
    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        return int(self.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def measure_brightness(self, scheme: str) -> float:
        """From 0, black, to 1, white: the background where the system is "light" or "dark"."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        brightness = float(self.evaluate(f"({BRIGHTNESS})()"))
        self._call("Emulation.setEmulatedMedia", features=[])
        return brightness

    def find_unreached(self) -> list[str]:
        """Controls that the Tab key does not reach, or that do not show that they were."""
        for _ in range(int(self.evaluate(f"({WATCH_FOCUS})()")) + 2):
            for kind in ("rawKeyDown", "keyUp"):
                self._call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        return list(self.evaluate(f"({UNREACHED})()"))

    def find_unnamed(self) -> list[str]:
        """What a screen reader would have no words for."""
        return list(self.evaluate(f"({UNNAMED})()"))

    def screenshot(self) -> bytes:
        """A PNG of the window."""
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])

    def _settle(self) -> Page:
        """Wait until nothing is on its way any more, and read what is shown then."""
        until = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < until:
            with self._news:
                self._news.wait_for(lambda: not self._asked, max(0.0, until - time.monotonic()))
                still = time.monotonic() - self._moved
            if still < STILL_SECONDS:
                time.sleep(STILL_SECONDS - still)
                continue
            with suppress(SandboxError):  # the document may be replaced while it is looked at
                if self.evaluate(SETTLED):
                    where, html = self.evaluate("[location.href, document.documentElement.outerHTML]")
                    split = urlsplit(where)
                    self.path = split.path + (f"?{split.query}" if split.query else "")
                    self.page = read_page(html)
                    return self.page
        raise SandboxError(f"the page did not settle within {SETTLE_SECONDS:g} seconds; still asked: {self._asked}")

    def _call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        where = self._session if session is None else session
        try:
            return self._devtools.call(method, where, SETTLE_SECONDS, **parameters)
        except DevToolsError as error:
            raise SandboxError(f"the browser did not do {method}: {error}") from error

    def _hear(self, method: str, said: dict[str, Any]) -> None:
        """What the browser says of this page by itself, in the thread that reads."""
        match method:
            case "Page.javascriptDialogOpening":
                self._devtools.send("Page.handleJavaScriptDialog", self._session, accept=True)
            case "Runtime.exceptionThrown":
                details = said["exceptionDetails"]
                self._browser.note(str(details.get("exception", {}).get("description", details["text"]))[:300])
            case "Runtime.consoleAPICalled" if said["type"] == "error":
                shown = " ".join(str(one.get("value", one.get("description", ""))) for one in said["args"])
                self._browser.note(f"console: {shown[:300]}")
            case "Log.entryAdded" if said["entry"]["level"] == "error" and said["entry"]["source"] != "network":
                self._browser.note(f"{said['entry']['source']}: {said['entry']['text'][:300]}")
            case _ if method.startswith("Network."):
                with self._news:
                    self._hear_network(method, said)
                    self._news.notify_all()

    def _hear_network(self, method: str, said: dict[str, Any]) -> None:
        match method:
            case "Network.requestWillBeSent":
                url = said["request"]["url"]
                if not url.startswith((f"{self._browser.address}/", "data:", "about:", "blob:")):
                    self._browser.note(f"asks elsewhere: {url[:200]}")
                kind = said.get("type")
                if kind == "Document":  # what the page before still asked for may end without a word
                    self._asked.clear()
                if kind != "Other":  # an icon
                    self._asked.add(said["requestId"])
                    self._begun += 1
            case "Network.responseReceived":
                status, kind = said["response"]["status"], said["type"]
                if kind in ("Document", "XHR", "Fetch"):
                    self.status = status
                elif status >= 400 and kind != "Other":
                    self._browser.note(f"{said['response']['url'][-200:]} answers {status}")
            case "Network.loadingFinished" | "Network.loadingFailed":
                self._asked.discard(said["requestId"])
            case _:
                return
        self._moved = time.monotonic()


class _Relay:
    """Carries each connection to a listener on to a Unix socket, in a thread of its own."""

    def __init__(self, listener: socket.socket, target: Path) -> None:
        self._target = target
        self._loop: Future[asyncio.AbstractEventLoop] = Future()
        self._is_over = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(listener)), name="burnish-relay")
        self._thread.start()

    async def _serve(self, listener: socket.socket) -> None:
        async with await asyncio.start_server(self._carry, sock=listener):
            self._loop.set_result(asyncio.get_running_loop())
            await self._is_over.wait()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            with suppress(OSError):
                there, back = await asyncio.open_unix_connection(str(self._target))
                writers.append(back)
                await asyncio.gather(_copy(reader, back), _copy(there, writer))
        except asyncio.CancelledError:
            pass  # everybody is hung up on
        finally:
            for one in writers:
                one.close()

    def close(self) -> None:
        """Hang up on everybody."""
        self._loop.result().call_soon_threadsafe(self._is_over.set)
        self._thread.join(5)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
    writer.close()
