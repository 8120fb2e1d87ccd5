"""How quick the page is, and how much it bears. Run: .venv/bin/python benchmarks/web.py [load [SECONDS] | long]

A real Chromium measures what a person sees: from the start of `./burnish ui` to a page that can be used, from the
click on Start to the first step, from the model's first token to the first word on the page, and a run of 5,000 events
that is opened and that grows. Then 20 watchers follow one run for a minute while 200 people load pages at once. Prints
each figure, its limit and their ratio, and fails where one is above; `load` does the last part alone, `long` the one
before.
"""

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

from burnish.events import BaseEvent, CodeProposed, RunStarted, TestsRan
from burnish.models.model import Ask, Chunk, Done, Model, Piece
from burnish.models.scripted import ScriptedModel, open_scripted
from burnish.runs import Store
from burnish.runs.live import LiveLog
from burnish.web.app import build_app
from burnish.web.guard import Access
from burnish.web.server import listen, make_server
from burnish.web.work.active_runs import ActiveRun
from burnish.web.work.person import Person
from burnish.web.work.turns import Turns

ROOT = Path(__file__).resolve().parent.parent
TURNS = 5
EVENTS = 5_000
LOADS, WATCHERS, LOAD_SECONDS = 200, 20, 60.0
SENTENCE = "a function double(n), e.g. double(2) == 4 and double(5) == 10"
FORM = {"sentence": SENTENCE, "model": "scripted:demo", "fast": "on"}
GROWTH_MB = 40.0
NOTE = """
    addEventListener('click', () => sessionStorage.setItem('clicked', Date.now()), true);
    const note = (name, selector) => {
      if (!sessionStorage.getItem(name) && document.querySelector(selector)) sessionStorage.setItem(name, Date.now());
    };
    const look = () => { note('page', '#part-status .state'); note('step', '#timeline .step');
                         note('word', '[data-ask="draft-1"] > pre:not(:empty)'); };
    new MutationObserver(look).observe(document, {childList: true, subtree: true, characterData: true});
"""
"""Notes in the browser when something was there first; its clock is the model's."""


class SlowModel(ScriptedModel):
    """Thinks before its first token, as a real one does, and notes when that came; then a word every so often."""

    def __init__(self, think_seconds: float, word_seconds: float, words: int = 0) -> None:
        script = open_scripted("demo")._script
        assert not isinstance(script, Sequence)
        told = {"draft": ["word " * words + reply for reply in script["draft"]]}
        super().__init__({**script, **told}, "scripted:demo")
        self.think_seconds, self.word_seconds = think_seconds, word_seconds
        self.first_token = 0.0

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """As the script says, slowly."""
        time.sleep(self.think_seconds)
        for piece in super().stream(ask, cancel):
            if ask.purpose == "draft" and isinstance(piece, Chunk) and not self.first_token:
                self.first_token = time.time()
            yield piece
            if not isinstance(piece, Done) and cancel.wait(self.word_seconds):
                return


@contextmanager
def serve_here(model: Model) -> Iterator[tuple[Any, Access]]:
    """The real server in a thread, and how it is reached."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["BURNISH_HOME"] = home
        listener = listen("127.0.0.1", 0)
        access = Access(listener.getsockname()[1])
        app = build_app(access, Store(Path(home)), lambda names: [model])
        server = make_server(app)
        thread = threading.Thread(target=server.run, args=[[listener]], daemon=True)
        thread.start()
        yield app, access
        for run in app.state.runs.at_work:
            run.stop()
        server.should_exit = True
        thread.join(10)


def address(access: Access) -> str:
    return access.link.partition("/?")[0]


def open_client(link: str) -> httpx.Client:
    own = link.partition("/?")[0]
    client = httpx.Client(base_url=own, headers={"Origin": own}, timeout=30)
    client.get(link)
    return client


@contextmanager
def start_ui(*command: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, and its link."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "BURNISH_HOME": home}
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert child.stdout
        try:
            yield child, next(line.strip() for line in child.stdout if line.startswith("http://"))
        finally:
            child.kill()
            child.wait()
            child.stdout.close()


def measure_start(browser: Any) -> float:
    """From the command to a page in which one can type, with its menu of models."""
    began = time.perf_counter()
    with start_ui(str(ROOT / "burnish"), "ui", "--no-browser", "--port", "0") as (_, link):
        page = browser.new_page()
        page.goto(link)
        page.type("#sentence", "a")
        page.wait_for_selector("#model option", state="attached")
        seconds = time.perf_counter() - began
        page.close()
    return seconds


def measure_click(browser: Any) -> tuple[float, float]:
    """From the click to the first step; from the model's first token to the first word on the page."""
    model = SlowModel(think_seconds=1.0, word_seconds=0.05)
    with serve_here(model) as (_, access):
        page = browser.new_page()
        page.add_init_script(NOTE)
        page.goto(access.link)
        page.fill("#sentence", SENTENCE)
        page.select_option("#model", "scripted:demo")
        page.click("button.primary")
        page.wait_for_selector('[data-ask="draft-1"] > pre:not(:empty)')
        clicked, step, word = (float(page.evaluate(f"sessionStorage.{name}")) for name in ("clicked", "step", "word"))
        page.close()
    return (step - clicked) / 1000, word / 1000 - model.first_token


