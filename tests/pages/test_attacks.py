"""Page code wants out: each attack works in a plain page of the same Chromium, and in no live page.

Three places: a plain frame of a plain page, our own Chromium in its cell, and our frame in a user's tab. What can share
a version does, so that the whole file takes less than a minute.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from burnish.events import PageObserved
from burnish.events.pages import Kill
from tests.pages.live import Headless, Heard, Tab, WatchedTab, open_own_chromium, open_plain_browser, open_tab

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]  # the first test of each kind waits for all attacks

MAKE = """
const make = (name, given) => {
  const made = Object.assign(document.createElement(name), given);
  document.body.append(made);
  return made;
};"""
PEER = "p.createDataChannel('x'); p.createOffer().then((offer) => p.setLocalDescription(offer))"
SENDS = {
    "fetch": "fetch('TO/fetch', {mode: 'no-cors'})",
    "xhr": "const asked = new XMLHttpRequest(); asked.open('GET', 'TO/xhr'); asked.send()",
    "image": "new Image().src = 'TO/image'",
    "picture-of-svg": "make('div', {innerHTML: '<svg><image href=\"TO/picture-of-svg\"/></svg>'})",
    "picture-as-button": "make('input', {type: 'image', src: 'TO/picture-as-button'})",
    "video": "make('video', {src: 'TO/video'})",
    "websocket": "new WebSocket('ws://HOST/websocket')",
    "event-source": "new EventSource('TO/event-source')",
    "beacon": "navigator.sendBeacon('TO/beacon', 'x')",
    "ping": "make('a', {href: '#x', ping: 'TO/ping'}).click()",
    "fetch-later": "fetchLater('TO/fetch-later', {activateAfter: 0})",
    "css-background": "document.body.style.background = 'url(TO/css-background)'",
    "css-cursor": "document.body.style.cursor = 'url(TO/css-cursor), auto'",
    "css-import": "make('style', {textContent: '@import url(TO/css-import)'})",
    "css-font": "make('style', {textContent: '@font-face { font-family: f; src: url(TO/css-font) } p { font-family: "
    "f }'}); make('p', {textContent: 'a'})",
    "stylesheet": "make('link', {rel: 'stylesheet', href: 'TO/stylesheet'})",
    "script": "make('script', {src: 'TO/script'})",
    "import": "import('TO/import').catch(() => {})",
    "worker": "new Worker(URL.createObjectURL(new Blob([\"fetch('TO/worker', {mode: 'no-cors'})\"])))",
    "frame": "make('iframe', {src: 'TO/frame'})",
    "frame-refresh": "make('iframe', {srcdoc: '<meta http-equiv=refresh content=\"0;url=TO/frame-refresh\">'})",
    "frame-inside": "make('iframe', {srcdoc: '<img src=TO/frame-inside>'})",
    "object": "make('object', {data: 'TO/object'})",
    "form": "make('iframe', {name: 'there'}); make('form', {action: 'TO/form', target: 'there'}).submit()",
    "prefetch": "make('link', {rel: 'prefetch', href: 'TO/prefetch'})",
    "preload": "make('link', {rel: 'preload', as: 'script', href: 'TO/preload'})",
    "dictionary": "make('link', {rel: 'compression-dictionary', href: 'TO/dictionary'})",
    "webtransport": "new WebTransport('https://DATAGRAMS').ready.catch(() => {})",
    "webrtc-stun": "const server = {urls: 'stun:DATAGRAMS'};"
    f"const p = window.peer = new RTCPeerConnection({{iceServers: [server]}}); {PEER}",
    "webrtc-turn": "const server = {urls: 'turn:HOST?transport=tcp', username: 'u', credential: 'c'};"
    f"const p = window.relay = new RTCPeerConnection({{iceServers: [server]}}); {PEER}",
}
"""What sends something to somebody who listens on this machine, who knows by its path which it was."""
REACHES = {
    "read-our-page": "parent !== self && parent.document.title",
    "write-to-our-page": "parent !== self && (parent.document.body.append('x') || true)",
    "talk-to-our-page": "parent !== self && new Promise((done) => { addEventListener('message', () => done(true)); "
    "parent.postMessage('x', '*'); })",
    "name-of-our-page": "parent !== self && parent.location.href",
    "cookies": "(document.cookie = 'a=b') && document.cookie",
    "cookie-store": "cookieStore.set('a', 'b').then(() => true)",
    "local-storage": "(localStorage.a = 'b')",
    "session-storage": "(sessionStorage.a = 'b')",
    "database": "new Promise((done) => { indexedDB.open('x').onsuccess = () => done(true); })",
    "cache": "caches.open('x').then(() => true)",
    "files": "navigator.storage.getDirectory().then(() => true)",
    "service-worker": "navigator.serviceWorker.register('/worker.js').then(() => true)",
    "shared-worker": "new Promise((done) => { new SharedWorker('/worker.js').port.onmessage = () => done(true); })",
    "popup": "!!window.open('about:blank')",
    "opener": "!!window.open('about:blank').opener",
    "geolocation": "new Promise((done, fail) => navigator.geolocation.getCurrentPosition(() => done(true), fail))",
    "camera": "navigator.mediaDevices.getUserMedia({video: true}).then(() => true)",
    "notification": "new Promise((done) => { new Notification('x').onshow = () => done(true); })",
}
"""What is true once page code has got hold of it."""
GOOD = "document.getElementById('canvas')?.getContext('2d').fillRect(0, 0, 9, 9); burnish.done(); return 7"


class Listener:
    """Who listens on this machine to what gets out, and serves the plain page that everything gets out of."""

    PAGES = {
        "/before": "<!doctype html><title>before</title>",
        "/plain": "<!doctype html><title>ours</title><body><iframe src=/inner></iframe>"
        "<script>addEventListener('message', (said) => said.source.postMessage('y', '*'))</script>",
        "/inner": "<!doctype html><title>inner</title><body><canvas id=canvas></canvas>",
        "/worker.js": "onconnect = (event) => event.ports[0].postMessage('y')",
    }

    def __init__(self) -> None:
        self.heard: set[str] = set()
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._tcp.getsockname()[1]}"
        self.address = f"http://{self.host}"
        for listen in (self._listen, self._take_datagrams):
            threading.Thread(target=listen, daemon=True).start()

    def fill_in(self, code: str) -> str:
        """The code of an attack with the addresses to send to."""
        datagrams = f"127.0.0.1:{self._udp.getsockname()[1]}"
        return code.replace("TO/", f"{self.address}/").replace("HOST", self.host).replace("DATAGRAMS", datagrams)

    def close(self) -> None:
        for listening in (self._tcp, self._udp):
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._answer, args=[self._tcp.accept()[0]], daemon=True).start()

    def _answer(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(5)
            said = client.recv(65536)
            path = said.split(b" ")[1].decode().split("?")[0] if b" HTTP/1." in said else "/webrtc-turn"
            if said:
                self.heard.add(path[1:])
            text = self.PAGES.get(path, "ok").encode()
            kind = "text/javascript" if path.endswith(".js") else "text/html"
            head = (
                f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"
            )
            client.sendall(head.encode() + text)

    def _take_datagrams(self) -> None:
        with suppress(OSError):
            while said := self._udp.recv(65536):
                self.heard.add("webrtc-stun" if len(said) < 1000 else "webtransport")


class Plain(WatchedTab):
    """A plain page, in whose frame code runs with nothing of ours around it."""

    def __init__(self, context: Any, listener: Listener) -> None:
        super().__init__(context.new_page())
        self.tab.goto(f"{listener.address}/before")
        self.tab.goto(f"{listener.address}/plain")
        self._code = listener.fill_in

    def run(self, code: str) -> Any:
        """What the code gives, in the frame."""
        return self.tab.frames[1].evaluate(f"async () => {{ {self._code(code)} }}")

    def begin(self, code: str) -> None:
        """The same, without waiting for it."""
        self.tab.evaluate(
            "code => { setTimeout(() => frames[0].eval(code)); }", f"(async () => {{ {self._code(code)} }})()"
        )

    def answers(self) -> bool:
        """Whether the page does anything within a second."""
        from playwright.sync_api import TimeoutError

        try:
            self.tab.wait_for_function("true", timeout=1000)
        except TimeoutError:
            return False
        return True

    def becomes(self, script: str) -> bool:
        """Whether an expression comes true in the page soon."""
        from playwright.sync_api import TimeoutError

        try:
            self.tab.wait_for_function(script, timeout=8000)
        except TimeoutError:
            return False
        return True


@dataclass(frozen=True)
class Unruly:
    """A version that does harm by what it does to its page, and what becomes of it."""

    code: str
    harms: Callable[[Plain], bool]
    """Whether it did so to a plain page."""
    headless: Kill = ""
    """Why our own Chromium ends it; empty: there was no need to."""
    own: Kill = ""
    """Why it is ended in a user's browser."""


