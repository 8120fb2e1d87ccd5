"""What the page of a live page's run shows: its versions, what each did, and the points. Made from its events alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from markupsafe import Markup
from pygments.lexers import JavascriptLexer

from burnish.events import (
    CriterionTicked,
    PageJudged,
    PageObserved,
    PageRefused,
    PageScored,
    PageTold,
    PageWritten,
    RunFinished,
)
from burnish.events.history import Run
from burnish.events.pages import ConsoleLine, PageError
from burnish.pages.folder import measure_agreement, read_score
from burnish.web.result_view import colour_lines, diff_lines

MOST_LINES = 200
"""Of a console, and of errors: the newest ones. All of it is on record."""
KILLS = {
    "busy": "It answered nothing any more.",
    "memory": "It took too much memory.",
    "left": "It went to another address.",
    "closed": "Its tab was closed.",
    "crashed": "The browser gave it up.",
    "time": "It took too long.",
}
"""Why a page was ended, in plain words."""


@dataclass(frozen=True)
class PageVersion:
    """One version of the code, what it did, and what was made of that; as far as it is known yet."""

    written: PageWritten
    before: str
    """The code that it follows, which is what it differs from."""
    observed: PageObserved | None = None
    judged: PageJudged | None = None

    @property
    def cycle(self) -> int:
        """Its number."""
        return self.written.cycle

    @cached_property
    def lines(self) -> list[Markup]:
        """The code in colours."""
        return colour_lines(self.written.code, JavascriptLexer)

    @cached_property
    def diff(self) -> list[tuple[str, str]]:
        """What differs from the version before; nothing of the first one."""
        return diff_lines(self.before, self.written.code) if self.before else []

    @property
    def killed(self) -> str:
        """Why it was ended, in plain words; empty: it was not, as far as is known."""
        return KILLS.get(self.observed.killed, "") if self.observed else ""

    @property
    def is_good(self) -> bool:
        """Whether it was looked at, and nothing was to be put right."""
        return self.judged is not None and not self.judged.findings


@dataclass(frozen=True)
class PageView:
    """A run of a page at one moment."""

    run: Run
    frame: str = ""
    """The address of what runs in this browser right now; empty: nothing does."""

    @property
    def state(self) -> str:
        """What it does while no model is asked: idle or running."""
        return "running" if self.versions else "idle"

    @cached_property
    def versions(self) -> list[PageVersion]:
        """All of them, oldest first."""
        found: dict[int, PageVersion] = {}
        code = self.run.settings.page.before if self.run.settings.page else ""
        for event in self.run.events:
            if isinstance(event, PageWritten):
                before = found[event.cycle].before if event.cycle in found else code
                found[event.cycle], code = PageVersion(event, before), event.code
            elif isinstance(event, PageObserved) and event.cycle in found:
                found[event.cycle] = replace(found[event.cycle], observed=event)
            elif isinstance(event, PageJudged) and event.cycle in found:
                found[event.cycle] = replace(found[event.cycle], judged=event)
        return [found[cycle] for cycle in sorted(found)]

    @cached_property
    def shown(self) -> PageVersion | None:
        """The version that is handed over; before there is one, the newest."""
        finished = self.run.ending(RunFinished)
        chosen = [one for one in self.versions if finished and one.cycle == finished.version]
        found = chosen or self.versions
        return found[-1] if found else None

    @cached_property
    def observed(self) -> PageObserved | None:
        """What was seen last: of the version that is shown, or while it has only begun, of the one before."""
        seen = [one.observed for one in self.versions if one.observed]
        return self.shown.observed if self.shown and self.shown.observed else seen[-1] if seen else None

    @cached_property
    def pictured(self) -> PageObserved | None:
        """The same, where there is a picture of it."""
        seen = [one.observed for one in self.versions if one.observed and one.observed.screenshot]
        chosen = self.observed if self.observed and self.observed.screenshot else None
        return chosen or (seen[-1] if seen else None)

    @cached_property
    def errors(self) -> list[PageError]:
        """All versions' errors, the newest version's first."""
        seen = [one.observed for one in reversed(self.versions) if one.observed]
        return [error for observed in seen for error in observed.errors][:MOST_LINES]

    @property
    def killed(self) -> str:
        """Why the newest version was ended, in plain words; empty: it was not, as far as is known."""
        return self.versions[-1].killed if self.versions else ""

    @property
    def is_headless(self) -> bool:
        """Whether it runs in a browser of ours."""
        return self.run.settings.page is None or self.run.settings.page.headless

    @property
    def console(self) -> Sequence[ConsoleLine]:
        """What the newest version printed."""
        return self.observed.console[-MOST_LINES:] if self.observed else ()

    @cached_property
    def told(self) -> list[PageTold]:
        """What the page and the agent said to each other."""
        return self.run.all(PageTold)[-MOST_LINES:]

    @cached_property
    def sent(self) -> tuple[int, str] | None:
        """Exactly what the model was sent last about a version, or about an answer that held none, and its cycle."""
        said = [event for event in self.run.events if isinstance(event, PageJudged | PageRefused)]
        texts = [(event.cycle, event.why if isinstance(event, PageRefused) else event.sent) for event in said]
        return next(((cycle, text) for cycle, text in reversed(texts) if text), None)

    @cached_property
    def judged(self) -> PageJudged | None:
        """What probes said of a version last."""
        return next((event for event in reversed(self.run.all(PageJudged)) if event.held), None)

    @cached_property
    def score(self) -> PageScored | None:
        """The points, with what people ticked."""
        return read_score(self.run)

    @cached_property
    def said(self) -> dict[str, CriterionTicked]:
        """The last word of a person on each criterion."""
        return {tick.name: tick for tick in self.run.all(CriterionTicked)}

    @cached_property
    def agreement(self) -> float | None:
        """How far a person says the same as the probes, beyond chance; None where too little was said."""
        return measure_agreement(self.run)