class LongRun:
    """A run of so many events that is still at work, and does nothing."""

    def __init__(self, events: list[BaseEvent]) -> None:
        self.live = LiveLog(events)

    def stop(self) -> None:
        """There is nothing to stop."""


def make_events(app: Any, client: httpx.Client, count: int) -> list[BaseEvent]:
    """Those of a real run, whose asking, answering and testing goes on and on."""
    run_id = client.post("/write", data=FORM).headers["location"].rpartition("/")[2]
    while app.state.runs.find(run_id):
        time.sleep(0.05)
    events = list(app.state.store.open(run_id).events)
    first = next(place for place, event in enumerate(events) if isinstance(event, CodeProposed))
    last = next(place for place, event in enumerate(events) if isinstance(event, TestsRan)) + 1
    begun, turn = events[:last], [*events[first - 2 : first], events[first], events[last - 1]]
    while len(begun) < count:
        number = 2 + (len(begun) - last) // len(turn)
        event = turn[(len(begun) - last) % len(turn)]
        update = {name: value for name, value in {"version": number, "ask_id": f"rewrite-{number}"}.items()}
        begun.append(event.model_copy(update={name: update[name] for name in update if hasattr(event, name)}))
    return list(begun)


def measure_long_run(browser: Any) -> tuple[float, float]:
    """How long a run of 5,000 events takes to open, and one more event to change all that it does change there."""
    with serve_here(open_scripted("demo")) as (app, access), closing(open_client(access.link)) as client:
        events = make_events(app, client, EVENTS)
        started = next(event for event in events if isinstance(event, RunStarted))
        handle = LongRun(events)
        ticket = Turns(1).join("me")
        active = ActiveRun(started.run_id, started.prompt, ticket, "write", Person(ticket), handle)  # type: ignore[arg-type]
        app.state.runs._runs[active.id] = active
        page = browser.new_page()
        page.goto(access.link)
        began = time.perf_counter()
        page.goto(f"{address(access)}/runs/{active.id}")
        shown = page.evaluate("document.querySelectorAll('#timeline .step').length")
        opened = time.perf_counter() - began
        assert shown > EVENTS / 2, shown
        page.evaluate(
            "new MutationObserver(() => (window.seen = Date.now())).observe(document.querySelector('#part-versions'), "
            "{childList: true})"
        )
        page.wait_for_timeout(1500)
        took = []
        for number in range(9):
            proposed = next(event for event in events if isinstance(event, CodeProposed))
            page.evaluate("window.seen = 0")
            told = time.time()
            handle.live.add(
                proposed.model_copy(update={"version": 2000 + number, "code": f"{proposed.code}\n# {number}"})
            )
            while not (seen := page.evaluate("window.seen")):
                time.sleep(0.005)
            took.append(seen / 1000 - told)
            page.wait_for_timeout(400)
        active.is_over = True
        page.close()
    return opened, statistics.median(took)


# --- load ---


