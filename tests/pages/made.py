"""Runs of a page with a scripted model."""

from collections.abc import Sequence
from typing import Any

from burnish.agent.limits import Limits
from burnish.commands.page import LIMITS, build_request
from burnish.models.model import Model
from burnish.models.scripted import Script, ScriptedModel
from burnish.pages.attempt import start_page
from burnish.pages.page import OpenPage
from burnish.runs import Run, Store
from burnish.runs.attempt import Resources, RunHandle
from tests.pages.fake_page import FakePage
from tests.support import block

SENTENCE = "a bar on a canvas that says 7"


def js(*lines: str) -> str:
    """An answer with this code."""
    return block("\n".join(lines), "js")


GOOD = js(
    "const canvas = document.getElementById('canvas');", "canvas.getContext('2d').fillRect(0, 0, 99, 99);", "return 7;"
)


def begin(
    model: Script | Model, page: FakePage | OpenPage | None = None, sentence: str = SENTENCE, **asked: Any
) -> tuple[RunHandle, Model]:
    """Begin a run in the page that is given, else in a Chromium of our own; and who answers in it."""
    store, limits, watch = asked.pop("store", Store()), asked.pop("limits", LIMITS), asked.pop("watch", None)
    replay = asked.pop("replay", ())
    answering = ScriptedModel(model) if isinstance(model, Sequence | dict) else model
    request = build_request(sentence, (answering,), limits=limits, store=store, **asked)
    opener = page.open if isinstance(page, FakePage) else page
    return start_page(request, Resources((answering,), store, watch, replay=replay), opener), answering


def make(model: Script | Model, page: FakePage | OpenPage | None = None, sentence: str = SENTENCE, **asked: Any) -> Run:
    """The same, once it is over."""
    return begin(model, page, sentence, **asked)[0].wait()


def rounds(rounds: int, **more: Any) -> Limits:
    """Limits with so many rounds."""
    return LIMITS.model_copy(update={"rounds": rounds} | more)