HOARD = """
const held = window.held = [];
setInterval(() => { if (held.length < 128) held.push(new Uint8Array(32 << 20).fill(1)); }, 20);
await new Promise(() => {})"""
UNRULY = {
    "a busy loop": Unruly("while (true);", lambda plain: not plain.answers(), "busy", "busy"),
    "a busy loop that begins later": Unruly(
        "setTimeout(() => { while (true); }, 200); await new Promise(() => {})",
        lambda plain: plain.tab.wait_for_timeout(400) or not plain.answers(),
        "busy",
        "busy",
    ),
    "four gigabytes": Unruly(HOARD, lambda plain: plain.becomes("frames[0].held?.length > 15"), "memory", "memory"),
    "going elsewhere": Unruly(
        "location = 'TO/elsewhere'; await new Promise(() => {})",
        lambda plain: plain.becomes("frames[0].location.pathname === '/elsewhere'"),
        "left",
        "closed",
    ),
    "taking our page elsewhere": Unruly(
        "top.location = 'TO/elsewhere'", lambda plain: plain.becomes("location.pathname === '/elsewhere'"), "left"
    ),
    "loading itself again": Unruly(
        "location.reload(); await new Promise(() => {})",
        lambda plain: plain.becomes("frames[0].performance.getEntriesByType('navigation')[0].type === 'reload'"),
        "left",
        "left",
    ),
    "closing the window": Unruly(
        "top.close(); close()", lambda plain: plain.becomes("(window.other ??= open('/inner')).closed || other.close()")
    ),
    "a download": Unruly(
        """const link = document.createElement("a");
        Object.assign(link, {href: "data:application/octet-stream,x", download: "x"});
        document.body.append(link);
        link.click();""",
        lambda plain: plain.tab.wait_for_timeout(500) or plain.downloads == 1,
    ),
    "going back": Unruly("history.back()", lambda plain: plain.becomes("location.pathname === '/before'"), "left"),
    "breaking what we stand on": Unruly(
        """Promise.prototype.then = Map.prototype.get = Array.prototype.map = JSON.parse = () => {};
        WebSocket.prototype.send = null""",
        lambda plain: plain.becomes("frames[0].WebSocket.prototype.send === null"),
    ),
    "ten thousand alerts": Unruly(
        "for (let n = 0; n < 10000; n++) alert(n)", lambda plain: plain.tab.wait_for_timeout(500) or plain.dialogs > 3
    ),
}
SENT = "\n".join(f"try {{ (() => {{ {MAKE} {code} }})(); }} catch {{}}" for code in SENDS.values())
REACHED = """
const tries = {TRIES};
const had = [];
const late = () => new Promise((done) => setTimeout(done, 1000, false));
await Promise.all(Object.entries(tries).map(async ([name, attack]) => {
  try { if (await Promise.race([attack(), late()])) had.push(name); } catch {}
}));
burnish.done();
return had;""".replace("TRIES", ", ".join(f"{name!r}: async () => ({code})" for name, code in REACHES.items()))
LETS = ["geolocation", "camera", "notifications"]
"""What the browser's user has allowed our page, and the plain one."""


