"""A run of a page as it lies on record: its first version throws, its second one is as it should be."""

import struct
import zlib
from typing import Any

from burnish.events import (
    Asked,
    CriterionHeld,
    CriterionScore,
    ModelReplied,
    PageFacts,
    PageJudged,
    PageObserved,
    PageScored,
    PageTold,
    PageWritten,
    RunFinished,
    RunStarted,
    Stopped,
)
from burnish.events.pages import ConsoleLine, PageError
from burnish.events.settings import RunSettings
from burnish.runs import Store

BROKEN = "const box = document.querySelector('#dyn-ui');\nbox.fill();"
WORKING = "const box = document.querySelector('#dyn-ui');\nbox.append('here it is');\nreturn {cells: 40000};"
EASY = ("button", "start", "box")
"""Criteria that hold."""


def draw_png(width: int = 8, height: int = 6) -> bytes:
    """A grey picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + b"\x80" * width for _ in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def keep_page(store: Store, say: str = "", case: str = "counter", **facts: Any) -> str:
    """Its id. `say` is added to all that the page and the model say; `facts` are more of its settings."""
    run_id, record = store.begin("page")
    told = PageFacts(case=case, context="the usual", **facts)
    settings = RunSettings(limits={"rounds": 4}, page=told).to_json()
    asked = dict(purpose="page", temperature=0.2, top_p=1.0, max_tokens=900, seed=1)
    replied = dict(purpose="page", tokens_in=400, tokens_out=90, seconds=2.0, dollars=0.0)
    errors = (PageError(kind="exception", message=f"TypeError: box.fill is no function {say}", line=2, cycle=1),)
    console = (
        ConsoleLine(level="log", text=f"grid 200 {say}", line=1),
        ConsoleLine(level="warn", text="slow"),
        ConsoleLine(level="error", text="broken"),
    )
    held = (CriterionHeld(name="rules", holds=True), CriterionHeld(name="gun", holds=False, why=f"no gun {say}"))
    seen = dict(nodes=4, frames_per_second=60.0, heap_bytes=3 << 20, own_memory_bytes=90 << 20, context_tokens=420)
    rows = (
        CriterionScore(
            name="rules", what=f"The rules are right {say}", points=5, of=10, by="probe", holds=True, cycle=2
        ),
        CriterionScore(name="gun", what="A gun is there", points=0, of=10, by="probe", holds=False, why=f"none {say}"),
        *(CriterionScore(name=name, what=name, points=2, of=2, by="probe", holds=True) for name in EASY),
        CriterionScore(name="looks", what=f"It looks good {say}", points=0, of=5, by="person", holds=None),
    )
    sentence = f"the Game of Life {say}"
    events = [
        RunStarted(
            run_id=run_id, verb="page", prompt=sentence, model="scripted:test", burnish="0", settings=settings
        ),
        Asked(ask_id="page-1", messages=(), **asked),
        ModelReplied(ask_id="page-1", text=say, **replied),
        PageWritten(cycle=1, code=f"{BROKEN}\n// {say}", repaired=f"fences {say}", ask_id="page-1"),
        PageTold(cycle=1, tool="ask", text=f"which colour? {say}"),
        PageObserved(cycle=1, errors=errors, console=console, screenshot="pages/1.png", **seen),
        PageJudged(cycle=1, held=held, findings=(f"line 2 throws {say}",), sent=f"Line 2: no function {say}"),
        Asked(ask_id="page-2", messages=(), **asked),
        ModelReplied(ask_id="page-2", text=say, **replied),
        PageWritten(cycle=2, code=f"{WORKING}\n// {say}", ask_id="page-2"),
        PageObserved(
            cycle=2, value=f'{{"cells": 40000}} {say}', console=console, canvas="moving", screenshot="pages/2.png",
            recording="pages/2.webp", **seen,
        ),
        PageJudged(cycle=2, held=held),
        PageScored(case="counter", criteria=rows, points=11, of=31),
        Stopped(reason="done"),
        RunFinished(verdict="plausible", why=f"it runs {say}", version=2),
    ]  # fmt: skip
    for event in events:
        record.append(event)
    record.close()
    folder = store.runs / run_id / "pages"
    folder.mkdir()
    for cycle in (1, 2):
        (folder / f"{cycle}.png").write_bytes(draw_png())
    return run_id
