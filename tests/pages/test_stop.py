"""A stop ends a page's run within two seconds, wherever it is, and leaves a record that can be gone on with."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from burnish.events import BaseEvent, PageTold, PageWritten, Stopped
from burnish.models.model import Ask, Chunk, Piece, Waiting
from burnish.models.scripted import ScriptedModel
from burnish.pages.own_browser import UserPage
from burnish.pages.page import LivePage
from burnish.pages.server import FrameServer
from burnish.runs import Store
from burnish.web.guard import LOCAL
from burnish.web.server import listen
from tests.pages.fake_page import FakePage, Turn, seen
from tests.pages.made import GOOD, begin, js

MOST_SECONDS = 2.0


class Endless(ScriptedModel):
    """Writes on and on where it is asked for `purpose`; and says when it began."""

    def __init__(self, purpose: str) -> None:
        super().__init__({"page": [GOOD], "page-question": ["x"]})
        self.purpose, self.began = purpose, threading.Event()

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        if ask.purpose != self.purpose:
            yield from super().stream(ask, cancel)
            return
        self.began.set()
        while not cancel.wait(0.02):
            yield Chunk(text="on ")
            yield Waiting()


def stop(handle: Any, store: Store) -> float:
    """Stop it; how long that took."""
    began = time.monotonic()
    handle.stop()
    run = handle.wait()
    stopped = run.last(Stopped)
    assert stopped
    assert (stopped.reason, run.verdict) == ("interrupted", None)
    assert store.open(run.id).events == run.events
    return time.monotonic() - began


@pytest.mark.parametrize("purpose", ["page", "page-question"])
def test_while_the_model_writes(purpose: str, store: Store) -> None:
    page, model = FakePage([Turn(seen(), (("ask", "Which?"),))]), Endless(purpose)
    handle, _ = begin(model, page, store=store)
    assert model.began.wait(10)
    assert stop(handle, store) < MOST_SECONDS
    assert page.closed.is_set()


def test_while_a_page_is_watched(store: Store) -> None:
    page = FakePage([Turn(seen(), hangs=True)])
    handle, _ = begin([GOOD], page, store=store)
    while not page.ran:
        time.sleep(0.01)
    assert stop(handle, store) < MOST_SECONDS


def test_while_a_browser_that_nobody_opened_is_waited_for(store: Store) -> None:
    server = FrameServer(listen(LOCAL, 0))
    opened: list[UserPage] = []

    def open_page(*given: Any) -> LivePage:
        opened.append(UserPage(server, *given))
        return opened[0]

    handle, _ = begin([GOOD], open_page, store=store)
    while not (opened and opened[0].frame):
        time.sleep(0.01)
    assert stop(handle, store) < MOST_SECONDS
    assert opened[0].frame == ""
    server.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    "code",
    ["burnish.log('here'); while (true);", "burnish.log('here'); await burnish.ask('What?')", "burnish.log('here')"],
    ids=["busy", "asking", "watched"],
)
def test_while_a_real_page_runs(code: str, store: Store) -> None:
    here = threading.Event()

    def watch(event: BaseEvent) -> None:
        if isinstance(event, PageWritten if "while" in code else PageTold):
            here.set()

    model = Endless("page-question")
    model._script = {"page": [js(code)]}
    handle, _ = begin(model, store=store, watch=watch)
    assert here.wait(30)
    time.sleep(0.3)
    assert stop(handle, store) < MOST_SECONDS