def serve_slowly() -> None:
    """What `load` starts: a server whose model writes as long as anybody watches."""
    listener = listen("127.0.0.1", 0)
    access = Access(listener.getsockname()[1])
    model = SlowModel(0.0, 0.05, words=100_000)
    print(access.link, flush=True)
    make_server(build_app(access, opener=lambda names: [model])).run([listener])


def read_memory(process: int) -> float:
    """Megabytes that a process holds."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def load_page(client: httpx.AsyncClient, path: str) -> float:
    """One page as a browser loads it: the page, and what it names."""
    began = time.perf_counter()
    for part in (path, "/static/report.css", "/static/burnish.css", "/static/burnish.js", "/static/htmx.min.js"):
        (await client.get(part)).raise_for_status()
    return time.perf_counter() - began


async def watch(client: httpx.AsyncClient, path: str, until: float) -> int:
    """How many words came."""
    words = 0
    async with client.stream("GET", f"{path}/events") as stream:
        stream.raise_for_status()
        async for line in stream.aiter_lines():
            words += line.count("word ")
            if time.monotonic() > until:
                return words
    raise AssertionError("the stream ended")


async def put_load(link: str, run: str, seconds: float) -> tuple[list[float], list[int]]:
    """200 people load pages over and over while 20 watch."""
    own, until = link.partition("/?")[0], time.monotonic() + seconds
    limits = httpx.Limits(max_connections=LOADS + WATCHERS, max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=own, headers={"Origin": own}, timeout=60, limits=limits) as client:
        await client.get(link)
        watchers = [asyncio.create_task(watch(client, run, until)) for _ in range(WATCHERS)]
        took: list[float] = []
        while not took or time.monotonic() < until:
            took += await asyncio.gather(*(load_page(client, path) for path in ["/", run] * (LOADS // 2)))
        return took, await asyncio.gather(*watchers)


def measure_load(seconds: float) -> list[tuple[str, float, float, str]]:
    """No error, every watcher served, and memory that comes back."""
    with start_ui(sys.executable, __file__, "serve") as (child, link), closing(open_client(link)) as client:
        run = client.post("/write", data=FORM).headers["location"]
        asyncio.run(put_load(link, run, min(5.0, seconds)))  # what is loaded at first use stays
        before = read_memory(child.pid)
        took, words = asyncio.run(put_load(link, run, seconds))
        time.sleep(2)
        growth = read_memory(child.pid) - before
    assert min(words) > 0, words
    most = statistics.quantiles(took, n=20)[-1]
    print(
        f"{len(took)} pages by {LOADS} people at once, {WATCHERS} watchers, {seconds:.0f} s: no error, {before:.0f} MB"
    )
    return [("page under load, 95 %", most, 20.0, "s"), ("memory kept", max(growth, 0.1), GROWTH_MB, "MB")]


@contextmanager
def open_browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    found = os.environ.get("BURNISH_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


def measure_first_steps(browser: Any) -> list[tuple[str, float, float, str]]:
    """How long a person waits at first."""
    measure_start(browser)
    started = min(measure_start(browser) for _ in range(TURNS))
    clicks = [measure_click(browser) for _ in range(TURNS)]
    return [
        ("warm start to a usable page", started, 4.0, "s"),
        ("click to the first step", statistics.median(one for one, _ in clicks), 0.3, "s"),
        ("first token to first word", statistics.median(one for _, one in clicks), 0.5, "s"),
    ]


def main(part: str = "", seconds: str = "") -> int:
    if part == "serve":
        serve_slowly()
        return 0
    found: list[tuple[str, float, float, str]] = []
    if part != "load":
        with open_browser() as browser:
            found += [] if part == "long" else measure_first_steps(browser)
            long = [measure_long_run(browser) for _ in range(1 if part == "long" else 3)]
            found.append((f"run of {EVENTS} events opens", statistics.median(one for one, _ in long), 1.0, "s"))
            found.append(("and grows by one", statistics.median(one for _, one in long), 0.1, "s"))
    if part != "long":
        found += measure_load(float(seconds or LOAD_SECONDS))
    for name, figure, limit, unit in found:
        print(f"{name:<28} {figure:8.3f} {unit} (limit {limit:g} {unit}), ratio {figure / limit:.2f}")
    return int(any(figure > limit for _, figure, limit, _ in found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