@dataclass
class Battery:
    """What came of all attacks in one place."""

    heard: set[str] = field(default_factory=set)
    had: set[str] = field(default_factory=set)
    came: dict[str, PageObserved] = field(default_factory=dict)
    """Of each unruly version."""
    after: dict[str, PageObserved] = field(default_factory=dict)
    """What the good version did in the cycle after it."""
    slowest_answer: float = 0.0
    dialogs: int = 0
    downloads: int = 0


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    """Of the plain page."""
    with closing(Listener()) as opened:
        yield opened


@pytest.fixture(scope="module")
def context(listener: Listener) -> Iterator[Any]:
    """A user's browser."""
    with open_plain_browser() as browser:
        opened = browser.new_context(geolocation={"latitude": 1, "longitude": 1})
        opened.grant_permissions(LETS, origin=listener.address)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def plain(beside: Future[Battery], context: Any, listener: Listener) -> Battery:
    page = Plain(context, listener)
    page.run(SENT)
    had = page.run(f"const burnish = {{done() {{}}}};\n{REACHED}")
    until = time.monotonic() + 5
    while set(SENDS) - listener.heard and time.monotonic() < until:
        page.tab.wait_for_timeout(50)
    page.tab.close()
    for popup in context.pages:
        popup.close()
    return Battery(set(listener.heard), set(had))


