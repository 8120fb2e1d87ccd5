"""Probes: how a criterion is judged on a page that runs, through `LivePage.evaluate` and what was observed of it."""

import json
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from burnish.events import CriterionHeld, PageObserved
from burnish.pages.page import LivePage, PageGone, ProbeError
from burnish.text import one_line

NO_FOLLOW_UP = "no_follow_up"
"""The one function that looks at no version; `rubric.score` judges it."""
LOW_MEMORY_BYTES = 40 << 20
HARMLESS = ("blocked", "unseen")
"""Kinds of errors that throw nothing."""
_SLACK_BYTES, _SLACK_PER_MINUTE = 1 << 20, 2 << 20
"""What a page may grow by: compiled code and caches come to some hundred kilobytes, whatever it does."""


class Prober:
    """Judges the criteria of one version. The page is measured once, when the first criterion needs the facts."""

    def __init__(
        self, page: LivePage, measure: str, measure_seconds: float, is_last: bool, servers: Sequence[str] = ()
    ) -> None:
        self.page = page
        self.observed: PageObserved | None = None
        self._measure, self._measure_seconds = measure, measure_seconds
        self._given = {"isLast": is_last, "servers": servers}
        self._facts: Any = None
        self._broke: ProbeError | PageGone | None = None

    def judge(self, name: str, script: str, function: str, seconds: float) -> CriterionHeld:
        """Whether one criterion holds, and why not."""
        try:
            self._take_facts()
            said = PROBES[function](self, seconds) if function else self._evaluate(f"return (\n{script}\n);", seconds)
        except (ProbeError, PageGone) as error:
            return CriterionHeld(name=name, holds=None, why=one_line(str(error), 200))
        return CriterionHeld(name=name, holds=said is True, why=one_line(said, 200) if isinstance(said, str) else "")

    def _take_facts(self) -> None:
        """Use the page as a person would. What broke once is not tried again for the next criterion."""
        if self._measure and self._facts is None and self._broke is None:
            try:
                self._facts = self._evaluate(self._measure, self._measure_seconds) or {}
            except (ProbeError, PageGone) as error:
                self._broke = error
        if self._broke:
            raise self._broke

    def _evaluate(self, body: str, seconds: float) -> Any:
        given = f"const {{ facts, isLast, servers }} = {json.dumps(self._given | {'facts': self._facts})};"
        # The body has a block of its own, as it may well call something `facts` itself.
        return self.page.evaluate(f"(async () => {{\n{_read_library()}\n{given}\n{{\n{body}\n}}\n}})()", seconds)


@cache
def _read_library() -> str:
    return (Path(__file__).parent / "probes.js").read_text("utf-8")


def _threw_nothing(prober: Prober, _: float) -> bool | str:
    if prober.observed is None:
        raise ProbeError("what came of running it is not known")
    errors = (*prober.observed.errors, *prober.page.errors()[len(prober.observed.errors) :])
    thrown = [error for error in errors if error.kind not in HARMLESS]
    return not thrown or thrown[0].message


def _memory_is_flat(prober: Prober, seconds: float) -> bool | str:
    """Watch the heap, collected, for so many seconds after the first few, in which a page still builds itself up."""
    time.sleep(min(3.0, seconds / 4))
    before = _read_heap(prober)
    until = time.monotonic() + seconds
    while time.monotonic() < until:  # in short steps, so that a page that is closed meanwhile ends this
        time.sleep(min(1.0, seconds / 4))
        growth = _read_heap(prober) - before
    allowed = _SLACK_BYTES + _SLACK_PER_MINUTE * seconds / 60
    return growth <= allowed or "its memory grows while it runs"


def _memory_is_low(prober: Prober, _: float) -> bool | str:
    return _read_heap(prober) <= LOW_MEMORY_BYTES or f"it holds more than {LOW_MEMORY_BYTES >> 20} MB"


def _read_heap(prober: Prober) -> int:
    heap = prober.page.heap_bytes()
    if heap is None:
        raise ProbeError("this browser does not say how much memory a page takes")
    return heap


PROBES: dict[str, Callable[[Prober, float], bool | str]] = {
    "no_exception": _threw_nothing,
    "flat_memory": _memory_is_flat,
    "low_memory": _memory_is_low,
    NO_FOLLOW_UP: lambda _, __: True,
}