def attack(place: Headless | Tab) -> Battery:
    """All attacks, one cycle after the other."""
    battery = Battery()
    with closing(Listener()) as listener:
        place.run(listener.fill_in(SENT), 1)
        battery.had = set(json.loads(place.run(REACHED, 2).value))
        for half, (name, unruly) in enumerate(UNRULY.items(), 2):
            battery.came[name] = place.run(f"{listener.fill_in(unruly.code)};\nburnish.done()", 2 * half)
            battery.after[name] = place.run(GOOD, 2 * half + 1)
        battery.heard = listener.heard
    battery.slowest_answer = place.slowest_answer
    return battery


def attack_headless() -> Battery:
    with open_own_chromium(Heard()) as place:
        return attack(place)


@pytest.fixture(scope="module")
def beside() -> Iterator[Future[Battery]]:
    """Our own Chromium is attacked while the other two are, which Playwright keeps in this thread."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(attack_headless)


@pytest.fixture(scope="module")
def headless(beside: Future[Battery], own: Battery) -> Battery:
    return beside.result()


@pytest.fixture(scope="module")
def own(context: Any, plain: Battery) -> Battery:
    with open_tab(context, Heard()) as place:
        context.grant_permissions(LETS, origin=place.address)
        battery = attack(place)
        battery.dialogs, battery.downloads = place.dialogs, place.downloads
        return battery


@pytest.mark.parametrize("name", SENDS)
def test_what_a_plain_page_sends_away_no_live_page_does(name, plain, headless, own):
    assert name in plain.heard
    assert name not in headless.heard | own.heard


@pytest.mark.parametrize("name", REACHES)
def test_what_a_plain_page_gets_hold_of_no_live_page_does(name, plain, headless, own):
    assert name in plain.had
    assert name not in headless.had | own.had


@pytest.mark.parametrize("name", UNRULY)
def test_a_page_that_does_harm_is_recorded_and_the_next_cycle_starts(name, context, listener, headless, own):
    page, unruly = Plain(context, listener), UNRULY[name]
    page.begin(unruly.code)
    assert unruly.harms(page)
    page.tab.close()
    assert (headless.came[name].killed, own.came[name].killed) == (unruly.headless, unruly.own)
    for after in (headless.after[name], own.after[name]):
        assert (after.value, after.errors, after.killed) == ("7", (), "")


def test_our_server_and_our_page_answer_within_a_second_whatever_runs(context, own):
    slowest = own.slowest_answer
    if slowest >= 1.0:  # other work had the processors, or a page holds ours up: then it does so again
        with open_tab(context, Heard()) as place:
            slowest = attack(place).slowest_answer
    assert slowest < 1.0


def test_the_user_of_a_browser_sees_no_dialog_and_gets_no_file(own):
    assert (own.dialogs, own.downloads) == (0, 0)
